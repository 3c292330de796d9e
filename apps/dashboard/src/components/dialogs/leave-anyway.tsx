/** Asks before leaving a page with unsaved changes, by a link or by the browser. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Dialog } from './dialog.tsx';

interface UnsavedChangesDialogProps {
  title: string;
  /** What would be lost. */
  children: string;
  /** Asked at the moment of leaving. */
  isLoss: () => boolean;
  /** Where one may always go on to; nowhere, if not said. */
  onward?: string;
}

export function UnsavedChangesDialog({ title, children, isLoss, onward }: UnsavedChangesDialogProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isLoss() &&
      nextLocation.pathname !== currentLocation.pathname &&
      (onward === undefined || !nextLocation.pathname.endsWith(onward)),
  );
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (isLoss()) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isLoss]);
  if (blocker.state !== 'blocked') return null;
  return (
    <Dialog onClose={() => blocker.reset()} title={title}>
      <Stack>
        <Text>{children}</Text>
        <Group justify="flex-end">
          <Button variant="light" color="red" onClick={() => blocker.proceed()}>
            Leave
          </Button>
          <Button onClick={() => blocker.reset()} data-autofocus>
            Stay here
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
