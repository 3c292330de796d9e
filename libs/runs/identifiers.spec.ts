/** Identifiers are well-formed UUIDv7, unique, and sort in the order in which they were made. */
import * as fc from 'fast-check';
import { firstUuidv7, isUuid, uuidv7, uuidv7Sequence } from './index.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
const times = fc.integer({ min: 0, max: 2 ** 48 - 2 });

describe('uuidv7', () => {
  it('agrees with the example of RFC 9562, appendix A.6', () => {
    const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f]);
    expect(uuidv7(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });

  it('is a canonical UUID of version 7 that carries its time', () => {
    fc.assert(
      fc.property(times, bytes, (now, random) => {
        const id = uuidv7(now, random);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now);
        expect(isUuid(id)).toBe(true);
      }),
    );
  });

  it('refuses too few random bytes', () => {
    expect(() => uuidv7(0, new Uint8Array(9))).toThrow(RangeError);
  });
});

describe('the first uuidv7', () => {
  it('of a time is before none of that time, and behind all of the time before', () => {
    fc.assert(
      fc.property(times, bytes, (now, random) => {
        const first = firstUuidv7(now);
        expect([isUuid(first), uuidv7(now, random) >= first, uuidv7(now, random) < firstUuidv7(now + 1)]).toEqual([
          true,
          true,
          true,
        ]);
      }),
    );
  });

  it('of a time that no ID can name is that of the nearest one', () => {
    expect(firstUuidv7(-1)).toBe(firstUuidv7(0));
    expect(firstUuidv7(2 ** 60)).toBe(firstUuidv7(2 ** 48 - 1));
    expect(firstUuidv7(7.9)).toBe(firstUuidv7(7));
  });
});

describe('a sequence of uuidv7', () => {
  it('only grows, whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1_000, max: 1_004 }), { minLength: 2, maxLength: 200 }),
        bytes,
        (clock, random) => {
          const next = uuidv7Sequence(() => random);
          const ids = clock.map(next);
          expect(ids).toEqual([...new Set(ids)].sort());
        },
      ),
    );
  });

  it('keeps growing when one millisecond is full', () => {
    const next = uuidv7Sequence((count) => new Uint8Array(count).fill(0xff));
    const ids = Array.from({ length: 10_000 }, () => next(5));
    expect(ids).toEqual([...new Set(ids)].sort());
  });
});

describe('isUuid', () => {
  it.each([
    '',
    '../../etc',
    '017F22E2-79B0-7CC3-98C4-DC0C0C07398F',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n',
    '017f22e279b07cc398c4dc0c0c07398f',
  ])('refuses %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});
