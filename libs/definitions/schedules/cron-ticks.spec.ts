/** Ticks of cron expressions, against a clock that is walked minute by minute. */
import { describe, expect, it } from '@jest/globals';
import { readCron, type CronFields } from './cron.ts';
import { nextTick, ticksBetween } from './cron-ticks.ts';
import { dueTick, TICK_LATE_MAX_MS } from './schedules.ts';

const MINUTE_MS = 60_000;
const at = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);
const written = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

function fieldsOf(expression: string): CronFields {
  const read = readCron(expression);
  if (!read.ok) throw new Error(`${expression} ${read.reason}`);
  return read.fields;
}

/** What every cron manual says, in so many words. */
function fires({ minutes, hours, daysOfMonth, months, daysOfWeek, eitherDay }: CronFields, ms: number): boolean {
  const date = new Date(ms);
  const [day, weekday] = [daysOfMonth.includes(date.getUTCDate()), daysOfWeek.includes(date.getUTCDay())];
  return (
    minutes.includes(date.getUTCMinutes()) &&
    hours.includes(date.getUTCHours()) &&
    months.includes(date.getUTCMonth() + 1) &&
    (eitherDay ? day || weekday : day && weekday)
  );
}

describe('the next tick', () => {
  it.each([
    ['* * * * *', '2026-05-04 10:15:00', '2026-05-04 10:16'],
    ['* * * * *', '2026-05-04 10:15:59.999', '2026-05-04 10:16'],
    ['15 10 * * *', '2026-05-04 10:15:00', '2026-05-05 10:15'],
    ['15 10 * * *', '2026-05-04 10:14:59.999', '2026-05-04 10:15'],
    ['@hourly', '2026-12-31 23:00:01', '2027-01-01 00:00'],
    ['0 0 31 * *', '2026-01-31 00:00:00', '2026-03-31 00:00'],
    ['0 0 29 2 *', '2026-03-01 00:00:00', '2028-02-29 00:00'],
    ['0 0 29 2 *', '2096-03-01 00:00:00', '2104-02-29 00:00'],
    ['30 4 1,15 * 5', '2026-05-04 00:00:00', '2026-05-08 04:30'],
    ['30 4 1,15 * 5', '2026-05-14 00:00:00', '2026-05-15 04:30'],
    ['0 12 */10 * 1', '2026-05-04 12:00:00', '2026-05-11 12:00'],
    ['0 0 31 2 1', '2026-02-01 00:00:00', '2026-02-02 00:00'],
    // Both day fields must hold where one of them is a star with a step: this Sunday comes every 28 years, and 40
    // across 2100.
    ['0 0 29 2 */7', '2026-01-01 00:00:00', '2032-02-29 00:00'],
    ['0 0 29 2 */7', '2088-03-01 00:00:00', '2128-02-29 00:00'],
  ])('of %s after %s is %s', (expression, after, next) => {
    expect(written(nextTick(fieldsOf(expression), at(after)))).toBe(next);
  });

  it('never comes for a day that no year has', () => {
    expect(nextTick({ ...fieldsOf('0 0 1 2 *'), daysOfMonth: [30] }, at('2026-01-01 00:00'))).toBeUndefined();
  });
});

describe('against a clock walked minute by minute', () => {
  let state = 42;
  const roll = (sides: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
  const field = (min: number, max: number): string => {
    const one = () => min + roll(max - min + 1);
    const [low, high] = [one(), one()].sort((a, b) => a - b) as [number, number];
    return ['*', String(one()), `${low}-${high}`, `*/${1 + roll(max - min)}`, `${one()},${one()}`, '*'][
      roll(6)
    ] as string;
  };

  it.each(Array.from({ length: 40 }, (_, index) => ({ index })))('next, number and latest agree (case $index)', () => {
    const read = readCron([field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)].join(' '));
    if (!read.ok) throw new Error(read.reason);
    const from = at('2027-12-20 00:00') + roll(100_000) * MINUTE_MS + roll(60_000);
    const until = from + roll(20_000) * MINUTE_MS + roll(60_000);
    const ticks: number[] = [];
    for (let ms = Math.floor(from / MINUTE_MS) * MINUTE_MS + MINUTE_MS; ms <= until; ms += MINUTE_MS)
      if (fires(read.fields, ms)) ticks.push(ms);
    expect(ticksBetween(read.fields, from, until)).toEqual(
      ticks.length === 0 ? { count: 0 } : { count: ticks.length, latestMs: ticks.at(-1) },
    );
    const next = nextTick(read.fields, from) ?? Infinity;
    expect(ticks.length === 0 ? next > until : next).toBe(ticks.length === 0 ? true : ticks[0]);
  });
});

describe('what is due', () => {
  const hourly = fieldsOf('@hourly');
  const minutely = fieldsOf('* * * * *');
  const handled = at('2026-05-04 10:00');

  it.each([
    { why: 'nothing before the tick', fields: hourly, now: '2026-05-04 10:59:59', expected: { kind: 'nothing' } },
    {
      why: 'the tick itself',
      fields: hourly,
      now: '2026-05-04 11:00:00',
      expected: { kind: 'start', atMs: at('2026-05-04 11:00'), missed: 0 },
    },
    {
      why: 'a little late',
      fields: hourly,
      now: '2026-05-04 11:04:59',
      expected: { kind: 'start', atMs: at('2026-05-04 11:00'), missed: 0 },
    },
    {
      why: 'too late',
      fields: hourly,
      now: '2026-05-04 11:05:00',
      expected: { kind: 'missed', atMs: at('2026-05-04 11:00'), missed: 1, lastMissedMs: at('2026-05-04 11:00') },
    },
    {
      why: 'only the latest of many',
      fields: hourly,
      now: '2026-05-05 10:01:00',
      expected: { kind: 'start', atMs: at('2026-05-05 10:00'), missed: 23, lastMissedMs: at('2026-05-05 09:00') },
    },
    {
      why: 'a year of minutes',
      fields: minutely,
      now: '2027-05-04 10:00:30',
      expected: { kind: 'start', atMs: at('2027-05-04 10:00'), missed: 525_599, lastMissedMs: at('2027-05-04 09:59') },
    },
    {
      why: 'nothing once the clock was set back',
      fields: minutely,
      now: '2026-05-04 09:00:00',
      expected: { kind: 'nothing' },
    },
  ])('$why', ({ fields, now, expected }) => {
    expect(dueTick(fields, handled, at(now))).toEqual(expected);
  });

  it('is late after five minutes', () => expect(TICK_LATE_MAX_MS).toBe(300_000));
});
