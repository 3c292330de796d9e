/**
 * Group commit: bounded batches in order of arrival, one at a time; a bad item fails alone, a failed database fails
 * all.
 */
import { afterEach, beforeEach, jest } from '@jest/globals';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { GroupCommit } from './group-commit.ts';

const MIB = 1_048_576;

class Outage extends Error {}

/** Commits batches and remembers them; items above 900 are bad. */
function recorded(
  bytesOf: (item: number) => number = () => 1,
  around: (items: readonly number[]) => Promise<void> = async () => undefined,
  apartMs?: number,
) {
  const batches: number[][] = [];
  const group = new GroupCommit<number, string>({
    commit: async (items) => {
      batches.push([...items]);
      await around(items);
      if (items.some((item) => item > 900)) throw new Error('bad item');
      return items.map((item) => `done ${item}`);
    },
    bytesOf,
    concernsAll: (error) => error instanceof Outage,
    ...(apartMs === undefined ? {} : { apartMs }),
  });
  return { group, batches };
}

/** So many rounds of the event loop. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

const range = (length: number): number[] => Array.from({ length }, (_, at) => at);

describe('a group commit', () => {
  it('takes what one turn brings into one batch, and gives each item its own result', async () => {
    const { group, batches } = recorded();
    expect(await Promise.all([3, 1, 2].map((item) => group.add(item)))).toEqual(['done 3', 'done 1', 'done 2']);
    expect(batches).toEqual([[3, 1, 2]]);
  });

  /** Items of rounds of the event loop that follow each other, by a clock that gains so much with each look at it. */
  async function broughtInRounds(count: number, { perRound, gainMs }: { perRound: number; gainMs: number }) {
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += gainMs));
    const { group, batches } = recorded();
    const results: Promise<string>[] = [];
    for (let round = 0; round < count; round += 1) {
      for (const item of range(perRound)) results.push(group.add(round * perRound + item));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(results).finally(() => clock.mockRestore());
    expect(batches.flat()).toEqual(range(count * perRound));
    return batches.map(({ length }) => length);
  }

  it('waits while each round of the event loop brings more, until a batch is full', async () => {
    expect(await broughtInRounds(6, { perRound: 100, gainMs: 0 })).toEqual([256, 256, 88]);
  });

  it('waits for some milliseconds at most', async () => {
    const sizes = await broughtInRounds(6, { perRound: 10, gainMs: 3 });
    expect(Math.max(...sizes)).toBe(20);
  });

  it('commits an item that comes alone before the next round brings another', async () => {
    const { group, batches } = recorded();
    const first = group.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, group.add(2)]);
    expect(batches).toEqual([[1], [2]]);
  });

  describe('under load', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
    afterEach(() => void jest.useRealTimers());

    /** Items within one round of the event loop, and what it takes to look through them. */
    async function bring(group: GroupCommit<number, string>, items: readonly number[]): Promise<void> {
      for (const item of items) void group.add(item);
      await rounds(4);
    }

    async function pass(ms: number): Promise<void> {
      jest.advanceTimersByTime(ms);
      await rounds(4);
    }

    it('begins a transaction no sooner than some milliseconds behind the last one', async () => {
      const { group, batches } = recorded();
      await bring(group, [1, 2]);
      await bring(group, [3]);
      await bring(group, [4, 5]);
      expect(batches).toEqual([[1, 2]]);
      await pass(2);
      expect(batches).toEqual([
        [1, 2],
        [3, 4, 5],
      ]);
      await pass(2);
      await bring(group, [6]);
      expect(batches.at(-1)).toEqual([6]); // it was due
    });

    it('puts a transaction off for as long as `apartMs` says', async () => {
      const { group, batches } = recorded(undefined, undefined, 25);
      await bring(group, [1, 2]);
      for (const item of [3, 4, 5]) {
        await bring(group, [item]);
        await pass(8);
      }
      expect(batches).toEqual([[1, 2]]);
      await pass(1);
      expect(batches).toEqual([
        [1, 2],
        [3, 4, 5],
      ]);
    });

    it('puts a transaction off no longer when its batch is full', async () => {
      const { group, batches } = recorded(undefined, undefined, 25);
      await bring(group, [1, 2]);
      await bring(group, range(100));
      await bring(group, range(155));
      expect(batches).toHaveLength(1);
      await bring(group, [1, 2]);
      expect(batches.map(({ length }) => length)).toEqual([2, 256, 1]);
      await bring(group, [3]); // the timer of before is nobody's any more
      await pass(25);
      expect(batches.map(({ length }) => length)).toEqual([2, 256, 1, 1]);
    });

    it('puts nothing off while somebody waits until all is over', async () => {
      const { group, batches } = recorded(undefined, undefined, 25);
      await group.drained();
      await bring(group, [1, 2]);
      await bring(group, [3]);
      expect(batches).toHaveLength(1);
      await group.drained();
      expect(batches).toEqual([[1, 2], [3]]);
      await group.drained();
    });

    it('begins them at once for a while where waiting brought nothing', async () => {
      const { group, batches } = recorded();
      await bring(group, [1, 2]);
      await bring(group, [3, 4]);
      expect(batches).toHaveLength(1);
      await pass(2);
      for (let count = 3; count <= 34; count += 1) {
        await bring(group, [2 * count, 2 * count + 1]);
        expect(batches).toHaveLength(count);
      }
      await bring(group, [100, 101]);
      expect(batches).toHaveLength(34);
      await pass(2);
      expect(batches.at(-1)).toEqual([100, 101]);
    });

    it('lets one that comes alone behind another wait for nothing', async () => {
      const { group, batches } = recorded();
      for (const item of [1, 2, 3]) await bring(group, [item]);
      expect(batches).toEqual([[1], [2], [3]]);
    });

    it('puts no full batch off', async () => {
      const { group, batches } = recorded();
      await bring(group, range(300));
      await bring(group, range(256));
      expect(batches.map(({ length }) => length)).toEqual([256, 44, 256]);
    });
  });

  it('gathers no longer for what came while another commit ran', async () => {
    let release = (): void => undefined;
    const { group, batches } = recorded(undefined, (items) =>
      items[0] === 0 ? new Promise((resolve) => (release = resolve)) : Promise.resolve(),
    );
    const first = group.add(0);
    await rounds(2);
    const waited = [1, 2].map((item) => group.add(item));
    await rounds(2);
    release();
    await rounds(2);
    const late = group.add(3);
    await Promise.all([first, ...waited, late]);
    expect(batches).toEqual([[0], [1, 2], [3]]);
  });

  it.each(range(40))('tells each item once, those of a key in order, whatever comes when (seed %i)', async (seed) => {
    const random = seededRandom(seed + 1);
    const batches: { key: string; kind: number; item: number }[][] = [];
    const group = new GroupCommit<{ key: string; kind: number; item: number }, number>({
      commit: async (items) => {
        if (random() < 0.5) await rounds(Math.floor(random() * 3));
        if (items.some(({ item }) => item % 23 === 7)) throw new Error('bad item');
        batches.push([...items]);
        return items.map(({ item }) => item);
      },
      bytesOf: ({ item }) => (item % 11 === 0 ? 3 * MIB : 1),
      concernsAll: () => false,
      grouping: { kindOf: ({ kind }) => kind, keyOf: ({ key }) => key },
    });
    const outcomes: Promise<number>[] = [];
    while (outcomes.length < 200) {
      for (const _ of range(Math.floor(random() * 8))) {
        const item = outcomes.length;
        const key = `k${Math.floor(random() * 4)}`;
        outcomes.push(group.add({ key, kind: Math.floor(random() * 2), item }).catch(() => -1));
      }
      await rounds(1 + Math.floor(random() * 3));
    }
    expect(await Promise.all(outcomes)).toEqual(range(outcomes.length).map((item) => (item % 23 === 7 ? -1 : item)));
    for (const key of ['k0', 'k1', 'k2', 'k3']) {
      const items = batches.flat().filter((one) => one.key === key);
      expect(items.map(({ item }) => item)).toEqual(items.map(({ item }) => item).toSorted((a, b) => a - b));
    }
    for (const batch of batches) expect(new Set(batch.map(({ kind }) => kind)).size).toBe(1);
  });

  it('tells who needs no promise in the round of the commit, each once', async () => {
    const told: string[] = [];
    const { group, batches } = recorded();
    for (const item of [3, 901, 2])
      group.enqueue(item, {
        committed: (result) => void told.push(result),
        failed: (error) => void told.push(`${item}: ${(error as Error).message}`),
      });
    await group.add(1);
    expect(told).toEqual(['done 3', '901: bad item', 'done 2']);
    expect(batches).toEqual([[3, 901, 2, 1], [3], [901], [2], [1]]);
  });

  it('notifies the waiters of a large batch in rounds of the event loop, and is drained behind the last', async () => {
    const notified: number[] = [];
    const { group } = recorded();
    for (const item of range(200))
      group.enqueue(item, { committed: () => void notified.push(item), failed: () => undefined });
    while (notified.length === 0) await rounds(1);
    expect(notified).toEqual(range(64));
    await rounds(1);
    expect(notified).toEqual(range(128));
    await group.drained();
    expect(notified).toEqual(range(200));
  });

  it('notifies all of a batch before any of the next', async () => {
    const notified: number[] = [];
    const { group } = recorded();
    for (const item of range(600))
      group.enqueue(item, { committed: () => void notified.push(item), failed: () => undefined });
    await group.drained();
    expect(notified).toEqual(range(600));
  });

  it.each(range(20))('notifies each once, in order, and few in a round (seed %i)', async (seed) => {
    const random = seededRandom(seed + 1);
    const notified: number[] = [];
    const { group, batches } = recorded(undefined, () => rounds(Math.floor(random() * 3)));
    let count = 0;
    while (count < 3_000) {
      const size = Math.floor(random() * 300);
      for (const item of range(size))
        group.enqueue(item, { committed: () => void notified.push(item), failed: () => undefined });
      count += size;
      for (const _ of range(Math.floor(random() * 6))) {
        const before = notified.length;
        await rounds(1);
        expect(notified.length - before).toBeLessThanOrEqual(128); // the last of one and the first of another
      }
    }
    await group.drained();
    expect(notified).toEqual(batches.flat());
    expect(notified).toHaveLength(count);
  });

  it('fails those of a large batch alike when the database is at fault', async () => {
    const failed: number[] = [];
    const { group } = recorded(undefined, () => Promise.reject(new Outage('down')));
    for (const item of range(100))
      group.enqueue(item, { committed: () => undefined, failed: () => void failed.push(item) });
    await group.drained();
    expect(failed).toEqual(range(100));
  });

  it('waits for what comes back on the answers to a large batch', async () => {
    const { group, batches } = recorded();
    const sendAgain = (item: number): void =>
      group.enqueue(item, {
        committed: () => (item < 300 ? void setImmediate(() => sendAgain(item + 300)) : undefined),
        failed: () => undefined,
      });
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 5)); // it gathers no longer
    for (const item of range(200)) sendAgain(item);
    while (batches.length < 2) await rounds(1);
    clock.mockRestore();
    expect(batches[1]?.length).toBeGreaterThan(3 * 64);
  });

  it('commits items of one kind together, and lets none of a key overtake another', async () => {
    const batches: string[][] = [];
    const group = new GroupCommit<string, string>({
      commit: async (items) => {
        batches.push([...items]);
        return items;
      },
      concernsAll: () => false,
      grouping: { kindOf: (item) => item[1], keyOf: (item) => item[0] as string },
    });
    const items = ['ax', 'by', 'cx', 'bx', 'ay', 'ax', 'cx'];
    expect(await Promise.all(items.map((item) => group.add(item)))).toEqual(items);
    expect(batches).toEqual([
      ['ax', 'cx', 'cx'],
      ['by', 'ay'],
      ['bx', 'ax'],
    ]);
  });

  it('is bounded in items', async () => {
    const { group, batches } = recorded();
    await Promise.all(range(600).map((item) => group.add(item)));
    expect(batches.map(({ length }) => length)).toEqual([256, 256, 88]);
    expect(batches.flat()).toEqual(range(600));
  });

  it.each([
    { bytes: 3 * MIB, sizes: [3, 3, 1], why: 'the item that reaches the bound is the last of its batch' },
    { bytes: 100 * MIB, sizes: [1, 1, 1, 1, 1, 1, 1], why: 'an item above the bound still goes, alone' },
    { bytes: 0, sizes: [7], why: 'items without bytes are bounded by their number only' },
  ])('is bounded in bytes: $why', async ({ bytes, sizes }) => {
    const { group, batches } = recorded(() => bytes);
    await Promise.all(range(7).map((item) => group.add(item)));
    expect(batches.map(({ length }) => length)).toEqual(sizes);
  });

  it('runs one commit at a time; what arrives meanwhile goes into the next', async () => {
    let open = 0;
    let most = 0;
    const late: Promise<string>[] = [];
    const { group, batches } = recorded(undefined, async (items) => {
      most = Math.max(most, (open += 1));
      if (items.includes(0)) for (const item of [10, 11, 12]) late.push(group.add(item));
      await new Promise((resolve) => setTimeout(resolve, 5));
      open -= 1;
    });
    await Promise.all([group.add(0), group.add(1)]);
    expect(await Promise.all(late)).toEqual(['done 10', 'done 11', 'done 12']);
    expect(batches).toEqual([
      [0, 1],
      [10, 11, 12],
    ]);
    expect(most).toBe(1);
  });

  it('tries each item alone when a batch fails, in order, and fails only the bad ones', async () => {
    const { group, batches } = recorded();
    const outcomes = await Promise.allSettled([1, 901, 2, 902, 3].map((item) => group.add(item)));
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message))).toEqual([
      'done 1',
      'bad item',
      'done 2',
      'bad item',
      'done 3',
    ]);
    expect(batches).toEqual([[1, 901, 2, 902, 3], [1], [901], [2], [902], [3]]);
  });

  it('fails all of a batch at once when the database is at fault, and goes on with the next', async () => {
    let down = true;
    const { group, batches } = recorded(undefined, async () => {
      if (down) throw new Outage('down');
    });
    const outcomes = await Promise.allSettled(range(100).map((item) => group.add(item)));
    expect(outcomes.every((one) => one.status === 'rejected' && one.reason instanceof Outage)).toBe(true);
    expect(batches).toHaveLength(1);
    down = false;
    expect(await group.add(7)).toBe('done 7');
  });
});
