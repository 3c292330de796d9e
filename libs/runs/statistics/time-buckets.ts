/**
 * Spans of time cut into buckets of a round length, for charts: aligned in UTC, without gaps. contract §12.2.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Lengths that people read off a chart, shortest first. Milliseconds. */
export const BUCKET_LENGTHS_MS: readonly number[] = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7].map((days) => days * DAY_MS),
];

/** A Monday: weeks begin with it, and so do all shorter buckets. */
const ORIGIN_MS = 4 * DAY_MS;

/** Times are milliseconds since the epoch; bucket `n` is [`fromMs + n × lengthMs`, `fromMs + (n + 1) × lengthMs`). */
export interface TimeBuckets {
  fromMs: number;
  lengthMs: number;
  /** At least 1. */
  count: number;
}

/**
 * The buckets that hold [`sinceMs`, `untilMs`), which is not empty: of the length that comes nearest to `wanted` (at
 * least 1) of them, less than twice as many.
 */
export function timeBuckets(sinceMs: number, untilMs: number, wanted: number): TimeBuckets {
  const lengthMs = lengthFor(untilMs - sinceMs, wanted);
  const fromMs = ORIGIN_MS + Math.floor((sinceMs - ORIGIN_MS) / lengthMs) * lengthMs;
  return { fromMs, lengthMs, count: Math.ceil((untilMs - fromMs) / lengthMs) };
}

/** Of two that come equally near, the longer one. */
function lengthFor(spanMs: number, wanted: number): number {
  const missOf = (lengthMs: number): number => Math.abs(spanMs / lengthMs - wanted);
  return BUCKET_LENGTHS_MS.reduce((best, lengthMs) => (missOf(lengthMs) <= missOf(best) ? lengthMs : best));
}
