/** How a queue's bound is kept without a count for every delivery. contract §5.8 (503). */
import { describe, expect, it } from '@jest/globals';
import { QueueCounts } from '../runs/run-admission.ts';

function waitingRuns(max: number, counts: Record<string, number>[], takesMs = 0) {
  const state = { nowMs: 0, asked: 0 };
  const runs = new QueueCounts(
    max,
    async () => {
      state.asked += 1;
      state.nowMs += takesMs;
      return new Map(Object.entries(counts.shift() ?? {}));
    },
    () => state.nowMs,
  );
  return { runs, state };
}

describe('waiting runs', () => {
  it('are counted for all factories together, at most every two seconds', async () => {
    const { runs, state } = waitingRuns(10, [{ a: 9, b: 10 }, { a: 10 }]);
    expect([await runs.isFull('a'), await runs.isFull('b'), await runs.isFull('c')]).toEqual([false, true, false]);
    state.nowMs = 1_999;
    expect(await runs.isFull('b')).toBe(true);
    expect(state.asked).toBe(1);
    state.nowMs = 2_000;
    expect([await runs.isFull('a'), await runs.isFull('b')]).toEqual([true, false]);
    expect(state.asked).toBe(2);
  });

  it('what was accepted since the count is added to it', async () => {
    const { runs } = waitingRuns(10, [{ a: 8 }]);
    await runs.isFull('a');
    runs.added('a', 1);
    expect(await runs.isFull('a')).toBe(false);
    runs.added('a', 1);
    expect([await runs.isFull('a'), await runs.isFull('b')]).toEqual([true, false]);
  });

  it('a factory that nobody counted begins at what was added', async () => {
    const { runs } = waitingRuns(2, [{}]);
    await runs.isFull('new');
    runs.added('new', 2);
    expect(await runs.isFull('new')).toBe(true);
  });

  it('a count that takes long is taken seldom', async () => {
    const { runs, state } = waitingRuns(10, [{}, {}], 1_000);
    await runs.isFull('a');
    state.nowMs = 49_999;
    await runs.isFull('a');
    expect(state.asked).toBe(1);
    state.nowMs = 50_000;
    await runs.isFull('a');
    expect(state.asked).toBe(2);
  });

  it('a count that fails is nobody’s full queue: the fault goes to who asked', async () => {
    const runs = new QueueCounts(
      1,
      () => Promise.reject(new Error('away')),
      () => 0,
    );
    await expect(runs.isFull('a')).rejects.toThrow('away');
  });
});
