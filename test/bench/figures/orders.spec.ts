/** Orders of rounds. */
import { describe, expect, it } from '@jest/globals';
import { inAnotherOrder } from './orders.ts';

const listOf = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('inAnotherOrder', () => {
  it.each([1, 2, 6, 9, 12, 13])('has each of %i once in each round, and in each place once', (count) => {
    const rounds = listOf(count).map((round) => inAnotherOrder(round, listOf(count)));
    for (const order of rounds) expect(order.toSorted((a, b) => a - b)).toEqual(listOf(count));
    for (const place of listOf(count)) expect(new Set(rounds.map((order) => order[place])).size).toBe(count);
  });

  it.each([2, 6, 9, 12, 13])('puts each of %i behind each other one as often', (count) => {
    const pairs = new Map<string, number>();
    const repeats = count % 2 === 0 ? 1 : 2;
    for (const round of listOf(count * repeats))
      inAnotherOrder(round, listOf(count)).forEach((item, place, order) => {
        const pair = `${order[place - 1]} ${item}`;
        if (place > 0) pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      });
    expect(pairs.size).toBe(count * (count - 1));
    expect(new Set(pairs.values())).toEqual(new Set([repeats]));
  });

  it('has nothing to put in order', () => {
    expect(inAnotherOrder(3, [])).toEqual([]);
  });
});
