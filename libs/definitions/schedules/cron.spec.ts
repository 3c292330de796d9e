/** Cron expressions that can fire, and those that are refused. */
import { nextTick, ticksBetween } from './cron-ticks.ts';
import { readSchedule, readCron } from './cron.ts';

describe('readCron', () => {
  it.each([
    ['* * * * *', 'every minute'],
    ['*/15 0-6,22 1,15 * *', 'steps, ranges, lists'],
    ['0 9 * * MON-FRI', 'names of days'],
    ['0 0 1 jan,Jul *', 'names of months in any case'],
    ['0 0 29 2 *', 'leap years exist'],
    ['0 0 31 2 1', 'either day field is enough'],
    ['0 0 * * 7', '7 is Sunday'],
    ['10-40/10 * * * *', 'a step in a range'],
    ['@hourly', 'a word'],
    ['  0 0 * * *  ', 'blanks around'],
  ])('%j is read (%s)', (expression) => {
    expect(readCron(expression)).toMatchObject({ ok: true });
  });

  it.each([
    ['', 'empty'],
    ['* * * *', 'four fields'],
    ['0 * * * * *', 'seconds'],
    ['60 * * * *', 'over the range'],
    ['* 24 * * *', 'over the range'],
    ['* * 0 * *', 'under the range'],
    ['* * * 13 *', 'over the range'],
    ['* * * * 8', 'over the range'],
    ['0 0 30 2 *', 'no such day'],
    ['0 0 31 4,6,9,11 *', 'no such day in any month'],
    ['*/0 * * * *', 'no step'],
    ['*/61 * * * *', 'a step over the range'],
    ['5/15 * * * *', 'a step without a range'],
    ['9-5 * * * *', 'backwards'],
    ['*-5 * * * *', 'a range of everything'],
    ['0 0 L * *', 'another dialect'],
    ['0 0 * * 1#2', 'another dialect'],
    ['1,,2 * * * *', 'an empty item'],
    ['-1 * * * *', 'negative'],
    ['1.5 * * * *', 'a fraction'],
    ['@often', 'no such word'],
    ['@constructor', 'no property of an object is a word'],
    ['0 0 * * mon,feb', 'a month among days'],
  ])('%j is refused (%s)', (expression) => {
    expect(readCron(expression)).toMatchObject({ ok: false });
  });

  it('reads fields as sorted values, Sunday as 0', () => {
    expect(readCron('30,0 */12 1 1 7,1')).toEqual({
      ok: true,
      fields: { minutes: [0, 30], hours: [0, 12], daysOfMonth: [1], months: [1], daysOfWeek: [0, 1], eitherDay: true },
    });
  });
});

describe('readSchedule', () => {
  it('reads ? as *', () => {
    expect(readSchedule('0 3 ? * 1')).toEqual(readCron('0 3 * * 1'));
  });

  it.each([
    ['@every 1h', 60],
    ['@every 1h30m', 90],
    ['@every 1.5h', 90],
    ['@every 120s', 2],
  ])('reads %j as %d minutes', (expression, minutes) => {
    expect(readSchedule(expression)).toEqual({ ok: true, fields: { everyMs: minutes * 60_000 } });
  });

  it.each(['@every', '@every ', '@every 30s', '@every 90s', '@every 0m', '@every 1d', '@every -1h', '@every 9000h'])(
    '%j is refused',
    (expression) => {
      expect(readSchedule(expression)).toMatchObject({ ok: false });
    },
  );

  it('ticks at the multiples of an interval, whoever looks', () => {
    const every = { everyMs: 5_400_000 };
    expect(nextTick(every, 0)).toBe(5_400_000);
    expect(nextTick(every, 5_399_999)).toBe(5_400_000);
    expect(ticksBetween(every, 0, 16_200_000)).toEqual({ count: 3, latestMs: 16_200_000 });
    expect(ticksBetween(every, 5_400_000, 5_400_000)).toEqual({ count: 0 });
  });
});
