/** Trusting an issuer's tokens no more: for the next request on. */
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { FEDERATED_CREDENTIALS, type FederatedCredential } from './queries.ts';

export function DeleteDialog({ credential, onClose }: { credential: FederatedCredential; onClose: () => void }) {
  const queries = useQueryClient();
  const { id, name, issuer } = credential;
  const remove = useChange(
    async (each: string) => {
      const params = { path: { federated_credential_id: each } };
      await ask(api.DELETE('/federated-credentials/{federated_credential_id}', { params }));
    },
    () => {
      announce(`The federated credential ${name} was deleted`);
      onClose();
      void queries.invalidateQueries({ queryKey: FEDERATED_CREDENTIALS });
    },
  );
  return (
    <Confirm
      title={`Delete ${name}`}
      action="Delete"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.start(id)}
      onClose={onClose}
    >
      <Text size="sm">
        Tokens of <span className="mono foreign">{issuer}</span> are exchanged by it no more, and keys that it has given
        out are refused from the next request on.
      </Text>
    </Confirm>
  );
}
