/** A dialog that is there while it is open: nothing closes it while something is under way, and the focus goes back to whoever opened it. */
import { Modal, type ModalProps } from '@mantine/core';
import { UntrustedText } from '../text/untrusted-text.tsx';
import { useReturnFocus } from './return-focus.ts';

interface DialogProps extends Omit<ModalProps, 'opened' | 'title'> {
  title: string;
  /** While it is, nothing closes the dialog. */
  isBusy?: boolean;
  /** It shows what cannot be shown again: only its own button closes it. */
  isOnce?: boolean;
}

const ONCE: Partial<ModalProps> = { closeOnEscape: false, closeOnClickOutside: false, withCloseButton: false };

export function Dialog({ title, isBusy = false, isOnce = false, onClose, ...rest }: DialogProps) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={isBusy ? () => undefined : onClose}
      title={<UntrustedText>{title}</UntrustedText>}
      {...(isOnce ? ONCE : {})}
      {...rest}
    />
  );
}
