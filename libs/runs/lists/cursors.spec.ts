/** Cursors give their key back to the query they were made for, and to no other text or query. */
import * as fc from 'fast-check';
import { decodeCursor, encodeCursor, queryDigest } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const keys = fc.array(
  fc.oneof(fc.string({ maxLength: 50 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
  {
    minLength: 1,
    maxLength: 3,
  },
);

describe('a cursor', () => {
  it('comes back as it went out, for the query it was made for', () => {
    fc.assert(
      fc.property(keys, fc.string(), (key, seed) => {
        const query = queryDigest({ seed });
        const text = encodeCursor({ query, key });
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeCursor(text, query)).toEqual({ ok: true, key: JSON.parse(JSON.stringify(key)) as unknown });
        expect(decodeCursor(text, queryDigest({ seed, other: true }))).toEqual({ ok: false });
      }),
    );
  });

  it('is never read out of anything else', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(decodeCursor(text, 'q')).toEqual({ ok: false })));
  });

  const written = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    { text: written([2, 'q', ['a']]), why: 'another format' },
    { text: written([1, 'q', []]), why: 'an empty key' },
    { text: written([1, 'q', [{}]]), why: 'a key that is no scalar' },
    { text: written([1, 'q']), why: 'no key' },
    { text: written(null), why: 'no list' },
    { text: `${written([1, 'q', ['a']])}=`, why: 'padding' },
    { text: written([1, 'q', ['a'.repeat(5_000)]]), why: 'longer than any we make' },
  ])('refuses $why', ({ text }) => {
    expect(decodeCursor(text, 'q')).toEqual({ ok: false });
  });

  it('is bound to what is asked, not to the order it is written in', () => {
    expect(queryDigest({ a: 1, b: ['x'] })).toBe(queryDigest({ b: ['x'], a: 1, c: undefined }));
    expect(queryDigest({ a: 1 })).not.toBe(queryDigest({ a: '1' }));
    expect(queryDigest({ a: ['x', 'y'] })).not.toBe(queryDigest({ a: ['y', 'x'] }));
  });
});
