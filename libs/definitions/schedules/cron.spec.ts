/** Cron expressions that can fire, and those that are refused. */
import { readCron } from './cron.ts';

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
    ['0 0 ? * *', 'another dialect'],
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
