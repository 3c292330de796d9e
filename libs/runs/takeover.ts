/**
 * What becomes of an execution whose supervisor stopped renewing its lease, or whose service stops. contract §3.6.
 */
import type { LeasedState } from './states.ts';

/**
 * Executions taken over per run: a run that loses its third machine is more likely the cause than the victim. contract
 * §3.
 */
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

export type LeaseExpiryDecision = HandOverDecision | { next: 'error'; reason: 'takeovers-exhausted' };

export type HandOverDecision = { next: 'requeue' } | { next: 'cancel' } | { next: 'error'; reason: 'not-restartable' };

/** Whether a lost execution is queued again (with a higher epoch), ends CANCELLED or ends in ERROR. contract §3. */
export function afterLeaseExpiry(lost: LostExecution): LeaseExpiryDecision {
  if (!lost.cancelRequested && lost.takeovers >= TAKEOVERS_MAX) return { next: 'error', reason: 'takeovers-exhausted' };
  return afterHandOver(lost);
}

/**
 * The same for an execution that its own service ends because it stops: nobody lost it, so that it is not counted.
 * contract §3.
 */
export function afterHandOver(ended: Omit<LostExecution, 'takeovers'>): HandOverDecision {
  if (ended.cancelRequested) return { next: 'cancel' };
  if (hasStarted(ended.state) && ended.harness === 'command' && !ended.restartable)
    return { next: 'error', reason: 'not-restartable' };
  return { next: 'requeue' };
}

/**
 * How long a supervisor that cannot renew its lease may let its processes run on: before another one may begin, they
 * are gone. explanation: Engine.
 */
export function isWithinLeaseMargin(sinceRenewalMs: number, leaseMs: number): boolean {
  return sinceRenewalMs * 3 < leaseMs * 2;
}

function hasStarted(state: LeasedState): boolean {
  return state === 'INPROGRESS' || state === 'BLOCKED';
}
