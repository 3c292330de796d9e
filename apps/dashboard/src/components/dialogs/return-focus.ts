/** Returns the focus to the opener when a dialog closes. */
import { useEffect, useState } from 'react';

let last: Element | null = null;
// A button that waits for an answer, and an entry of a menu that closed, have lost the focus before the dialog is
// there.
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Element) last = target;
});

export function useReturnFocus(): void {
  const [opener] = useState(openerNow);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    },
    [opener],
  );
}

/** What has the focus, or had it last; of an entry of a menu the button that opened the menu. */
function openerNow(): Element | null {
  const active = document.activeElement === document.body ? last : document.activeElement;
  const button = active?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return button === null || button === undefined ? active : document.getElementById(button);
}
