/** Timestamps and encodings read exactly, or not at all. */
import * as fc from 'fast-check';
import { decodeBase64 } from './encodings.ts';
import { parseTimestamp, timeliness } from './timestamps.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

describe('parseTimestamp, RFC 3339', () => {
  it.each([
    { text: '2020-01-01T00:00:00Z', ms: Date.UTC(2020, 0, 1), why: 'UTC' },
    { text: '2020-01-01T00:00:00-07:00', ms: Date.UTC(2020, 0, 1, 7), why: 'with an offset' },
    {
      text: '2020-01-01T00:00:00.123456789+00:30',
      ms: Date.UTC(2019, 11, 31, 23, 30, 0, 123),
      why: 'fractions beyond milliseconds are cut',
    },
    { text: '2020-02-29T12:00:00Z', ms: Date.UTC(2020, 1, 29, 12), why: 'a leap day' },
    { text: '2021-02-29T12:00:00Z', ms: undefined, why: 'no leap day: must not roll over into March' },
    { text: '2020-01-01T24:00:00Z', ms: undefined, why: 'hour 24 rolls over' },
    { text: '2020-01-01T00:00:60Z', ms: undefined, why: 'second 60' },
    { text: '2020-13-01T00:00:00Z', ms: undefined, why: 'month 13' },
    { text: '2020-01-01T00:00:00', ms: undefined, why: 'no zone: local time differs by machine' },
    { text: '2020-01-01 00:00:00Z', ms: undefined, why: 'a space' },
    { text: '2020-01-01T00:00:00+24:00', ms: undefined, why: 'no such offset' },
    { text: '2020-01-01T00:00:00ZZ', ms: undefined, why: 'something follows' },
    { text: '1577836800', ms: undefined, why: 'another format' },
    { text: 'Wed, 01 Jan 2020 00:00:00 GMT', ms: undefined, why: 'Date.parse takes nearly anything' },
  ])('$text: $why', ({ text, ms }) => {
    expect(parseTimestamp(text, 'rfc3339')).toBe(ms);
  });

  it('reads back what is printed', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
        expect(parseTimestamp(date.toISOString(), 'rfc3339')).toBe(date.getTime());
      }),
    );
  });
});

describe('timeliness', () => {
  it.each([
    { ageMs: 0, expected: 'timely' },
    { ageMs: 300_000, expected: 'timely' },
    { ageMs: -300_000, expected: 'timely' },
    { ageMs: 300_001, expected: 'stale' },
    { ageMs: -300_001, expected: 'future' },
  ])('$ageMs ms is $expected', ({ ageMs, expected }) => {
    expect(timeliness(1_000_000_000_000 - ageMs, 1_000_000_000_000, 300)).toBe(expected);
  });
});

describe('strict decoding', () => {
  it('has exactly one text for every value', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 70 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        expect(decodeBase64(buffer.toString('base64'))).toEqual(buffer);
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (text) => {
        const base64 = decodeBase64(text);
        if (base64 !== undefined) expect(Buffer.from(base64).toString('base64')).toBe(text);
      }),
    );
  });

  it.each(['', 'QQ', 'QQ=', 'QR==', 'QQ==\n', ' QQ==', 'Q Q==', 'QQ==QQ==', '-_-_', 'QQ===', '===='])(
    'base64 %j is refused',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});
