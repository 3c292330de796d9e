/**
 * Which cron expressions can fire: five fields, an @ word or `@every` with a duration, in UTC. contract §12.3 (schedule
 * trigger).
 */

/** The times an expression stands for, each field as its sorted values. */
export interface CronFields {
  minutes: number[];
  hours: number[];
  daysOfMonth: number[];
  months: number[];
  /** 0 = Sunday … 6. */
  daysOfWeek: number[];
  /** Both day fields are restricted: a day that satisfies either counts, as in every cron. */
  eitherDay: boolean;
}

/** Ticks at every multiple of a time since 1970, so that all machines have the same ones. */
export interface Interval {
  everyMs: number;
}

/** When a schedule fires. */
export type ScheduleTimes = CronFields | Interval;

export type ScheduleReading = { ok: true; fields: ScheduleTimes } | { ok: false; reason: string };

export type CronReading = { ok: true; fields: CronFields } | { ok: false; reason: string };

interface Field {
  name: string;
  min: number;
  max: number;
  words?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: ['', ...MONTHS] },
  // 7 is Sunday too.
  { name: 'day of week', min: 0, max: 7, words: DAYS },
];
const WORDS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
/** Longest each month can be (February in leap years). */
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads an expression strictly: what other dialects add (seconds, `L`, `W`, `#`) is refused, and so is what never
 * fires. `?` is `*`.
 */
export function readCron(expression: string): CronReading {
  const text = expression.trim().toLowerCase();
  if (text.startsWith('@')) return readWord(text);
  const parts = text.split(/[ \t]+/).map((part) => (part === '?' ? '*' : part));
  if (parts.length !== FIELDS.length)
    return refused(
      `has ${parts.length} ${parts.length === 1 ? 'field' : 'fields'}, not five (minute hour day-of-month ` +
        'month day-of-week)',
    );
  const values: number[][] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = readField(parts[index] ?? '', field);
    if (typeof read === 'string') return refused(read);
    values.push(read);
  }
  return fires(values, parts);
}

/** The longest time between two ticks: a year, in minutes. */
const EVERY_MINUTES_MAX = 527_040;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Reads what a schedule trigger says: cron, or `@every 1h30m`. contract §8.6 (Definitions of the hosted format). */
export function readSchedule(expression: string): ScheduleReading {
  const every = /^@every[ \t]+(\S+)$/.exec(expression.trim().toLowerCase());
  if (every === null) return readCron(expression);
  const [, duration = ''] = every;
  if (duration.length > DURATION_LENGTH_MAX || !/^(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|s))+$/.test(duration))
    return refused('names no duration behind @every; write one like 90m, 1h or 1h30m');
  const parts = [...duration.matchAll(/([0-9.]+)(h|ms|m|s)/g)];
  const everyMs = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  const minutes = everyMs / MINUTE_MS;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > EVERY_MINUTES_MAX)
    return refused(
      'is no whole number of minutes, from one minute to a year: schedules fire at full minutes; ' +
        'write @every 1m or more',
    );
  return { ok: true, fields: { everyMs } };
}

const MINUTE_MS = 60_000;
const DURATION_LENGTH_MAX = 50;

function readWord(word: string): CronReading {
  const expression = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  return expression === undefined
    ? refused(`is none of ${Object.keys(WORDS).join(', ')} and @every with a duration`)
    : readCron(expression);
}

function fires(values: readonly number[][], parts: readonly string[]): CronReading {
  const [minutes = [], hours = [], daysOfMonth = [], months = [], weekdays = []] = values;
  const daysOfWeek = [...new Set(weekdays.map((day) => day % 7))].sort((left, right) => left - right);
  const eitherDay = !parts[2]?.startsWith('*') && !parts[4]?.startsWith('*');
  const dayExists = months.some((month) => daysOfMonth.some((day) => day <= (DAYS_IN_MONTH[month - 1] ?? 0)));
  if (!dayExists && !eitherDay) return refused('never fires: no such day in these months; name a day that there is');
  return { ok: true, fields: { minutes, hours, daysOfMonth, months, daysOfWeek, eitherDay } };
}

/** Values of one field, or what is wrong with it. */
function readField(text: string, field: Field): number[] | string {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const read = readItem(item, field);
    if (typeof read === 'string') return read;
    for (const value of read) values.add(value);
  }
  return [...values].sort((left, right) => left - right);
}

function readItem(item: string, field: Field): number[] | string {
  const match = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/([0-9]{1,3}))?$/.exec(item);
  const wrong = `${field.name} ${JSON.stringify(item)} is not a value, a range or a step of ${field.min}-${field.max}`;
  if (match === null) return wrong;
  const [, first = '', last, step] = match;
  if (first === '*' && last !== undefined) return wrong;
  const from = first === '*' ? field.min : valueOf(first, field);
  // `5/15` is refused: crons disagree on what it means.
  if (step !== undefined && first !== '*' && last === undefined)
    return `${field.name} ${JSON.stringify(item)} has a step without a range`;
  const to = last === undefined ? (first === '*' ? field.max : from) : valueOf(last, field);
  if (from === undefined || to === undefined) return wrong;
  if (from > to) return `${field.name} ${JSON.stringify(item)} runs backwards`;
  const by = step === undefined ? 1 : Number(step);
  if (by < 1 || by > field.max - field.min + 1)
    return `${field.name} ${JSON.stringify(item)} has a step outside 1-${field.max - field.min + 1}`;
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
}

function valueOf(text: string, field: Field): number | undefined {
  if (/^[0-9]{1,2}$/.test(text)) {
    const value = Number(text);
    return value >= field.min && value <= field.max ? value : undefined;
  }
  const index = field.words?.indexOf(text) ?? -1;
  return index === -1 ? undefined : index;
}

function refused(message: string): CronReading {
  return { ok: false, reason: message };
}
