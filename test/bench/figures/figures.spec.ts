/** The arithmetic behind the benchmark's figures. */
import { describe, expect, it } from '@jest/globals';
import { quantile, slopeAnHour, thirdsOf } from './figures.ts';

describe('a quantile', () => {
  it.each([
    { measured: [3, 1, 2], share: 0.5, found: 2, why: 'the median of an odd number, whatever the order' },
    { measured: [4, 1, 3, 2], share: 0.5, found: 3, why: 'the upper one of an even number' },
    {
      measured: Array.from({ length: 100 }, (_, at) => at + 1),
      share: 0.99,
      found: 100,
      why: 'the 99th of a hundred has 99 below it',
    },
    { measured: [10, 9, 100], share: 1, found: 100, why: 'the largest, by value and not by its text' },
    { measured: [], share: 0.5, found: Number.NaN, why: 'there is none of nothing' },
  ])('$why', ({ measured, share, found }) => {
    expect(quantile(measured, share)).toBe(found);
  });
});

describe('a slope an hour', () => {
  const line = (anHour: number, noise: (at: number) => number) =>
    Array.from({ length: 90 }, (_, at) => ({
      atSeconds: at * 10,
      value: 250 + (anHour * at * 10) / 3_600 + noise(at),
    }));

  it.each([
    { anHour: 12, why: 'what grows' },
    { anHour: 0, why: 'what stays' },
    { anHour: -7, why: 'what shrinks' },
  ])('of $why', ({ anHour }) => {
    expect(slopeAnHour(line(anHour, () => 0))).toBeCloseTo(anHour, 6);
  });

  it('looks through a saw that rises and is cut back again and again', () => {
    expect(Math.abs(slopeAnHour(line(0, (at) => at % 6)))).toBeLessThan(2);
  });

  it('is none of one sample', () => {
    expect([
      slopeAnHour([]),
      slopeAnHour([{ atSeconds: 5, value: 9 }]),
      slopeAnHour([
        { atSeconds: 5, value: 1 },
        { atSeconds: 5, value: 9 },
      ]),
    ]).toEqual([0, 0, 0]);
  });
});

describe('the first and the last third', () => {
  const samplesOf = (...values: number[]) => values.map((value, at) => ({ atSeconds: at * 10, value }));

  it.each([
    { values: [1, 2, 9, 50, 60, 70, 4, 5, 6], first: 2, last: 5, why: 'are medians, whatever lies between' },
    { values: [7, 8], first: 7, last: 8, why: 'are single samples of two' },
    { values: [3], first: 3, last: 3, why: 'are the same sample of one' },
    { values: [], first: Number.NaN, last: Number.NaN, why: 'are not there of nothing' },
  ])('$why', ({ values, first, last }) => {
    expect(thirdsOf(samplesOf(...values))).toEqual({ first, last });
  });
});
