/** When a sync policy lets definitions apply, and when it will again. */
import { closureAt, openingFrom, WINDOW_DAYS_SEARCHED, type SyncWindow } from '../index.ts';

const allow = (schedule: string, durationMinutes: number): SyncWindow => ({ kind: 'allow', schedule, durationMinutes });
const deny = (schedule: string, durationMinutes: number): SyncWindow => ({ kind: 'deny', schedule, durationMinutes });
const at = (time: string): number => Date.parse(`${time}Z`);
// 2026-03-06 is a Friday.
const OFFICE = allow('0 9 * * 1-5', 480);
const FREEZE = deny('0 0 24 12 *', 4 * 1440);

describe('closureAt', () => {
  it.each<[string, SyncWindow[] | undefined, string, string | undefined]>([
    ['no policy asks nothing', undefined, '2026-03-06T12:00:00', undefined],
    ['an empty list neither', [], '2026-03-06T12:00:00', undefined],
    ['inside of an allowed window', [OFFICE], '2026-03-06T12:00:00', undefined],
    ['at its first moment', [OFFICE], '2026-03-06T09:00:00', undefined],
    ['in its last moment', [OFFICE], '2026-03-06T16:59:59.999', undefined],
    ['when it has just closed', [OFFICE], '2026-03-06T17:00:00', '2026-03-09T09:00:00'],
    ['a moment before it opens', [OFFICE], '2026-03-06T08:59:59.999', '2026-03-06T09:00:00'],
    ['inside of one of two', [OFFICE, allow('0 20 * * *', 60)], '2026-03-06T20:30:00', undefined],
    [
      'between two, the next one counts',
      [OFFICE, allow('0 20 * * *', 60)],
      '2026-03-06T18:00:00',
      '2026-03-06T20:00:00',
    ],
    ['outside of a denied window', [FREEZE], '2026-12-23T23:59:00', undefined],
    ['inside of a denied window', [FREEZE], '2026-12-25T12:00:00', '2026-12-28T00:00:00'],
    ['a denied window wins over an allowed one', [OFFICE, FREEZE], '2026-12-25T12:00:00', '2026-12-28T09:00:00'],
    [
      'denied windows that touch are one',
      [deny('0 0 * * *', 720), deny('0 12 * * *', 60)],
      '2026-03-06T03:00:00',
      '2026-03-06T13:00:00',
    ],
    [
      'one that opens again before it closes is open until the last of them closes',
      [deny('0 * * * 5', 90)],
      '2026-03-06T22:30:00',
      '2026-03-07T00:30:00',
    ],
    [
      'a window longer than a day reaches over midnight',
      [allow('0 22 * * 5', 3 * 1440)],
      '2026-03-09T21:59:00',
      undefined,
    ],
  ])('%s', (_why, windows, now, opens) => {
    expect(closureAt(windows, at(now))).toEqual(opens === undefined ? undefined : { opensAtMs: at(opens) });
  });

  it('says so when it never opens within the days that are searched', () => {
    expect(closureAt([deny('* * * * *', 1)], at('2026-03-06T12:00:00'))).toEqual({});
    expect(closureAt([OFFICE, deny('0 0 * * *', 1440)], at('2026-03-06T12:00:00'))).toEqual({});
    // nothing that is allowed can be read
    expect(closureAt([allow('what is this', 60)], at('2026-03-06T12:00:00'))).toEqual({});
  });

  it('agrees with itself: at the time that it names it is open, and a moment before it is not', () => {
    const windows = [OFFICE, allow('30 */7 * * *', 20), deny('15 9,14 * * *', 50), FREEZE];
    for (let minute = 0; minute < 20_000; minute += 337) {
      const opensAtMs = closureAt(windows, at('2026-12-15T00:00:00') + minute * 60_000)?.opensAtMs;
      if (opensAtMs === undefined) continue;
      expect(closureAt(windows, opensAtMs)).toBeUndefined();
      expect(closureAt(windows, opensAtMs - 1)).toEqual({ opensAtMs });
    }
  });

  it.each<[string, SyncWindow[], number]>([
    ['every minute for a week', Array.from({ length: 20 }, () => deny('* * * * *', 10_080)), 8],
    ['every minute for a minute', Array.from({ length: 20 }, () => deny('* * * * *', 1)), 1],
    [
      'every other minute, in turns',
      Array.from({ length: 20 }, (_, n) => deny(n % 2 === 0 ? '*/2 * * * *' : '1-59/2 * * * *', 1)),
      1,
    ],
    ['on a leap day only', Array.from({ length: 20 }, () => allow('0 0 29 2 *', 10_080)), 7],
  ])('looks at each window once a day at most, however it is written: %s', (_what, windows, slices) => {
    const { opensAtMs, evaluations } = openingFrom(windows, at('2026-03-06T12:00:00'));
    expect(opensAtMs).toBeUndefined();
    // and once those days before that reach into the first
    expect(evaluations).toBe((WINDOW_DAYS_SEARCHED + slices - 1) * windows.length);
  });

  it('looks at today only while it is open', () => {
    expect(openingFrom([OFFICE, FREEZE], at('2026-03-06T12:00:00'))).toEqual({
      opensAtMs: at('2026-03-06T12:00:00'),
      evaluations: 2 + 3,
    }); // the freeze may have begun three days ago;
  });

  it.each<[string, SyncWindow[], string, string | undefined]>([
    ['a day that no month has is no window', [deny('0 0 31 2 *', 1440)], '2026-02-28T12:00:00', undefined],
    ['nor does it allow anything', [allow('0 0 31 2 *', 1440)], '2026-02-28T12:00:00', 'never'],
    [
      'what comes once a year is found a year ahead',
      [allow('0 0 1 1 *', 60)],
      '2026-01-01T01:00:00',
      '2027-01-01T00:00:00',
    ],
    ['a leap day that is near, too', [allow('30 6 29 2 *', 60)], '2027-12-01T00:00:00', '2028-02-29T06:30:00'],
    [
      'a week that began last year reaches into this one',
      [deny('0 0 31 12 *', 10_080)],
      '2027-01-06T23:59:00',
      '2027-01-07T00:00:00',
    ],
  ])('%s', (_why, windows, now, opens) => {
    expect(closureAt(windows, at(now))).toEqual(
      opens === undefined ? undefined : opens === 'never' ? {} : { opensAtMs: at(opens) },
    );
  });
});
