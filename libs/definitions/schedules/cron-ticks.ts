/**
 * When a cron expression fires: the next tick, the latest one, and how many there were; UTC, to the minute. contract
 * §12.3 (schedule trigger).
 */
import type { CronFields, ScheduleTimes } from './cron.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The rarest day there is, a 29 February on one weekday, comes again after 40 years at most. */
const YEARS_SEARCHED_MAX = 50;
const DAYS_SEARCHED_MAX = YEARS_SEARCHED_MAX * 366;

/** The first tick after a time, in milliseconds; undefined when there is none within 50 years. */
export function nextTick(fields: ScheduleTimes, afterMs: number): number | undefined {
  if ('everyMs' in fields) return (Math.floor(afterMs / fields.everyMs) + 1) * fields.everyMs;
  const first = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  for (let day = dayOf(first), searched = 0; searched < DAYS_SEARCHED_MAX; searched += 1, day += DAY_MS) {
    if (!firesOn(fields, day)) continue;
    const minute = firstFrom(fields, (first - day) / MINUTE_MS);
    if (minute !== undefined) return day + minute * MINUTE_MS;
  }
  return undefined;
}

/** The ticks of (afterMs, untilMs]: how many, and the latest of them. */
export function ticksBetween(
  fields: ScheduleTimes,
  afterMs: number,
  untilMs: number,
): { count: number; latestMs?: number } {
  if ('everyMs' in fields) return intervalsBetween(fields.everyMs, afterMs, untilMs);
  let count = 0;
  let latestMs: number | undefined;
  if (untilMs <= afterMs) return { count };
  for (let day = dayOf(Math.max(afterMs, untilMs - DAYS_SEARCHED_MAX * DAY_MS)); day <= untilMs; day += DAY_MS) {
    if (!firesOn(fields, day)) continue;
    const from = Math.floor((afterMs - day) / MINUTE_MS) + 1;
    const to = Math.floor((untilMs - day) / MINUTE_MS);
    const ticks = countUpTo(fields, to) - countUpTo(fields, from - 1);
    if (ticks === 0) continue;
    count += ticks;
    latestMs = day + (lastUpTo(fields, to) as number) * MINUTE_MS;
  }
  return latestMs === undefined ? { count } : { count, latestMs };
}

function intervalsBetween(everyMs: number, afterMs: number, untilMs: number): { count: number; latestMs?: number } {
  const latest = Math.floor(untilMs / everyMs);
  const count = latest - Math.floor(afterMs / everyMs);
  return count > 0 ? { count, latestMs: latest * everyMs } : { count: 0 };
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** Whether any minute of a day fires; `dayMs` is the midnight that it begins with. */
export function firesOn({ daysOfMonth, months, daysOfWeek, eitherDay }: CronFields, dayMs: number): boolean {
  const date = new Date(dayMs);
  if (!months.includes(date.getUTCMonth() + 1)) return false;
  const ofMonth = daysOfMonth.includes(date.getUTCDate());
  const ofWeek = daysOfWeek.includes(date.getUTCDay());
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** The first minute of a day that fires, from a minute on. */
function firstFrom({ hours, minutes }: CronFields, from: number): number | undefined {
  for (const hour of hours) {
    const minute = minutes.find((candidate) => hour * 60 + candidate >= from);
    if (minute !== undefined) return hour * 60 + minute;
  }
  return undefined;
}

/** The last minute of a day that fires, up to and with a minute. */
function lastUpTo({ hours, minutes }: CronFields, to: number): number | undefined {
  for (const hour of hours.toReversed()) {
    const minute = minutes.findLast((candidate) => hour * 60 + candidate <= to);
    if (minute !== undefined) return hour * 60 + minute;
  }
  return undefined;
}

/** How many minutes of a day fire, up to and with a minute. */
function countUpTo({ hours, minutes }: CronFields, to: number): number {
  let count = 0;
  for (const hour of hours) count += minutes.filter((minute) => hour * 60 + minute <= to).length;
  return count;
}
