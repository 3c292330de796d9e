/** Whether a lost execution is started again, resumed or ended. */
import {
  afterHandOver,
  afterLeaseExpiry,
  isWithinLeaseMargin,
  type LeaseExpiryDecision,
  type LostExecution,
} from './index.ts';

const LOST: LostExecution = {
  state: 'INPROGRESS',
  takeovers: 0,
  harness: 'demo',
  restartable: false,
  cancelRequested: false,
};

describe('an execution whose lease ran out', () => {
  const rows: { lost: Partial<LostExecution>; decision: LeaseExpiryDecision; why: string }[] = [
    { lost: {}, decision: { next: 'requeue' }, why: 'an agent can resume' },
    { lost: { takeovers: 1 }, decision: { next: 'requeue' }, why: 'twice is allowed' },
    { lost: { takeovers: 2 }, decision: { next: 'error', reason: 'takeovers-exhausted' }, why: 'not a third time' },
    {
      lost: { state: 'CLAIMED', harness: 'command' },
      decision: { next: 'requeue' },
      why: 'the command was never started',
    },
    {
      lost: { state: 'PENDING', harness: 'command' },
      decision: { next: 'requeue' },
      why: 'set-up has no effects outside',
    },
    {
      lost: { harness: 'command' },
      decision: { next: 'error', reason: 'not-restartable' },
      why: 'effects would happen twice',
    },
    {
      lost: { state: 'BLOCKED', harness: 'command' },
      decision: { next: 'error', reason: 'not-restartable' },
      why: 'it had started',
    },
    { lost: { harness: 'command', restartable: true }, decision: { next: 'requeue' }, why: 'the operator said it may' },
    {
      lost: { harness: 'command', cancelRequested: true },
      decision: { next: 'cancel' },
      why: 'after a 200 the only end is CANCELLED',
    },
    {
      lost: { takeovers: 2, cancelRequested: true },
      decision: { next: 'cancel' },
      why: 'the same holds at the last try',
    },
  ];
  it.each(rows)('$lost → $decision, because $why', ({ lost, decision }) => {
    expect(afterLeaseExpiry({ ...LOST, ...lost })).toEqual(decision);
  });
});

describe('an execution that a stopping service ends', () => {
  it.each<{ ended: Partial<LostExecution>; decision: LeaseExpiryDecision; why: string }>([
    { ended: {}, decision: { next: 'requeue' }, why: 'an agent goes on with its session' },
    {
      ended: { state: 'PENDING', harness: 'command' },
      decision: { next: 'requeue' },
      why: 'the command had not begun',
    },
    {
      ended: { harness: 'command' },
      decision: { next: 'error', reason: 'not-restartable' },
      why: 'effects would happen twice',
    },
    {
      ended: { harness: 'command', restartable: true },
      decision: { next: 'requeue' },
      why: 'the operator said it may',
    },
    { ended: { cancelRequested: true }, decision: { next: 'cancel' }, why: 'after a 200 the only end is CANCELLED' },
  ])('$ended → $decision, because $why', ({ ended, decision }) => {
    expect(afterHandOver({ ...LOST, ...ended })).toEqual(decision);
  });
});

it.each([
  { sinceMs: 0, leaseMs: 30_000, may: true },
  { sinceMs: 19_999, leaseMs: 30_000, may: true },
  { sinceMs: 20_000, leaseMs: 30_000, may: false },
  { sinceMs: 60_000, leaseMs: 30_000, may: false },
])(
  '$sinceMs ms after it last renewed a lease of $leaseMs ms, a supervisor may let its processes run on: $may',
  ({ sinceMs, leaseMs, may }) => {
    expect(isWithinLeaseMargin(sinceMs, leaseMs)).toBe(may);
  },
);
