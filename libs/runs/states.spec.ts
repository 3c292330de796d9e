/** Every move between two run states is allowed or refused as the contract has it. */
import { canMove, isEnded, RUN_STATES, TRANSITIONS, type RunState } from './index.ts';

describe('moves between states', () => {
  const rows: { from: RunState; to: RunState; allowed: boolean; why: string }[] = [
    { from: 'QUEUED', to: 'CLAIMED', allowed: true, why: 'an engine takes it' },
    { from: 'QUEUED', to: 'INPROGRESS', allowed: false, why: 'nothing runs without a claim' },
    { from: 'QUEUED', to: 'CANCELLED', allowed: true, why: 'nobody has to be asked' },
    { from: 'CLAIMED', to: 'PENDING', allowed: true, why: 'the workspace is being set up' },
    { from: 'CLAIMED', to: 'QUEUED', allowed: true, why: 'a lost execution is taken over' },
    { from: 'CLAIMED', to: 'SUCCEEDED', allowed: false, why: 'nothing succeeded that never ran' },
    { from: 'PENDING', to: 'FAILED', allowed: true, why: 'the set-up is the user’s' },
    { from: 'PENDING', to: 'SUCCEEDED', allowed: false, why: 'set-up is not the work' },
    { from: 'INPROGRESS', to: 'BLOCKED', allowed: true, why: 'the agent asks a question' },
    { from: 'BLOCKED', to: 'INPROGRESS', allowed: true, why: 'the question was answered' },
    { from: 'BLOCKED', to: 'SUCCEEDED', allowed: false, why: 'an open question is no success' },
    { from: 'INPROGRESS', to: 'INPROGRESS', allowed: false, why: 'staying is no move' },
    { from: 'SUCCEEDED', to: 'QUEUED', allowed: true, why: 'a follow-up continues an ended run' },
    { from: 'CANCELLED', to: 'QUEUED', allowed: true, why: 'a follow-up continues a cancelled run too' },
    { from: 'CANCELLED', to: 'SUCCEEDED', allowed: false, why: 'after a 200 to cancel the only end is CANCELLED' },
    { from: 'SUCCEEDED', to: 'CANCELLED', allowed: false, why: 'the end that committed first stands' },
  ];
  it.each(rows)('$from → $to: $allowed, because $why', ({ from, to, allowed }) => {
    expect(canMove(from, to)).toBe(allowed);
  });

  it('leads from everywhere to an end, and from an end only back to the queue', () => {
    for (const state of RUN_STATES) {
      if (isEnded(state)) expect(TRANSITIONS[state]).toEqual(['QUEUED']);
      else expect(TRANSITIONS[state]).toEqual(expect.arrayContaining(['CANCELLED', 'ERROR']));
    }
  });

  it('ends in four ways', () => {
    expect(RUN_STATES.filter(isEnded)).toEqual(['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED']);
  });
});
