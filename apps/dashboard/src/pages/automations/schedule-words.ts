/** When a cron expression fires, in words; undefined for those that words would only make longer. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const SHORT_DAYS = DAYS.map((day) => day.slice(0, 3).toLowerCase());
const WORDS: Readonly<Record<string, string>> = {
  '@hourly': 'every hour, on the hour',
  '@daily': 'every day at 00:00 UTC',
  '@midnight': 'every day at 00:00 UTC',
  '@weekly': 'every Sunday at 00:00 UTC',
  '@monthly': 'on day 1 of every month at 00:00 UTC',
  '@yearly': 'every 1 January at 00:00 UTC',
  '@annually': 'every 1 January at 00:00 UTC',
};

export const COMMON_SCHEDULES = [
  '@hourly',
  '@daily',
  '@weekly',
  '@monthly',
  '*/15 * * * *',
  '0 3 * * *',
  '0 7 * * 1-5',
];

export function scheduleInWords(cron: string): string | undefined {
  const text = cron.trim().toLowerCase();
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = text.split(/\s+/);
  if (rest.length > 0 || weekday === '' || month !== '*') return undefined;
  const time = timeOf(minute, hour);
  if (time === undefined) return day === '*' && weekday === '*' && hour === '*' ? withinHour(minute) : undefined;
  if (weekday === '*')
    return day === '*'
      ? `every day at ${time}`
      : /^\d{1,2}$/.test(day)
        ? `on day ${Number(day)} of every month at ${time}`
        : undefined;
  return day === '*' ? onWeekdays(weekday, time) : undefined;
}

function timeOf(minute: string, hour: string): string | undefined {
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour) || Number(minute) > 59 || Number(hour) > 23)
    return undefined;
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`;
}

function withinHour(minute: string): string | undefined {
  if (minute === '*') return 'every minute';
  const [, step] = /^\*\/(\d{1,2})$/.exec(minute) ?? [];
  if (step !== undefined) return 60 % Number(step) === 0 ? `every ${Number(step)} minutes` : undefined;
  return /^\d{1,2}$/.test(minute) && Number(minute) < 60 ? `every hour, at minute ${Number(minute)}` : undefined;
}

function onWeekdays(weekday: string, time: string): string | undefined {
  if (weekday === '1-5' || weekday === 'mon-fri') return `Monday to Friday at ${time}`;
  const days = weekday
    .split(',')
    .map((name) => (/^[0-7]$/.test(name) ? DAYS[Number(name) % 7] : DAYS[SHORT_DAYS.indexOf(name)]));
  return days.includes(undefined) ? undefined : `every ${days.join(' and ')} at ${time}`;
}
