/** A message to a run: steers a live one, continues an ended one. */
import { Button, FileInput, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { useChange } from '../../components/forms/use-change.ts';
import { attachmentsOf, faultOf } from './files.ts';
import { hasEnded, type RunState } from './run.ts';

const OUTCOMES: Readonly<Record<Api<'RunFollowupResponse'>['outcome'], string>> = {
  queued_prompt: 'Joined to the prompt that waits.',
  queue_pending: 'Stored: the agent is told when it has ended its turn.',
  live_session: 'The agent was told.',
  handoff_execution: 'The run goes on with it.',
};

function hintOf(state: RunState): string {
  if (hasEnded(state)) return 'The run has ended; a message continues it in the same conversation.';
  if (state === 'BLOCKED')
    return (
      'The agent asks for permission: the name of an answer, or yes or no, answers it; any other message refuses ' +
      'what it asks and is the next thing that it is told.'
    );
  if (state === 'QUEUED') return 'The run waits; a message is joined to its prompt.';
  return 'The agent works; a message is the next thing that it is told, in the same session.';
}

interface Message {
  message: string;
  files: File[];
}

const NOTHING: Message = { message: '', files: [] };

export function FollowUp({ runId, state }: { runId: string; state: RunState }) {
  const [typed, setTyped] = useState(NOTHING);
  const [outcome, setOutcome] = useState('');
  const send = useSend(runId, (done) => {
    setTyped(NOTHING);
    setOutcome(OUTCOMES[done]);
  });
  const type = (more: Partial<Message>): void => {
    if (send.error !== null) send.reset();
    setOutcome('');
    setTyped((before) => ({ ...before, ...more }));
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    send.start(typed);
  };
  const { message, files } = typed;
  const problem = problemOf(send.error);
  return (
    <Paper withBorder p="sm" mt="md" component="form" onSubmit={submit}>
      <Stack gap="xs">
        <Textarea
          label="Follow-up"
          description={hintOf(state)}
          value={message}
          onChange={(event) => type({ message: event.currentTarget.value })}
          autosize
          minRows={2}
          maxRows={12}
          disabled={send.isPending}
          error={problem?.fault('/message')}
        />
        <Group justify="space-between" align="flex-end">
          <FileInput
            label="Files"
            placeholder="Add files"
            size="xs"
            multiple
            clearable
            value={files}
            onChange={(chosen) => type({ files: chosen })}
            error={faultOf(files)}
            w={220}
          />
          <Button
            type="submit"
            loading={send.isPending}
            disabled={message.trim() === '' || faultOf(files) !== undefined}
          >
            Send
          </Button>
        </Group>
        <Text size="sm" role="status">
          {outcome}
        </Text>
        {send.error !== null && <ProblemAlert error={send.error} shown={['/message']} />}
      </Stack>
    </Paper>
  );
}

function useSend(runId: string, onDone: (outcome: Api<'RunFollowupResponse'>['outcome']) => void) {
  const queries = useQueryClient();
  return useChange(
    async ({ message, files }: Message, key) => {
      const body = { message, ...(files.length === 0 ? {} : { attachments: await attachmentsOf(files) }) };
      return ask(
        api.POST('/agent/runs/{run_id}/followups', {
          params: { path: { run_id: runId }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ).finally(() => void queries.invalidateQueries({ queryKey: ['run', runId] }));
    },
    ({ outcome }) => onDone(outcome),
  );
}
