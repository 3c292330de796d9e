/** Announces the result of an action: a notification, also for screen readers. */
import { notifications } from '@mantine/notifications';
import { withHiddenNamed } from '../text/hidden-characters.ts';

export function announce(message: string): void {
  notifications.show({
    message: withHiddenNamed(message),
    color: 'teal',
    autoClose: 4_000,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}

export function announceError(message: string): void {
  notifications.show({
    message: withHiddenNamed(message),
    color: 'red',
    autoClose: 10_000,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}
