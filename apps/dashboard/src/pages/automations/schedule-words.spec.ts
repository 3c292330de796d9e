/** Cron expressions in words: right, or none at all. */
import { scheduleInWords } from './schedule-words.ts';

it.each([
  ['@hourly', 'every hour, on the hour'],
  ['@Daily', 'every day at 00:00 UTC'],
  [' 5 3 * * * ', 'every day at 03:05 UTC'],
  ['0 7 * * 1-5', 'Monday to Friday at 07:00 UTC'],
  ['30 6 * * mon,7', 'every Monday and Sunday at 06:30 UTC'],
  ['0 0 15 * *', 'on day 15 of every month at 00:00 UTC'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['20 * * * *', 'every hour, at minute 20'],
  ['* * * * *', 'every minute'],
])('%s is %s', (cron, words) => {
  expect(scheduleInWords(cron)).toBe(words);
});

it.each([
  '',
  'x',
  '@never',
  '0 3 * * * *',
  '0 3 1 * 1',
  '0 3 * 2 *',
  '*/7 * * * *',
  '0 25 * * *',
  '0 3 * * 8',
  '0 1-3 * * *',
  'constructor',
])('%j is left as it is', (cron) => {
  expect(scheduleInWords(cron)).toBeUndefined();
});
