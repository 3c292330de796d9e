/** How a queue's bound is kept without a count for every delivery. contract §5.8 (503). */
import { describe, expect, it } from '@jest/globals';
import { type QueueBounds, QueueCounts } from '../runs/run-admission.ts';

const bounded = (max: number, isShared = true): QueueBounds => ({ max, isShared });

function waitingRuns(max: number, counts: Record<string, number>[], { takesMs = 0, isShared = true } = {}) {
  const state = { nowMs: 0, asked: 0 };
  const runs = new QueueCounts(
    bounded(max, isShared),
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
    expect([await runs.isFull('b'), await runs.isFull('a')]).toEqual([false, true]);
    expect(state.asked).toBe(2);
  });

  it('that were counted ahead are waited for by nobody but whose queue was full, and counted again soon', async () => {
    const { runs, state } = waitingRuns(10, [{ a: 3, b: 10 }, { b: 9 }, { a: 10 }]);
    await runs.prepare();
    state.nowMs = 60_000; // taken over
    expect([runs.isFull('a'), state.asked]).toEqual([false, 1]);
    state.nowMs += 999;
    expect([runs.isFull('a'), state.asked]).toEqual([false, 1]);
    expect(await runs.isFull('b')).toBe(false); // emptied meanwhile, by whoever was there before
    expect(state.asked).toBe(2);
    state.nowMs += 2_000;
    expect(runs.isFull('a')).toBe(false);
    await new Promise(setImmediate);
    expect([runs.isFull('a'), state.asked]).toEqual([true, 3]);
  });

  it('that were counted ahead are counted a second after the first question', async () => {
    const { runs, state } = waitingRuns(10, [{}, { a: 10 }]);
    await runs.prepare();
    state.nowMs = 60_000;
    expect(runs.isFull('a')).toBe(false);
    state.nowMs += 1_000;
    expect(runs.isFull('a')).toBe(false);
    await new Promise(setImmediate);
    expect([runs.isFull('a'), state.asked]).toEqual([true, 2]);
  });

  it('who has room by the count before waits for no new one, whose fault is nobody’s', async () => {
    const counts: ((found: Map<string, number> | undefined) => void)[] = [];
    let nowMs = 0;
    const runs = new QueueCounts(
      bounded(10),
      () =>
        new Promise((resolve, reject) =>
          counts.push((found) => (found === undefined ? reject(new Error('away')) : resolve(found))),
        ),
      () => nowMs,
    );
    const first = runs.isFull('a');
    counts[0]?.(new Map([['a', 3]]));
    expect(await first).toBe(false);
    nowMs = 2_000;
    expect(runs.isFull('a')).toBe(false);
    counts[1]?.(undefined);
    await new Promise(setImmediate);
    nowMs = 4_000;
    expect(runs.isFull('a')).toBe(false);
    runs.added('a', 4); // the count may have begun before
    counts[2]?.(new Map([['a', 6]]));
    await new Promise(setImmediate);
    const doubted = runs.isFull('a'); // full only if the four are not among the six: counted again
    counts[3]?.(new Map([['a', 6]]));
    expect(await doubted).toBe(false);
    nowMs += 500;
    runs.added('a', 4);
    expect(runs.isFull('a')).toBe(true);
    expect(counts.length).toBe(4);
  });

  it('what was accepted since the count is added to it', async () => {
    const { runs, state } = waitingRuns(10, [{ a: 8 }]);
    await runs.isFull('a');
    state.nowMs = 500;
    runs.added('a', 1);
    expect(await runs.isFull('a')).toBe(false);
    runs.added('a', 1);
    expect([await runs.isFull('a'), await runs.isFull('b')]).toEqual([true, false]);
  });

  it('a factory that nobody counted begins at what was added', async () => {
    const { runs, state } = waitingRuns(2, [{}]);
    await runs.isFull('new');
    state.nowMs = 500;
    runs.added('new', 2);
    expect(await runs.isFull('new')).toBe(true);
  });

  it('what is added right behind a count may be in it: a queue that is full by it alone is counted again', async () => {
    const { runs, state } = waitingRuns(10, [{ a: 9 }, { a: 9 }, { a: 10 }]);
    await runs.isFull('a');
    state.nowMs = 499;
    runs.added('a', 2);
    expect(await runs.isFull('a')).toBe(false);
    expect(state.asked).toBe(2);
    runs.added('a', 1);
    expect(await runs.isFull('a')).toBe(true);
    expect(await runs.isFull('a')).toBe(true); // for sure
    expect(state.asked).toBe(3);
  });

  it('nobody is taken for having room before there was a count, whatever became of the first one', async () => {
    let asked = 0;
    const count = async (): Promise<Map<string, number>> => {
      if ((asked += 1) === 1) throw new Error('no database');
      return new Map([['a', 10]]);
    };
    const runs = new QueueCounts(bounded(10), count, () => 0);
    await expect(runs.prepare()).rejects.toThrow('no database');
    expect([await runs.isFull('a'), asked]).toEqual([true, 2]);
    const begun = new QueueCounts(
      bounded(10),
      async () => new Map([['a', 10]]),
      () => 0,
    );
    void begun.prepare();
    expect(await begun.isFull('a')).toBe(true);
  });

  it('a count that takes long is taken seldom', async () => {
    const { runs, state } = waitingRuns(10, [{}, {}], { takesMs: 1_000 });
    await runs.isFull('a');
    state.nowMs = 49_999;
    await runs.isFull('a');
    expect(state.asked).toBe(1);
    state.nowMs = 50_000;
    await runs.isFull('a');
    expect(state.asked).toBe(2);
  });

  it.each([
    { isShared: true, sureForMs: 30_000 },
    { isShared: false, sureForMs: 60_000 },
  ])('with much room are counted again after $sureForMs ms (isShared: $isShared)', async ({ isShared, sureForMs }) => {
    const counts: Record<string, number>[] = [{ a: 4_000, b: 4_001 }, { a: 4_000 }, { a: 10_000 }];
    const { runs, state } = waitingRuns(10_000, counts, { isShared });
    expect(await runs.isFull('a')).toBe(false);
    state.nowMs = 2_000;
    expect([runs.isFull('a'), state.asked, runs.isFull('b'), state.asked]).toEqual([false, 1, false, 2]);
    await new Promise(setImmediate);
    state.nowMs += sureForMs - 1;
    expect([runs.isFull('a'), state.asked]).toEqual([false, 2]);
    state.nowMs += 1;
    expect([runs.isFull('a'), state.asked]).toEqual([false, 3]);
    await new Promise(setImmediate);
    expect(runs.isFull('a')).toBe(true);
  });

  it('with much room are counted again once half of it is taken, and sooner where the queue is short', async () => {
    const { runs, state } = waitingRuns(10_000, [{}, {}], { isShared: false });
    await runs.isFull('a');
    state.nowMs = 2_000;
    runs.added('a', 4_000);
    expect([runs.isFull('a'), state.asked]).toEqual([false, 1]);
    runs.added('a', 1);
    expect([runs.isFull('a'), state.asked]).toEqual([false, 2]);
    const short = waitingRuns(2_000, [{}, {}], { isShared: false });
    await short.runs.isFull('a');
    short.state.nowMs = 2_000;
    short.runs.added('a', 1);
    expect([short.runs.isFull('a'), short.state.asked]).toEqual([false, 2]);
  });

  it('that were counted ahead stay so until a count has succeeded', async () => {
    const counts: ((found?: Map<string, number>) => void)[] = [];
    const count = () =>
      new Promise<Map<string, number>>((resolve, reject) =>
        counts.push((found) => (found === undefined ? reject(new Error('away')) : resolve(found))),
      );
    let nowMs = 0;
    const runs = new QueueCounts(bounded(10_000), count, () => nowMs);
    const prepared = runs.prepare();
    counts[0]?.(new Map([['b', 10_000]]));
    await prepared;
    expect(runs.isFull('a')).toBe(false);
    nowMs = 1_000;
    expect(runs.isFull('a')).toBe(false);
    const full = runs.isFull('b'); // waits for the count that is under way
    counts[1]?.(undefined);
    await expect(full).rejects.toThrow('away');
    nowMs = 3_000;
    expect(runs.isFull('a')).toBe(false);
    expect(counts).toHaveLength(3);
    counts[2]?.(new Map());
  });

  it('that were counted ahead are counted again where nobody else adds to them, too', async () => {
    const { runs, state } = waitingRuns(10, [{}, { a: 10 }], { isShared: false });
    await runs.prepare();
    expect(runs.isFull('a')).toBe(false);
    state.nowMs = 1_000;
    expect(runs.isFull('a')).toBe(false);
    await new Promise(setImmediate);
    expect([runs.isFull('a'), state.asked]).toEqual([true, 2]);
  });

  it('a count that fails is nobody’s full queue: the fault goes to who asked', async () => {
    const runs = new QueueCounts(
      bounded(1),
      () => Promise.reject(new Error('away')),
      () => 0,
    );
    await expect(runs.isFull('a')).rejects.toThrow('away');
  });
});
