/** The pace of passes in milliseconds. contract 9. */
import { nextIntervalMs, retryDelayMs } from './index.ts';

describe('nextIntervalMs', () => {
  it.each([
    [60_000, 0, 57_000, 'the least: − 5 %'],
    [60_000, 0.5, 60_000, 'the middle'],
    [60_000, 1, 63_000, 'the most: + 5 %'],
    [1, 0.9, 1, 'whole milliseconds'],
  ])('%p at %p: %p (%s)', (intervalMs, random01, expected) => {
    expect(nextIntervalMs(intervalMs, random01)).toBe(expected);
  });
});

describe('retryDelayMs', () => {
  it.each([
    [1, 0.5, 1_000, 'after the first failure'],
    [1, 0, 900, '− 10 %'],
    [1, 1, 1_100, '+ 10 %'],
    [2, 0.5, 2_000, 'doubling'],
    [3, 0.5, 4_000, 'and again'],
    [9, 0.5, 256_000, 'the last below the bound'],
    [10, 0.5, 300_000, 'five minutes'],
    [10, 1, 330_000, 'five minutes + 10 %'],
    [5_000, 0.5, 300_000, 'a week of failures overflows nothing'],
    [0, 0.5, 1_000, 'no failure counts as the first'],
  ])('after %p failures at %p: %p (%s)', (failures, random01, expected) => {
    expect(retryDelayMs(failures, random01)).toBe(expected);
  });
});
