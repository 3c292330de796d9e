/** The pace of passes in milliseconds. contract §9. */
import { followDelayMs, mayAskHost, nextIntervalMs, outageAfter, retryDelayMs, type HostOutage } from '../index.ts';

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

describe('a host that does not answer', () => {
  const outage: HostOutage = { failures: 3, failedAtMs: 1_000, askAgainAtMs: 5_000 };
  const question = { probing: false, atOnce: false, failed: false, distinctFailures: 2, nowMs: 4_999 };
  it.each<[HostOutage | undefined, object, string, string]>([
    [undefined, {}, 'ask', 'nothing is wrong'],
    [outage, {}, 'wait', 'its time has not come'],
    [outage, { nowMs: 5_000 }, 'probe', 'one finds out'],
    [outage, { nowMs: 5_000, probing: true }, 'wait', 'and only one'],
    [outage, { atOnce: true }, 'ask', 'people need not wait'],
    [outage, { atOnce: true, probing: true }, 'ask', 'not for a probe either'],
    [outage, { distinctFailures: 1 }, 'probe', 'it may be the fault of the one repository that failed'],
    [outage, { distinctFailures: 1, failed: true }, 'wait', 'the one that failed knows'],
    [outage, { distinctFailures: 1, probing: true }, 'wait', 'somebody is finding out'],
  ])('%j, asked %j: %p (%s)', (standing, asked, expected) => {
    expect(mayAskHost(standing, { ...question, ...asked })).toBe(expected);
  });

  it.each<[HostOutage | undefined, number, number, HostOutage, string]>([
    [undefined, 0, 100, { failures: 1, failedAtMs: 100, askAgainAtMs: 1_100 }, 'the first failure: a second'],
    [outage, 1_001, 6_000, { failures: 4, failedAtMs: 6_000, askAgainAtMs: 14_000 }, 'each further one doubles'],
    [outage, 1_000, 6_000, outage, 'asked before the host was known to be away: the same failure'],
    [
      { ...outage, failures: 5_000 },
      1_001,
      6_000,
      { failures: 5_001, failedAtMs: 6_000, askAgainAtMs: 306_000 },
      'five minutes at most',
    ],
  ])('%j, asked at %p, failed at %p: %j (%s)', (before, askedAtMs, nowMs, expected) => {
    expect(outageAfter(before, { askedAtMs, nowMs, random01: 0.5 })).toEqual(expected);
  });

  it('is followed by one factory after the other', () => {
    expect([0, 0.5, 0.99].map(followDelayMs)).toEqual([0, 25, 50]);
  });
});
