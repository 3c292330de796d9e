/** What becomes of an execution whose supervisor stopped renewing its lease. contract 3 (States). */
import type { LeasedState } from './states.ts';

/** Executions taken over per run: a run that loses its third machine is more likely the cause than the victim. contract 3. */
export const TAKEOVERS_MAX = 2;

export interface LostExecution {
  state: LeasedState;
  /** How often this run has been taken over already. */
  takeovers: number;
  /** Kind of harness; `command` cannot resume, so that its side effects would happen twice. */
  harness: string;
  /** The operator said that the command may be started again. */
  restartable: boolean;
  /** A cancel request is stored: after its 200 the only end is CANCELLED. */
  cancelRequested: boolean;
}

export type LeaseExpiryDecision =
  | { next: 'requeue' }
  | { next: 'cancel' }
  | { next: 'error'; reason: 'takeovers-exhausted' | 'not-restartable' };

/** Whether a lost execution is queued again (with a higher epoch), ends CANCELLED or ends in ERROR. contract 3. */
export function afterLeaseExpiry(lost: LostExecution): LeaseExpiryDecision {
  if (lost.cancelRequested) return { next: 'cancel' };
  if (lost.takeovers >= TAKEOVERS_MAX) return { next: 'error', reason: 'takeovers-exhausted' };
  if (hasStarted(lost.state) && lost.harness === 'command' && !lost.restartable) return { next: 'error', reason: 'not-restartable' };
  return { next: 'requeue' };
}

function hasStarted(state: LeasedState): boolean {
  return state === 'INPROGRESS' || state === 'BLOCKED';
}
