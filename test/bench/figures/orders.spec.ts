/** Orders of rounds. */
import { describe, expect, it } from '@jest/globals';
import { inAnotherOrder } from './orders.ts';

describe('inAnotherOrder', () => {
  it.each([1, 2, 6, 12, 13])('has each of %i once in each round', (count) => {
    const list = Array.from({ length: count }, (_, n) => n);
    for (let round = 0; round < 30; round += 1)
      expect(inAnotherOrder(round, list).toSorted((a, b) => a - b)).toEqual(list);
  });

  it('puts each of a prime number behind each other one, and first, about as often', () => {
    const list = Array.from({ length: 13 }, (_, n) => n);
    const before = Array.from({ length: 12 }, (_, round) => {
      const order = inAnotherOrder(round, list);
      return order[order.indexOf(0) - 1];
    });
    expect(new Set(before).size).toBeGreaterThanOrEqual(11);
  });

  it('has nothing to put in order', () => {
    expect(inAnotherOrder(3, [])).toEqual([]);
  });
});
