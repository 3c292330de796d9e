/** Times on the wire, there and back. */
import { fromTime, toTime } from './queries.ts';

describe('a time', () => {
  it.each([
    { text: '2026-01-02T03:04:05Z', utc: '2026-01-02T03:04:05.000Z', why: 'UTC' },
    { text: '2026-01-02t03:04:05.678z', utc: '2026-01-02T03:04:05.678Z', why: 'RFC 3339 knows no case' },
    { text: '2026-01-02T03:04:05+05:30', utc: '2026-01-01T21:34:05.000Z', why: 'an offset' },
    { text: '2026-01-02T03:04:05.123456789Z', utc: '2026-01-02T03:04:05.123Z', why: 'finer than we count' },
    { text: '2016-12-31T23:59:60Z', utc: '2016-12-31T23:59:59.000Z', why: 'a leap second' },
    { text: '2017-01-01T05:29:60.5+05:30', utc: '2016-12-31T23:59:59.500Z', why: 'a leap second elsewhere' },
  ])('$text is $utc: $why', ({ text, utc }) => {
    expect(toTime(fromTime(text))).toBe(utc);
  });
});
