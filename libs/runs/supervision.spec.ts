/** Every event in every situation that matters, and what it makes of a supervision. */
import {
  advanceSupervision,
  endsAtOnce,
  mayHaveProcesses,
  SUPERVISION_START,
  supervisionOutcome,
  type SupervisionEvent,
  type SupervisionState,
} from './index.ts';

const SPENT = { message: 'all its tokens are used', errorCode: 'budget_exceeded' };
const FULL = { message: 'the disk was nearly full', errorCode: 'resource_unavailable' };

const EVENTS = {
  began: { kind: 'work-began' },
  ended: { kind: 'work-ended' },
  over: { kind: 'over' },
  cancelled: { kind: 'stop', reason: 'cancelled' },
  lost: { kind: 'stop', reason: 'lost' },
  deadline: { kind: 'stop', reason: 'deadline' },
  drain: { kind: 'stop', reason: 'draining', atMs: 10, urgent: false },
  hurry: { kind: 'stop', reason: 'draining', atMs: 20, urgent: true },
  budget: { kind: 'stop', reason: 'budget', failure: SPENT },
  disk: { kind: 'stop', reason: 'budget', failure: FULL },
  unanswered: { kind: 'unanswered' },
} satisfies Record<string, SupervisionEvent>;
type Step = keyof typeof EVENTS;

function after(steps: readonly Step[]): SupervisionState {
  return steps.reduce((state, step) => advanceSupervision(state, EVENTS[step]), SUPERVISION_START);
}

describe('a supervision', () => {
  const rows: { steps: Step[]; state: Partial<SupervisionState>; why: string }[] = [
    { steps: [], state: { phase: 'preparing', hasWorked: false }, why: 'it begins with its preparation' },
    { steps: ['began'], state: { phase: 'working', hasWorked: true }, why: 'the task is handed over' },
    { steps: ['began', 'ended'], state: { phase: 'collecting', hasWorked: true }, why: 'nothing runs any more' },
    { steps: ['began', 'ended', 'over'], state: { phase: 'ending', hasWorked: true }, why: 'its end is written' },
    { steps: ['over'], state: { phase: 'ending', hasWorked: false }, why: 'a preparation may fail' },
    { steps: ['over', 'ended'], state: { phase: 'ending' }, why: 'phases only go forward' },
    { steps: ['began', 'cancelled'], state: { phase: 'working', stop: 'cancelled' }, why: 'it still has to end' },
    { steps: ['cancelled', 'deadline'], state: { stop: 'cancelled' }, why: 'it is being ended already' },
    { steps: ['drain', 'deadline'], state: { stop: 'draining' }, why: 'it is being handed over already' },
    {
      steps: ['deadline', 'drain'],
      state: { stop: 'deadline', draining: { sinceMs: 10, urgent: false } },
      why: 'its time was over first, and the service stops all the same',
    },
    {
      steps: ['drain', 'hurry', 'drain'],
      state: { draining: { sinceMs: 10, urgent: true } },
      why: 'the first request counts, and a hurry stays one',
    },
    { steps: ['budget', 'disk'], state: { stop: 'budget', failure: SPENT }, why: 'the first failure is written' },
    {
      steps: ['cancelled', 'budget'],
      state: { stop: 'cancelled', failure: SPENT },
      why: 'the failure decides its end',
    },
    { steps: ['budget', 'lost'], state: { stop: 'lost' }, why: 'what is not ours any more displaces everything' },
    { steps: ['lost', 'drain', 'cancelled'], state: { stop: 'lost' }, why: 'nobody gets a lost claim back' },
    { steps: ['unanswered'], state: { isUncertain: true, phase: 'preparing' }, why: 'nobody knows' },
  ];
  it.each(rows)('after $steps is $state, because $why', ({ steps, state }) => {
    expect(after(steps)).toMatchObject(state);
  });

  it.each<{ steps: Step[]; endState: string; outcome: string; why: string }>([
    { steps: ['began'], endState: 'SUCCEEDED', outcome: 'finish', why: 'it ended by itself' },
    { steps: ['began', 'cancelled'], endState: 'CANCELLED', outcome: 'finish', why: 'somebody cancelled it' },
    { steps: ['began', 'drain'], endState: 'CANCELLED', outcome: 'release', why: 'only its service stopped' },
    { steps: ['began', 'drain'], endState: 'SUCCEEDED', outcome: 'finish', why: 'it had ended before it was stopped' },
    { steps: ['deadline', 'drain'], endState: 'FAILED', outcome: 'finish', why: 'its time was over' },
    { steps: ['unanswered'], endState: 'CANCELLED', outcome: 'release', why: 'it may have begun' },
    { steps: ['began', 'lost'], endState: 'SUCCEEDED', outcome: 'discard', why: 'a lost claim writes nothing' },
    { steps: ['began', 'drain', 'lost'], endState: 'CANCELLED', outcome: 'discard', why: 'it is somebody else’s' },
  ])('that ends as $endState after $steps: $outcome, because $why', ({ steps, endState, outcome }) => {
    expect(supervisionOutcome(after(steps), endState)).toBe(outcome);
  });

  it.each<{ steps: Step[]; hasAgent: boolean; atOnce: boolean; why: string }>([
    { steps: ['cancelled'], hasAgent: true, atOnce: false, why: 'an agent is asked first' },
    { steps: ['deadline'], hasAgent: true, atOnce: false, why: 'it may say a last word' },
    { steps: ['drain'], hasAgent: false, atOnce: false, why: 'a command may tidy up' },
    { steps: ['drain'], hasAgent: true, atOnce: true, why: 'its session goes on elsewhere' },
    { steps: ['hurry'], hasAgent: false, atOnce: true, why: 'nobody waits' },
    { steps: ['budget'], hasAgent: true, atOnce: true, why: 'it would spend more' },
    { steps: ['disk'], hasAgent: true, atOnce: false, why: 'it may say a last word' },
    { steps: ['lost'], hasAgent: false, atOnce: true, why: 'another one may begin' },
  ])(
    'with an agent: $hasAgent, is ended at once after $steps: $atOnce, because $why',
    ({ steps, hasAgent, atOnce }) => {
      expect(endsAtOnce(after(steps), hasAgent)).toBe(atOnce);
    },
  );

  it.each<{ steps: Step[]; may: boolean }>([
    { steps: [], may: true },
    { steps: ['began'], may: true },
    { steps: ['began', 'ended'], may: false },
    { steps: ['over'], may: false },
  ])('after $steps may have processes: $may', ({ steps, may }) => {
    expect(mayHaveProcesses(after(steps))).toBe(may);
  });
});
