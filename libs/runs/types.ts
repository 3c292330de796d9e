/** The vocabulary of agent runs. spec: Agent run, States and transitions; contract §3. */

export const RUN_STATES = [
  'QUEUED',
  'CLAIMED',
  'PENDING',
  'INPROGRESS',
  'BLOCKED',
  'SUCCEEDED',
  'FAILED',
  'ERROR',
  'CANCELLED',
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_SOURCES = ['API', 'CLI', 'WEB_APP', 'CUSTOM_WEBHOOK', 'SCHEDULED_AGENT'] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** One thing wrong with a request body. `pointer` is a JSON pointer into the body. */
export interface RequestProblem {
  pointer: string;
  message: string;
}
