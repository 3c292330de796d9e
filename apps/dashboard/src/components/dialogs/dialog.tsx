/** A modal dialog: it does not close during a request, and returns the focus when it closes. */
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
