/** A value for a secret: where there was one, the old one is dead with it. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { problemOf } from '../../api/problems.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { putSecret, secretsChanged, type Owner, type Secret } from './queries.ts';
import { UsedBy } from './used-by.tsx';
import { NOTHING_TYPED, typedValue, ValueField } from './value-field.tsx';

export interface SecretDialogProps {
  owner: Owner;
  secret: Secret;
  onClose: () => void;
}

export function ValueDialog({ owner, secret, onClose }: SecretDialogProps) {
  const queries = useQueryClient();
  const [value, setValue] = useState(NOTHING_TYPED);
  const [isBlank, setBlank] = useState(false);
  // The value is not among what the change is told, which is kept while it is under way.
  const change = useChange(
    (name: string) => putSecret(owner, name, { value: typedValue(value) }),
    ({ name, version }) => {
      setValue(NOTHING_TYPED);
      announce(`The secret ${name} was set: version ${version}`);
      onClose();
      void secretsChanged(queries);
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, change.error ?? (isBlank ? 'blank' : undefined));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setBlank(typedValue(value) === undefined);
    if (typedValue(value) !== undefined) change.start(secret.name);
  };
  const fault = valueFault(change.error);
  return (
    <Dialog
      isBusy={change.isPending}
      onClose={onClose}
      closeOnClickOutside={false}
      title={secret.set ? `Rotate ${secret.name}` : `Set ${secret.name}`}
      size="lg"
    >
      <form ref={form} onSubmit={submit} noValidate autoComplete="off" aria-label="Set a value">
        <Stack>
          <Concerned secret={secret} withFactory={owner === undefined} />
          <ValueField
            label="Value"
            description="It is never shown again."
            value={value}
            onChange={setValue}
            error={isBlank ? 'Type the value.' : fault}
            required
          />
          {change.error !== null && <ProblemAlert error={change.error} shown={['/value']} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={change.isPending}>
              Cancel
            </Button>
            <Button type="submit" color={secret.set ? 'red' : undefined} loading={change.isPending}>
              {secret.set ? 'Rotate secret' : 'Set the value'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** All that is wrong with it: several webhooks may not be able to use it. */
function valueFault(error: unknown): string | undefined {
  const faults = problemOf(error)?.body?.errors?.filter(({ pointer }) => pointer === '/value') ?? [];
  return faults.length === 0 ? undefined : faults.map(({ message }) => message).join('; ');
}

function Concerned({ secret: { set: isSet, used_by: users }, withFactory }: { secret: Secret; withFactory: boolean }) {
  if (users.length === 0) return <Text size="sm">Nothing uses it yet.</Text>;
  return (
    <Alert color={isSet ? 'orange' : 'blue'} title={isSet ? 'The old value is dead at once' : 'It concerns'}>
      {isSet && (
        <Text size="sm" mb={6}>
          Senders that still use it are refused from then on, with no overlap; runs that start from then on get the new
          one. It concerns:
        </Text>
      )}
      <UsedBy users={users} withFactory={withFactory} />
    </Alert>
  );
}
