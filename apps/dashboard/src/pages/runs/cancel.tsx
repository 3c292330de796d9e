/** Ends a run, after asking; or what its agent is about, at once. */
import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { announce, announceError } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';

export function CancelRun({ runId, title }: { runId: string; title: string }) {
  const [opened, dialog] = useDisclosure();
  const queries = useQueryClient();
  const cancel = useChange(
    (id: string, key) =>
      ask(
        api.POST('/agent/runs/{run_id}/cancel', {
          params: { path: { run_id: id }, header: { 'Idempotency-Key': key } },
        }),
      ).finally(() => void queries.invalidateQueries({ queryKey: ['run', id] })),
    () => {
      announce('The run is asked to end');
      dialog.close();
    },
  );
  const open = (): void => {
    cancel.reset();
    dialog.open();
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        Cancel run
      </Button>
      <Confirm
        opened={opened}
        title="Cancel this run?"
        action="Cancel the run"
        isPending={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.start(runId)}
        onClose={dialog.close}
      >
        <Text size="sm">
          <UntrustedText>{title}</UntrustedText> ends. What waits ends at once; an agent at work is asked to stop, and
          is stopped after some seconds. What it has made so far is kept.
        </Text>
      </Confirm>
    </>
  );
}

/** Nothing is lost by it: the run waits for a follow-up, or goes on with the one that waits. */
export function InterruptRun({ runId }: { runId: string }) {
  const queries = useQueryClient();
  const interrupt = useChange(
    (id: string, key) =>
      ask(
        api.POST('/agent/runs/{run_id}/interrupt', {
          params: { path: { run_id: id }, header: { 'Idempotency-Key': key } },
        }),
      )
        .catch((error: unknown) => {
          announceError(problemOf(error)?.message ?? 'The agent could not be interrupted');
          throw error;
        })
        .finally(() => void queries.invalidateQueries({ queryKey: ['run', id] })),
    () => announce('The agent is asked to end its turn'),
  );
  return (
    <Button variant="default" loading={interrupt.isPending} onClick={() => interrupt.start(runId)}>
      Interrupt agent
    </Button>
  );
}
