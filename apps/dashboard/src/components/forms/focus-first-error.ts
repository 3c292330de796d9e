/** Moves the focus to the first refused field. */
import { useEffect, type RefObject } from 'react';

export function useFocusOnError(form: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    if (error === null || error === undefined) return;
    const first = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]');
    // Fields that hold several values are marked at what stands around them.
    const field =
      first?.matches('input, textarea, select, [contenteditable], [tabindex]') === true
        ? first
        : first?.querySelector<HTMLElement>('input');
    field?.focus({ preventScroll: true });
    first?.scrollIntoView({ block: 'center' });
  }, [form, error]);
}
