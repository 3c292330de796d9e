/** Deleting an agent identity: for the next run on. */
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { IDENTITIES, type AgentIdentity } from './queries.ts';

export function DeleteDialog({ identity: { uid, name }, onClose }: { identity: AgentIdentity; onClose: () => void }) {
  const queries = useQueryClient();
  const remove = useChange(
    async (each: string) => {
      await ask(api.DELETE('/agent/identities/{uid}', { params: { path: { uid: each } } }));
    },
    () => {
      announce(`The agent identity ${name} was deleted`);
      onClose();
      void queries.invalidateQueries({ queryKey: IDENTITIES });
    },
  );
  return (
    <Confirm
      title={`Delete ${name}`}
      action="Delete"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.start(uid)}
      onClose={onClose}
    >
      <Text size="sm">Requests that name it are refused from now on. Runs that exist keep what they have.</Text>
    </Confirm>
  );
}
