/** Round lengths, and buckets that lie where people expect them. */
import * as fc from 'fast-check';
import { BUCKET_LENGTHS_MS, timeBuckets } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);

describe('timeBuckets', () => {
  it.each([
    [
      'a day in halves of hours',
      '2026-03-28T12:00:00Z',
      '2026-03-29T12:00:00Z',
      48,
      '2026-03-28T12:00:00Z',
      30 * MINUTE_MS,
      48,
    ],
    [
      'a day that begins within a bucket',
      '2026-03-28T12:10:00Z',
      '2026-03-29T12:10:00Z',
      48,
      '2026-03-28T12:00:00Z',
      30 * MINUTE_MS,
      49,
    ],
    ['a week', '2026-03-01T00:00:00Z', '2026-03-08T00:00:00Z', 48, '2026-03-01T00:00:00Z', 3 * HOUR_MS, 56],
    ['31 days by day', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 31, '2026-03-01T00:00:00Z', DAY_MS, 31],
    [
      'weeks begin on Mondays',
      '2026-03-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
      1,
      '2026-02-23T00:00:00Z',
      7 * DAY_MS,
      6,
    ],
    ['a millisecond', '2026-03-01T00:00:59.999Z', '2026-03-01T00:01:00Z', 200, '2026-03-01T00:00:00Z', MINUTE_MS, 1],
    [
      'two milliseconds in two buckets',
      '2026-03-01T00:00:59.999Z',
      '2026-03-01T00:01:00.001Z',
      1,
      '2026-03-01T00:00:00Z',
      MINUTE_MS,
      2,
    ],
    ['the first minute', '1970-01-01T00:00:00Z', '1970-01-01T00:01:00Z', 1, '1970-01-01T00:00:00Z', MINUTE_MS, 1],
  ])('%s', (_name, since, until, wanted, from, lengthMs, count) => {
    expect(timeBuckets(at(since), at(until), wanted)).toEqual({ fromMs: at(from), lengthMs, count });
  });

  it('cover the span and not a whole bucket more, in a round length, less than twice as many as wanted', () => {
    const span = fc.record({
      since: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      span: fc.integer({ min: 1, max: 31 * DAY_MS }),
      wanted: fc.integer({ min: 1, max: 200 }),
    });
    fc.assert(
      fc.property(span, ({ since, span: spanMs, wanted }) => {
        const until = since + spanMs;
        const buckets = timeBuckets(since, until, wanted);
        const first = buckets.fromMs;
        const last = first + buckets.count * buckets.lengthMs;
        expect(BUCKET_LENGTHS_MS).toContain(buckets.lengthMs);
        expect(
          first <= since && since < first + buckets.lengthMs && last - buckets.lengthMs < until && until <= last,
        ).toBe(true);
        if (buckets.lengthMs <= DAY_MS) expect(first % buckets.lengthMs).toBe(0);
        // One more at either end, where the span begins and ends within a bucket. A span of 31 days has five weeks,
        // however few are wanted.
        if (buckets.lengthMs < 7 * DAY_MS) expect(buckets.count).toBeLessThanOrEqual(2 * wanted + 1);
      }),
    );
  });
});
