/** A set of keys beside the set of texts of the engine: random keys, keys that differ in one word, and none twice. */
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';
import { KeySet } from './key-set.ts';
import { packKeys, wordsOfKey } from './keys.ts';

const random = seededRandom(PROPERTY_SEED);
const randomInt = (below: number): number => Math.floor(random() * below);

/** Of few different words, so that many keys have the first one in common, and some all but one. */
const similarKey = (): string => Array.from({ length: 4 }, () => `\u0000\u00ff\u0080${'abc'[randomInt(3)]}`).join('');
const randomKey = (): string => Array.from({ length: 16 }, () => String.fromCharCode(randomInt(256))).join('');

const has = (set: KeySet, key: string): boolean => set.has(wordsOfKey(key));

describe('a set of keys', () => {
  it.each([
    { kind: 'random', make: randomKey, count: 5_000 },
    { kind: 'similar', make: similarKey, count: 300 },
  ])('has the $kind keys that were added and no others, before and behind growing', ({ make, count }) => {
    const set = new KeySet();
    const model = new Set<string>();
    for (let n = 0; n < count; n += 1) {
      const key = make();
      expect(has(set, key)).toBe(model.has(key));
      set.add(key);
      model.add(key);
      expect(set.size).toBe(model.size);
    }
    expect([...model].filter((key) => !has(set, key))).toEqual([]);
    expect(Array.from({ length: 500 }, randomKey).filter((key) => has(set, key))).toEqual([]);
    expect(set.toBytes().equals(packKeys([...model]))).toBe(true);
  });

  it('has nothing when it was cleared, and what is added then', () => {
    const set = new KeySet();
    const before = Array.from({ length: 3_000 }, randomKey);
    for (const key of before) set.add(key);
    set.clear();
    expect([set.size, set.toBytes().length, before.some((key) => has(set, key))]).toEqual([0, 0, false]);
    set.add('behind that one.');
    expect([set.size, has(set, 'behind that one.')]).toEqual([1, true]);
  });

  it('takes over the keys of another, which has them still', () => {
    const [set, other] = [new KeySet(), new KeySet()];
    const keys = Array.from({ length: 2_500 }, randomKey);
    for (const [at, key] of keys.entries()) (at % 3 === 0 ? set : other).add(key);
    other.add(keys[0] as string);
    const otherSize = other.size;
    set.addAll(other);
    expect([set.size, other.size]).toEqual([new Set(keys).size, otherSize]);
    expect(keys.filter((key) => !has(set, key))).toEqual([]);
  });
});
