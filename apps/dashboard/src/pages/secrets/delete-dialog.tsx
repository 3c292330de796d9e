/** Deleting a secret: one in use only by who has seen what it breaks. */
import { Alert, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { problemOf } from '../../api/problems.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { deleteSecret, secretsChanged, type SecretUser } from './queries.ts';
import { UsedBy } from './used-by.tsx';
import type { SecretDialogProps } from './value-dialog.tsx';

export function DeleteDialog({ owner, secret, onClose }: SecretDialogProps) {
  const queries = useQueryClient();
  const remove = useChange(
    (force: boolean) => deleteSecret(owner, secret.name, force),
    () => {
      announce(`The secret ${secret.name} was deleted`);
      onClose();
      void secretsChanged(queries);
    },
  );
  const users = usersIn(remove.error);
  const isUsed = users !== undefined;
  return (
    <Confirm
      title={`Delete ${secret.name}`}
      action={isUsed ? 'Delete anyway' : 'Delete'}
      typed={isUsed ? secret.name : undefined}
      isPending={remove.isPending}
      error={isUsed ? null : remove.error}
      onConfirm={() => remove.start(isUsed)}
      onClose={onClose}
    >
      {isUsed ? (
        <Alert color="red" role="alert" title="It is in use">
          <Text size="sm" mb={6}>
            Without it these stop working at once; webhooks refuse every delivery:
          </Text>
          <UsedBy users={users} withFactory={owner === undefined} />
        </Alert>
      ) : (
        <Text size="sm">Its value is gone for good: nobody can see it to set it again.</Text>
      )}
    </Confirm>
  );
}

/** Whom the refusal names; undefined for another refusal or none. */
function usersIn(error: unknown): SecretUser[] | undefined {
  const problem = problemOf(error);
  const users: unknown = problem?.body?.['used_by'];
  return problem?.status === 409 && Array.isArray(users) ? (users as SecretUser[]) : undefined;
}
