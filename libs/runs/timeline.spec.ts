/** A run's history as events: in order, complete, and with the same identities at every look. */
import { derivedUuid, isPublishedEvent, isUuid, timelineOf, type RunHistory } from './index.ts';

const RUN: RunHistory = {
  runId: 'run',
  source: 'API',
  createdAtMs: 1,
  state: 'QUEUED',
  executions: [],
  followups: [],
  ends: [],
};
const EXECUTION = { executionId: 'e1', epoch: 1, claimedAtMs: 10, preparedAtMs: 11, startedAtMs: 12 };

describe('a timeline', () => {
  const rows: { history: Partial<RunHistory>; told: string[]; why: string }[] = [
    { history: {}, told: ['oz_run_created 1'], why: 'it waits' },
    {
      history: { executions: [EXECUTION], state: 'INPROGRESS' },
      told: ['oz_run_created 1', 'oz_run_claimed 10', 'worker_container_ready 11', 'agent_started 12'],
      why: 'it works',
    },
    {
      history: {
        executions: [{ ...EXECUTION, finishedAtMs: 20, outcome: 'SUCCEEDED' }],
        state: 'SUCCEEDED',
        finishedAtMs: 20,
      },
      told: [
        'oz_run_created 1',
        'oz_run_claimed 10',
        'worker_container_ready 11',
        'agent_started 12',
        'oz_run_done 20',
      ],
      why: 'its end is told once',
    },
    {
      history: {
        executions: [{ ...EXECUTION, cancelRequestedAtMs: 15, finishedAtMs: 20, outcome: 'CANCELLED' }],
        state: 'CANCELLED',
        finishedAtMs: 20,
      },
      told: [
        'oz_run_created 1',
        'oz_run_claimed 10',
        'worker_container_ready 11',
        'agent_started 12',
        'run_cancel_requested 15',
        'oz_run_cancelled 20',
      ],
      why: 'who asked comes first',
    },
    {
      history: {
        executions: [
          { ...EXECUTION, finishedAtMs: 20, outcome: 'LOST' },
          { executionId: 'e2', epoch: 2, claimedAtMs: 21, finishedAtMs: 22, outcome: 'ERROR' },
        ],
        state: 'ERROR',
        finishedAtMs: 22,
      },
      told: [
        'oz_run_created 1',
        'oz_run_claimed 10',
        'worker_container_ready 11',
        'agent_started 12',
        'run_taken_over 20',
        'oz_run_claimed 21',
        'oz_run_errored 22',
      ],
      why: 'a lost execution is no end',
    },
    {
      history: { executions: [{ ...EXECUTION, finishedAtMs: 20, outcome: 'HANDED_OVER' }], state: 'QUEUED' },
      told: [
        'oz_run_created 1',
        'oz_run_claimed 10',
        'worker_container_ready 11',
        'agent_started 12',
        'run_handed_over 20',
      ],
      why: 'nobody lost it',
    },
    {
      history: {
        followups: [{ followupId: 'f', atMs: 25, outcome: 'handoff_execution' }],
        executions: [{ ...EXECUTION, finishedAtMs: 20, outcome: 'FAILED' }],
        state: 'QUEUED',
        finishedAtMs: 20,
      },
      told: [
        'oz_run_created 1',
        'oz_run_claimed 10',
        'worker_container_ready 11',
        'agent_started 12',
        'oz_run_failed 20',
        'run_followup 25',
      ],
      why: 'it goes on',
    },
    {
      history: { ends: [{ atMs: 5, state: 'CANCELLED' }], state: 'CANCELLED', finishedAtMs: 5 },
      told: ['oz_run_created 1', 'run_cancel_requested 5', 'oz_run_cancelled 5'],
      why: 'cancelled while it waited',
    },
    {
      history: { state: 'CANCELLED', finishedAtMs: 5 },
      told: ['oz_run_created 1', 'oz_run_cancelled 5'],
      why: 'nobody asked: its factory was deleted',
    },
    {
      history: { createdAtMs: 30, executions: [EXECUTION], state: 'CLAIMED' },
      told: ['oz_run_created 30', 'oz_run_claimed 10', 'worker_container_ready 11', 'agent_started 12'],
      why: 'two clocks, and still created first',
    },
  ];
  it.each(rows)('of a run: $why', ({ history, told }) => {
    expect(timelineOf({ ...RUN, ...history }).map(({ type, atMs }) => `${type} ${atMs}`)).toEqual(told);
  });

  it('tells of interrupts, which published clients do not know', () => {
    const told = timelineOf({ ...RUN, interrupts: [{ interruptId: 'i', atMs: RUN.createdAtMs + 1 }] });
    expect(told.map(({ type }) => type)).toContain('run_interrupt_requested');
    expect(told.filter(isPublishedEvent).map(({ type }) => type)).not.toContain('run_interrupt_requested');
  });

  it('has identities that stay and differ', () => {
    const history = {
      ...RUN,
      executions: [{ ...EXECUTION, finishedAtMs: 20, outcome: 'SUCCEEDED' }],
      followups: ['f', 'g'].map((followupId) => ({ followupId, atMs: 5, outcome: 'queued_prompt' })),
    };
    const uuids = timelineOf(history).map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(uuids.every(isUuid)).toBe(true);
    expect(timelineOf({ ...history, state: 'SUCCEEDED', finishedAtMs: 20 }).map(({ uuid }) => uuid)).toEqual(uuids);
    expect(timelineOf({ ...history, runId: 'other' }).filter(({ uuid }) => uuids.includes(uuid))).toEqual([]);
  });
});

it('a derived UUID is one of version 8 that depends on every part', () => {
  expect(derivedUuid('a', 'b')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedUuid('a', 'b')).toBe(derivedUuid('a', 'b'));
  expect(
    new Set([derivedUuid('a', 'b'), derivedUuid('ab'), derivedUuid('a', 'b', ''), derivedUuid('b', 'a')]).size,
  ).toBe(4);
});
