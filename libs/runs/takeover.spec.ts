/** Whether a lost execution is started again, resumed or ended. */
import { afterLeaseExpiry } from './index.ts';
import type { LeaseExpiryDecision, LostExecution } from './index.ts';

const LOST: LostExecution = { state: 'INPROGRESS', takeovers: 0, harness: 'demo', restartable: false, cancelRequested: false };

describe('an execution whose lease ran out', () => {
  const rows: { lost: Partial<LostExecution>; decision: LeaseExpiryDecision; why: string }[] = [
    { lost: {}, decision: { next: 'requeue' }, why: 'an agent can resume' },
    { lost: { takeovers: 1 }, decision: { next: 'requeue' }, why: 'twice is allowed' },
    { lost: { takeovers: 2 }, decision: { next: 'error', reason: 'takeovers-exhausted' }, why: 'not a third time' },
    { lost: { state: 'CLAIMED', harness: 'command' }, decision: { next: 'requeue' }, why: 'the command was never started' },
    { lost: { state: 'PENDING', harness: 'command' }, decision: { next: 'requeue' }, why: 'set-up has no effects outside' },
    { lost: { harness: 'command' }, decision: { next: 'error', reason: 'not-restartable' }, why: 'effects would happen twice' },
    { lost: { state: 'BLOCKED', harness: 'command' }, decision: { next: 'error', reason: 'not-restartable' }, why: 'it had started' },
    { lost: { harness: 'command', restartable: true }, decision: { next: 'requeue' }, why: 'the operator said it may' },
    { lost: { harness: 'command', cancelRequested: true }, decision: { next: 'cancel' }, why: 'after a 200 the only end is CANCELLED' },
    { lost: { takeovers: 2, cancelRequested: true }, decision: { next: 'cancel' }, why: 'the same holds at the last try' },
  ];
  it.each(rows)('$lost → $decision, because $why', ({ lost, decision }) => {
    expect(afterLeaseExpiry({ ...LOST, ...lost })).toEqual(decision);
  });
});
