/** How far back a chart looks, and how finely. */

/** `name` stands in addresses. */
export const SPANS = [
  { name: '1h', hours: 1, label: '1 h', words: 'the last hour', buckets: 60 },
  { name: '24h', hours: 24, label: '24 h', words: 'the last 24 hours', buckets: 48 },
  { name: '7d', hours: 168, label: '7 days', words: 'the last 7 days', buckets: 42 },
  { name: '31d', hours: 744, label: '31 days', words: 'the last 31 days', buckets: 31 },
] as const;
export type Span = (typeof SPANS)[number];

export const DAY: Span = SPANS[1];
const HOUR_MS = 3_600_000;
/** What one request may ask for. */
const LONGEST_HOURS = 744;

/** In words. */
export function spanWords(hours: number): string {
  return SPANS.find((span) => span.hours === hours)?.words ?? `the last ${hours} hours`;
}

/**
 * What is asked of the server: up to its own now, whatever this machine's clock says; only the longest span is given
 * both ends, so that it is not a moment too long.
 */
export function spanQuery(hours: number, nowMs: number): { since?: string; until?: string; buckets: number } {
  const buckets = SPANS.find((span) => span.hours === hours)?.buckets ?? DAY.buckets;
  if (hours === DAY.hours) return { buckets };
  const since = new Date(nowMs - hours * HOUR_MS).toISOString();
  return hours < LONGEST_HOURS ? { since, buckets } : { since, until: new Date(nowMs).toISOString(), buckets };
}

/** How a bucket is written, by its begin, in the viewer's zone. */
export interface TimeTexts {
  /** Short: the day where the span has several, else the time of day. */
  axis: (from: string) => string;
  /** Begin and end. */
  whole: (from: string) => string;
  /** Begin of the first and end of the last, with their days, where the axis shows only times of day. */
  ends: ((first: string, last: string) => readonly [begin: string, end: string]) | undefined;
}

export function timeTexts(bucketSeconds: number, hours: number): TimeTexts {
  const isWithDays = hours > DAY.hours;
  const axis = new Intl.DateTimeFormat(
    undefined,
    isWithDays ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' },
  );
  const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
  const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
  const whole = (from: string): string => {
    const [begin, end] = [new Date(from), new Date(Date.parse(from) + bucketSeconds * 1_000)];
    const isOneDay = day.format(begin) === day.format(end);
    return (
      `${day.format(begin)}, ${clock.format(begin)} ` +
      `– ${isOneDay ? '' : `${day.format(end)}, `}${clock.format(end)}`
    );
  };
  const withDay = (at: number): string => `${day.format(at)}, ${clock.format(at)}`;
  const ends = (first: string, last: string) =>
    [withDay(Date.parse(first)), withDay(Date.parse(last) + bucketSeconds * 1_000)] as const;
  return { axis: (from) => axis.format(new Date(from)), whole, ends: isWithDays ? undefined : ends };
}
