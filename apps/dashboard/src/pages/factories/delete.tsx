/** Deleting a factory. */
import { List } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import type { FactoryDialogProps } from './edit.tsx';

export function DeleteFactory({ factory, onClose }: FactoryDialogProps) {
  const queries = useQueryClient();
  const go = useNavigate();
  const remove = useChange(
    () => ask(api.DELETE('/factory/{factory_uid}', { params: { path: { factory_uid: factory.uid } } })),
    () => {
      announce(`The factory ${factory.name} was deleted`);
      void go('/factories');
      void queries.invalidateQueries({ queryKey: ['factories'] });
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(factory.uid) });
    },
  );
  return (
    <Confirm
      title={`Delete ${factory.name}`}
      action="Delete"
      typed={factory.name}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.start(undefined)}
      onClose={onClose}
    >
      <List size="sm">
        <List.Item>All its webhooks answer 404 at once.</List.Item>
        <List.Item>Its schedules and automations stop firing.</List.Item>
        <List.Item>Runs that wait are cancelled; live ones finish.</List.Item>
        <List.Item>
          {factory.definitions_managed
            ? 'The repository or folder is not touched.'
            : 'Webhooks and automations that were created here are gone.'}{' '}
          A factory created with the same slug has the same identifiers and URLs.
        </List.Item>
      </List>
    </Confirm>
  );
}
