/** What a bounded memory keeps. */
import { describe, expect, it } from '@jest/globals';
import { LruCache } from './definition-cache.ts';

describe('what was recently used', () => {
  it('stays, and what was used before all else goes', () => {
    const memory = new LruCache<string, number>(3);
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      memory.keep(key, value, 1);
    expect(memory.get('a')).toBe(1);
    memory.keep('d', 4, 1);
    expect(['a', 'b', 'c', 'd'].map((key) => memory.get(key))).toEqual([1, undefined, 3, 4]);
  });

  it('is bounded by weight: what is heavier than all goes by unkept', () => {
    const memory = new LruCache<string, number>(10);
    memory.keep('a', 1, 4);
    memory.keep('b', 2, 4);
    expect(memory.keep('huge', 3, 11)).toBe(3);
    expect(['a', 'b', 'huge'].map((key) => memory.get(key))).toEqual([1, 2, undefined]);
    memory.keep('c', 3, 8);
    expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual([undefined, undefined, 3]);
  });

  it('counts what is kept anew once', () => {
    const memory = new LruCache<string, number>(4);
    for (let n = 0; n < 10; n += 1) memory.keep('a', n, 2);
    memory.keep('b', 1, 2);
    expect([memory.get('a'), memory.get('b')]).toEqual([9, 1]);
    memory.keep('a', 0, 9);
    expect(memory.get('a')).toBeUndefined();
  });
});
