/** Which state a run may move to from which. spec: Run states; contract §3.6 (States). */
import type { RunState } from './types.ts';

/**
 * Every allowed move; the store writes each as one conditional update, and the tests among kills watch all that happen.
 * Back to QUEUED: a lost execution is taken over (live states) or a follow-up continues the run (ended states).
 */
export const TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  QUEUED: ['CLAIMED', 'CANCELLED', 'ERROR'],
  CLAIMED: ['PENDING', 'QUEUED', 'FAILED', 'ERROR', 'CANCELLED'],
  PENDING: ['INPROGRESS', 'QUEUED', 'FAILED', 'ERROR', 'CANCELLED'],
  INPROGRESS: ['BLOCKED', 'QUEUED', 'SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'],
  BLOCKED: ['INPROGRESS', 'QUEUED', 'FAILED', 'ERROR', 'CANCELLED'],
  SUCCEEDED: ['QUEUED'],
  FAILED: ['QUEUED'],
  ERROR: ['QUEUED'],
  CANCELLED: ['QUEUED'],
};

/** The states in which an execution holds a lease. */
export type LeasedState = 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED';

/** The states in which nothing more happens unless a follow-up arrives. */
export type EndedState = 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/** Whether a run in `from` may become `to`; staying where one is is no move. contract §3. */
export function canMove(from: RunState, to: RunState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Whether the run has ended: only a follow-up moves it on. contract §3. */
export function isEnded(state: RunState): state is EndedState {
  return state === 'SUCCEEDED' || state === 'FAILED' || state === 'ERROR' || state === 'CANCELLED';
}

/** Names of published clients for groups of states. */
export const TASK_STATUSES = {
  running: ['QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS'],
  failed: ['FAILED', 'ERROR'],
  blocked: ['BLOCKED'],
  cancelled: ['CANCELLED'],
  complete: ['SUCCEEDED'],
} as const satisfies Readonly<Record<string, readonly RunState[]>>;
export type TaskStatus = keyof typeof TASK_STATUSES;

/** The states that a list asks for in both ways; undefined: in neither. Empty: none is in both. contract §3.7. */
export function statesOfTasks(
  statuses: readonly TaskStatus[] | undefined,
  states: readonly RunState[] | undefined,
): readonly RunState[] | undefined {
  if (statuses === undefined) return states;
  const meant: readonly RunState[] = [...new Set(statuses.flatMap((status) => TASK_STATUSES[status]))];
  return states === undefined ? meant : meant.filter((state) => states.includes(state));
}
