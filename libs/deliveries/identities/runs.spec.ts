/** Keys, filters and merges of sorted runs: against arrays and sets. */
import * as fc from 'fast-check';
import {
  hasKey,
  IdentityIndex,
  identityKey,
  keyAt,
  keyCount,
  KeyRun,
  levelOf,
  lowerBound,
  MERGE_POLICY,
  type MergeInput,
  mergeInto,
  packKeys,
  rangesOf,
  runsToMerge,
  sortAllKeys,
  sortKeys,
} from '../index.ts';
import { wordsOfKey } from './keys.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const HASH = '\x07'.repeat(32);
const keyOf = (n: number): string => identityKey(`wh_${n}`, HASH);
const range = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => from + n);
const listOf = (keys: Buffer): string[] => range(keyCount(keys)).map((position) => keyAt(keys, position));

/** Few different first words, so that keys are told apart by the later ones. */
const KEY = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }))
  .map(
    ([first, middle, last]) =>
      String.fromCharCode(first).repeat(4) + String.fromCharCode(middle).repeat(11) + String.fromCharCode(last),
  );

describe('identityKey', () => {
  it('is 16 bytes that say webhook and hash apart', () => {
    expect(Buffer.from(identityKey('wh_1', HASH), 'latin1').toString('hex')).toBe('8cfaeee582c9554c839b6cb83438819f');
    expect(identityKey('wh_1', '1a')).not.toBe(identityKey('wh_11', 'a'));
  });
});

describe('sorted keys', () => {
  it('are the same keys in the order of their bytes, and found where they are', () => {
    fc.assert(
      fc.property(fc.uniqueArray(KEY, { maxLength: 60 }), fc.array(KEY, { maxLength: 20 }), (keys, others) => {
        const sorted = sortKeys(packKeys(keys));
        const expected = keys.toSorted();
        expect(listOf(sorted)).toEqual(expected);
        for (const key of [...keys, ...others]) {
          expect(hasKey(sorted, key)).toBe(keys.includes(key));
          expect(lowerBound(sorted, key)).toBe(expected.filter((one) => one < key).length);
        }
      }),
    );
  });
});

describe('mergeInto', () => {
  it('gives the same as sorting all, in slices of any length and chunks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(KEY, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 5 }),
        (runs, sliceKeys, chunkKeys) => {
          const rest = runs.map((keys) => keys.toSorted());
          const merged: string[] = [];
          const inputs: (MergeInput & { of: string[] })[] = rest.map((of) => ({
            keys: Buffer.alloc(0),
            position: 0,
            of,
          }));
          for (let open = inputs; open.length > 0;) {
            for (const input of open)
              if (input.position === keyCount(input.keys))
                [input.keys, input.position] = [packKeys(input.of.splice(0, chunkKeys)), 0];
            open = open.filter(({ keys }) => keys.length > 0);
            const slice = Buffer.alloc(sliceKeys * 16);
            merged.push(...listOf(slice.subarray(0, mergeInto(slice, 0, open) * 16)));
          }
          expect(merged).toEqual(runs.flat().toSorted());
        },
      ),
    );
  });
});

describe('merge policy', () => {
  it.each([
    { size: 1, level: 0 },
    { size: 4_096, level: 0 },
    { size: 4_097, level: 1 },
    { size: 65_536, level: 1 },
    { size: 1_048_576, level: 2 },
    { size: 1_048_577, level: 3 },
    { size: 900_000_000, level: 3 },
  ])('places $size keys on level $level', ({ size, level }) => expect(levelOf(size, MERGE_POLICY)).toBe(level));

  it('takes the oldest of the lowest level that is full, and none of the highest', () => {
    const runs = (level: number, from: number, count: number) =>
      range(count, from).map((run) => ({ run, level, size: 1 }));
    expect(runsToMerge([...runs(0, 1, 15), ...runs(1, 20, 15)], MERGE_POLICY)).toBeUndefined();
    expect(
      runsToMerge([...runs(1, 40, 17), ...runs(0, 1, 15)].toReversed(), MERGE_POLICY)?.map(({ run }) => run),
    ).toEqual(range(16, 40));
    expect(runsToMerge(runs(3, 1, 40), MERGE_POLICY)).toBeUndefined();
  });
});

describe('IdentityIndex', () => {
  const runOf = (keys: readonly string[], size = keys.length): { run: KeyRun; chunks: Map<number, Buffer> } => {
    const sorted = sortKeys(packKeys(keys));
    const run = new KeyRun({ run: 1, level: 0, size });
    const chunks = new Map<number, Buffer>();
    for (let from = 0; from < sorted.length; from += 64 * 16) {
      chunks.set(chunks.size + 10, sorted.subarray(from, from + 64 * 16));
      run.append(chunks.size + 9, sorted.subarray(from, from + 64 * 16));
    }
    return { run, chunks };
  };

  it.each([
    { size: 5_000, looked: 50, why: 'a filter of 16 bits a key' },
    { size: 1, looked: 5_000, why: 'a filter that is full and always says "look"' },
  ])('names the chunk of every key, and few for strangers: $why', ({ size, looked }) => {
    const keys = range(5_000).map(keyOf);
    const { run, chunks } = runOf(keys, size);
    const index = new IdentityIndex();
    index.setRuns([run]);
    const has = (key: string): boolean => index.chunksFor(key).some((id) => hasKey(chunks.get(id) as Buffer, key));
    expect(keys.filter((key) => !has(key))).toEqual([]);
    const strangers = range(5_000, 5_000).map(keyOf);
    expect(strangers.filter(has)).toEqual([]);
    const reads = strangers.filter((key) => index.chunksFor(key).length > 0).length;
    expect(reads).toBeLessThanOrEqual(looked);
  });

  it('knows keys that become a run as recent ones until it is stored, and after it failed', () => {
    const index = new IdentityIndex();
    index.accept(['a'.repeat(16)]);
    index.beginFlush();
    index.accept(['b'.repeat(16)]);
    expect([index.isRecent('a'.repeat(16)), index.recentCount]).toEqual([true, 1]);
    index.endFlush();
    expect([index.isRecent('a'.repeat(16)), index.recentCount]).toEqual([true, 2]);
    const { run } = runOf(listOf(index.beginFlush()));
    index.endFlush(run);
    expect([index.isRecent('a'.repeat(16)), index.recentCount, index.chunksFor('b'.repeat(16))]).toEqual([
      false,
      0,
      [10],
    ]);
  });
});

describe('a run of neighbours', () => {
  it('has a filter as good as one of keys from everywhere', () => {
    const all = sortKeys(packKeys(range(200_000).map(keyOf)));
    const keys = all.subarray(0, 4_096 * 16);
    const run = new KeyRun({ run: 1, level: 0, size: 4_096 });
    run.append(7, keys);
    const words = range(10_000, 1_000_000).map((n) => keyOf(n));
    const last = keyAt(keys, 4_095);
    const within = words.map((key) => `${last.slice(0, 4)}${key.slice(4)}`);
    expect(within.filter((key) => run.chunkFor(key, wordsOfKey(key)) !== undefined).length).toBeLessThan(100);
    expect(listOf(keys).every((key) => run.chunkFor(key, wordsOfKey(key)) === 7)).toBe(true);
  });

  it('forgets a chunk that was removed', () => {
    const keys = sortKeys(packKeys(range(4).map(keyOf)));
    const run = new KeyRun({ run: 1, level: 0, size: 4 });
    run.append(7, keys.subarray(0, 32));
    run.append(8, keys.subarray(32));
    run.drop(8);
    expect(run.chunks).toEqual([7]);
    const last = keyAt(keys, 3);
    expect(run.chunkFor(last, wordsOfKey(last))).toBe(7); // where it is not
  });
});

describe('sortAllKeys', () => {
  it('sorts more keys than can be sorted at once', () => {
    for (const count of [0, 1, 7, 8, 9, 100]) {
      const keys = packKeys(range(count).map(keyOf));
      expect(listOf(sortAllKeys(keys, 8))).toEqual(listOf(sortKeys(keys)));
    }
  });
});

describe('rangesOf', () => {
  it.each([
    { sorted: [], ranges: [] },
    { sorted: [3], ranges: [[3, 3]] },
    {
      sorted: [3, 4, 5, 7, 9, 10],
      ranges: [
        [3, 5],
        [7, 7],
        [9, 10],
      ],
    },
  ])('of $sorted are $ranges', ({ sorted, ranges }) => {
    expect(rangesOf(sorted)).toEqual(ranges);
  });
});
