/** Deleting a schedule: it starts nothing from then on. */
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { SCHEDULES, type Schedule } from './queries.ts';

export function DeleteDialog({ schedule: { id, name }, onClose }: { schedule: Schedule; onClose: () => void }) {
  const queries = useQueryClient();
  const remove = useChange(
    async (each: string) => {
      await ask(api.DELETE('/agent/schedules/{schedule_id}', { params: { path: { schedule_id: each } } }));
    },
    () => {
      announce(`The schedule ${name} was deleted`);
      onClose();
      void queries.invalidateQueries({ queryKey: SCHEDULES });
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
      <Text size="sm">It starts nothing from now on. Runs that it started stay.</Text>
    </Confirm>
  );
}
