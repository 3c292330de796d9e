/** Runs of a test whose command is a shell: started, watched, looked into. */
import { eventually, type ApiAnswer, type TestService } from '../services/service.ts';

/** The command is a shell and the prompt its script: each test writes the agent that it needs. */
export const SHELL = { MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]' };

export const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

export interface LogEntry {
  seq: number;
  event_type: string;
  execution_id?: string;
  payload: { text?: string; state?: string; message?: string };
}

/** Starts a run; answers its ID. */
export async function startedRun(
  service: TestService,
  prompt: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const answer = await service.api('POST', '/agent/runs', { prompt, ...more });
  if (answer.status !== 200) throw new Error(`the run was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.body['run_id']);
}

/** Entries of a run's log, at most a thousand. */
export async function logOf(service: TestService, runId: string): Promise<LogEntry[]> {
  return (await service.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body['events'] as LogEntry[];
}

/** Everything that the command wrote to its output. */
export async function outputOf(service: TestService, runId: string): Promise<string> {
  return (await logOf(service, runId))
    .filter(({ event_type: type }) => type === 'stdout')
    .map(({ payload }) => payload.text)
    .join('');
}

/** Waits until the command has written a word. */
export async function wroteWord(service: TestService, runId: string, word: string): Promise<void> {
  await eventually(`the run writes ${word}`, async () =>
    (await outputOf(service, runId)).includes(word) ? true : undefined,
  );
}

/** Pointers of what a refusal names. */
export const pointersOf = ({ body }: ApiAnswer): string[] =>
  (body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);

/** What a refusal says, without what differs between any two of them. */
export const saidBy = ({ status, body: { detail, error, errors } }: ApiAnswer): unknown => ({
  status,
  detail,
  error,
  errors,
});
