/** When a call is sent again, and after how long. */
import type { Clock } from './clock.ts';

/** The pause before the first retry; each further one doubles it. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 8_000;
/** No service makes a call wait longer. */
const ASKED_PAUSE_MS_MAX = 60_000;
/** Pauses are shortened by up to this part, so that many clients do not come at once. */
const JITTER = 0.25;

/** Whether an answer of this status can be another one the next time. `x-should-retry` goes before the status. */
export function isRetryable(response: Response, hasPassingConflicts: boolean): boolean {
  const told = response.headers.get('x-should-retry');
  if (told === 'true') return true;
  if (told === 'false') return false;
  const { status } = response;
  return status === 408 || status === 429 || status >= 500 || (status === 409 && hasPassingConflicts);
}

/**
 * Milliseconds before the next attempt: what the service asks for, else longer from time to time. `retries`: how many
 * there were.
 */
export function pauseMs(retries: number, headers: Headers | undefined, clock: Clock): number {
  const asked = headers === undefined ? undefined : askedPauseMs(headers, clock);
  if (asked !== undefined) return Math.min(asked, ASKED_PAUSE_MS_MAX);
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** retries) * (1 - JITTER * clock.random());
}

/**
 * Milliseconds before a stream is opened again: never less than the pause of our own, because this may go on for a
 * minute.
 */
export function reconnectPauseMs(losses: number, headers: Headers | undefined, clock: Clock): number {
  const asked = headers === undefined ? undefined : askedPauseMs(headers, clock);
  return Math.max(pauseMs(losses, undefined, clock), Math.min(asked ?? 0, ASKED_PAUSE_MS_MAX));
}

/** Milliseconds that the service asks to wait, however many; undefined when it asks for none, or unreadably. */
export function askedPauseMs(headers: Headers, clock: Clock): number | undefined {
  return readNumber(headers.get('retry-after-ms')) ?? readRetryAfter(headers.get('retry-after'), clock);
}

function readRetryAfter(text: string | null, clock: Clock): number | undefined {
  const seconds = readNumber(text);
  if (seconds !== undefined) return seconds * 1_000;
  const date =
    text !== null && HTTP_DATE.test(text) ? Date.parse(/GMT|[+-]\d{4}$/.test(text) ? text : `${text} GMT`) : Number.NaN;
  const ms = date - clock.dateMs();
  return ms >= 0 ? ms : undefined;
}

/**
 * All three forms of RFC 9110 begin with the day of the week, and one names no zone: all are meant in GMT. So that
 * `Date.parse` is not asked about just anything.
 */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

function readNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,12}(?:\.\d{0,12})?\s*$/.test(text) ? Number(text) : undefined;
}
