/** Asks for confirmation before something irreversible, and says what it will do. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { withHiddenNamed } from '../text/hidden-characters.ts';
import { ProblemAlert } from '../feedback/problem-alert.tsx';

interface ConfirmProps {
  opened?: boolean;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The verb of the button. */
  action: string;
  color?: string;
  /** Has to be typed first: the name of what serves now. */
  typed?: string;
  isPending: boolean;
  error: unknown;
  /** Shown for an error instead of the server's words. */
  refusal?: ReactNode;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ opened = true, ...rest }: ConfirmProps) {
  return opened && <Question {...rest} />;
}

function Question({
  title,
  children,
  action,
  color = 'red',
  typed,
  isPending,
  error,
  refusal,
  onConfirm,
  onClose,
}: Omit<ConfirmProps, 'opened'>) {
  const [text, setText] = useState('');
  const isSure = typed === undefined || text === typed || text === withHiddenNamed(typed);
  return (
    <Dialog title={title} isBusy={isPending} onClose={onClose} size={typed === undefined ? 'md' : 'lg'}>
      <Stack>
        <div>{children}</div>
        {typed !== undefined && (
          <TextInput
            label={`Type ${withHiddenNamed(typed)} to go on`}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {error !== null && error !== undefined && (refusal ?? <ProblemAlert error={error} />)}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button color={color} disabled={!isSure} loading={isPending} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
