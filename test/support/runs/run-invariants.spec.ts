/** The judge of crash tests: finds each kind of broken promise, and none where all are kept. */
import { brokenPromises, type Promised, type Records } from './run-invariants.ts';

const end = (state: string): string => JSON.stringify({ state, message: 'm' });

/** One run that was lost once and then succeeded, one that was cancelled; a follow-up each way. */
function recorded(): { records: Records; promised: Promised } {
  const run = { submitted_prompt: null, takeovers: 0, lease_owner: null };
  const execution = { cancel_requested_at: null, finished_at: 2 };
  return {
    records: {
      runs: [
        {
          ...run,
          run_id: 'r1',
          title: 'one',
          state: 'SUCCEEDED',
          epoch: 3,
          takeovers: 1,
          submitted_prompt: 'p\n\nsoon',
        },
        { ...run, run_id: 'r2', title: 'two', state: 'CANCELLED', epoch: 1 },
      ],
      executions: [
        { ...execution, execution_id: 'e1', run_id: 'r1', epoch: 1, claimed_at: 1, outcome: 'LOST' },
        {
          ...execution,
          execution_id: 'e3',
          run_id: 'r1',
          epoch: 3,
          claimed_at: 3,
          finished_at: 4,
          outcome: 'SUCCEEDED',
        },
        {
          ...execution,
          execution_id: 'e2',
          run_id: 'r2',
          epoch: 1,
          claimed_at: 1,
          cancel_requested_at: 1,
          outcome: 'CANCELLED',
        },
      ],
      events: [
        { run_id: 'r1', seq: 1, execution_id: 'e1', kind: 'message', body: '{}' },
        { run_id: 'r1', seq: 2, execution_id: 'e3', kind: 'message', body: '{}' },
        { run_id: 'r1', seq: 3, execution_id: 'e3', kind: 'status', body: end('SUCCEEDED') },
        { run_id: 'r2', seq: 1, execution_id: 'e2', kind: 'status', body: end('CANCELLED') },
      ],
      followups: [
        { followup_id: 'f1', run_id: 'r1', outcome: 'queued_prompt', execution_id: null },
        { followup_id: 'f2', run_id: 'r1', outcome: 'queue_pending', execution_id: 'e3' },
      ],
    },
    promised: {
      creates: [{ title: 'one', runId: 'r1' }, { title: 'two', runId: 'r2' }, { title: 'never answered' }],
      followups: [
        { runId: 'r1', followupId: 'f1', message: 'soon' },
        { runId: 'r1', followupId: 'f2', message: 'later' },
      ],
      cancels: [{ runId: 'r2', isLast: true }],
    },
  };
}

it('finds nothing where every promise is kept', () => {
  const { records, promised } = recorded();
  expect(brokenPromises(records, promised)).toEqual([]);
});

it.each<{ what: string; change: (records: Records) => unknown; says: string }>([
  {
    what: 'a run is gone',
    change: ({ runs }) => runs.shift(),
    says: 'the run r1 that the create one was answered with is not there',
  },
  {
    what: 'a run is there twice',
    change: ({ runs }) => runs.push({ ...runs[1]!, run_id: 'r9' }),
    says: 'the create two made 2 runs',
  },
  {
    what: 'nobody asked for a run',
    change: ({ runs }) => (runs[1]!.title = 'three'),
    says: 'nobody asked for the run three',
  },
  {
    what: 'a run is not over',
    change: ({ runs }) => (runs[0]!.state = 'INPROGRESS'),
    says: 'is INPROGRESS and not over',
  },
  { what: 'a lease is left', change: ({ runs }) => (runs[0]!.lease_owner = 'a'), says: 'still leased' },
  {
    what: 'an execution has no end',
    change: ({ executions }) => (executions[1]!.outcome = null),
    says: 'its execution 3 has no end',
  },
  {
    what: 'an epoch comes twice',
    change: ({ executions }) => (executions[1]!.epoch = 1),
    says: 'have the epochs 1 and 1',
  },
  {
    what: 'executions overlap',
    change: ({ executions }) => (executions[1]!.claimed_at = 1),
    says: 'began before 1 had ended',
  },
  {
    what: 'nothing follows a loss',
    change: ({ executions }) => executions.splice(1, 1),
    says: 'nothing followed its execution 1',
  },
  { what: 'a log has a gap', change: ({ events }) => (events[2]!.seq = 4), says: 'entry 3 of its log is numbered 4' },
  {
    what: 'a log goes back',
    change: ({ events }) => events.splice(2, 0, { ...events[0]!, seq: 3 }) && (events[3]!.seq = 4),
    says: 'entry 3 is of execution 1, after one of 3',
  },
  {
    what: 'an end is told twice',
    change: ({ events }) => events.splice(3, 0, { ...events[2]!, seq: 4 }),
    says: 'tells 2 ends of execution 3',
  },
  {
    what: 'a log tells another end',
    change: ({ events }) => (events[2]!.body = end('FAILED')),
    says: 'its log ends with FAILED and it is SUCCEEDED',
  },
  {
    what: 'a follow-up is gone',
    change: ({ followups }) => followups.pop(),
    says: 'the follow-up f2 of r1 is not there',
  },
  {
    what: 'a follow-up was joined to nothing',
    change: ({ runs }) => (runs[0]!.submitted_prompt = 'p'),
    says: 'f1 is not in the prompt',
  },
  {
    what: 'a follow-up waits for ever',
    change: ({ followups }) => (followups[1]!.execution_id = null),
    says: 'f2 was given to nobody',
  },
  {
    what: 'a follow-up went down with a loss',
    change: ({ followups }) => (followups[1]!.execution_id = 'e1'),
    says: 'f2 was left with an execution that is LOST',
  },
  {
    what: 'a cancel was not heeded',
    change: ({ runs, executions, events }) => (
      (runs[1]!.state = 'SUCCEEDED'),
      (executions[2]!.outcome = 'SUCCEEDED'),
      (events[3]!.body = end('SUCCEEDED'))
    ),
    says: 'the run r2 was cancelled and is SUCCEEDED',
  },
])('finds it when $what', ({ change, says }) => {
  const { records, promised } = recorded();
  change(records);
  expect(brokenPromises(records, promised).join('\n')).toContain(says);
});
