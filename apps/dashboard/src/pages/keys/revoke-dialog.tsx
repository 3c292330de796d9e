/** Ending a key: for its next request on, everywhere. */
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSession, useSignOut } from '../../api/session.tsx';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import type { KeyDialogProps } from './edit-dialog.tsx';

export function RevokeDialog({ apiKey, onClose }: KeyDialogProps) {
  const queries = useQueryClient();
  const isOwn = useSession().key.id === apiKey.id;
  const signOut = useSignOut();
  const revoke = useChange(
    async (id: string) => {
      await ask(api.DELETE('/api-keys/{api_key_id}', { params: { path: { api_key_id: id } } }));
    },
    () => {
      announce(`The key ${apiKey.name} was revoked`);
      if (isOwn) return signOut.mutate();
      onClose();
      void queries.invalidateQueries({ queryKey: ['api-keys'] });
    },
  );
  return (
    <Confirm
      opened
      title={`Revoke ${apiKey.name}`}
      action="Revoke"
      isPending={revoke.isPending || signOut.isPending}
      error={revoke.error}
      onConfirm={() => revoke.start(apiKey.id)}
      onClose={onClose}
    >
      <Text size="sm">
        Whoever uses this key (<span className="mono">{apiKey.hint}</span>) is refused from the next request on, on this
        page too. It cannot be taken back.
      </Text>
      {isOwn && (
        <Text size="sm" fw={700} mt="sm">
          You are signed in with this key: you will be signed out.
        </Text>
      )}
    </Confirm>
  );
}
