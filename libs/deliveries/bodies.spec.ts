/** Which bytes are one JSON text, and that nothing valid is refused. */
import * as fc from 'fast-check';
import { BODY_BYTES_MAX, parseJsonBody } from './index.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** Calls `attempt` at the bottom of `depth` frames. */
function deepInside<T>(depth: number, attempt: () => T): T {
  return depth === 0 ? attempt() : deepInside(depth - 1, attempt);
}

/** How many levels of arrays or objects stand above the first scalar, found without recursion. */
function nestingOf(value: unknown): number {
  let depth = 0;
  for (let at = value; typeof at === 'object' && at !== null; at = Object.values(at)[0]) depth += 1;
  return depth;
}

describe('parseJsonBody', () => {
  it.each([
    { body: bytes('{}'), value: {}, why: 'an object' },
    { body: bytes(' [1 , 2]\r\n\t'), value: [1, 2], why: 'whitespace around' },
    { body: bytes('null'), value: null, why: 'a scalar' },
    { body: bytes('""'), value: '', why: 'a scalar' },
    { body: bytes('-0.5e-3'), value: -0.0005, why: 'a scalar' },
    { body: bytes('{"a":1,"a":2}'), value: { a: 2 }, why: 'duplicate keys' },
    { body: bytes('"\\ud800"'), value: '\ud800', why: 'a lone surrogate escape' },
    { body: bytes('"\\u0000"'), value: '\0', why: 'an escaped NUL' },
    { body: bytes('1e999'), value: Infinity, why: 'a number beyond a double' },
    { body: bytes('12345678901234567890123'), value: 1.2345678901234568e22, why: 'a huge integer' },
    { body: bytes('{"ä":"☃😀"}'), value: { ä: '☃😀' }, why: 'UTF-8' },
    { body: bytes('"\u2028\ufeff"'), value: '\u2028\ufeff', why: 'a byte order mark inside a string is a character' },
  ])('valid: $why', ({ body, value }) => {
    expect(parseJsonBody(body)).toEqual({ ok: true, value });
  });

  it.each([
    { body: new Uint8Array(), why: 'empty' },
    { body: bytes(' \n'), why: 'only whitespace' },
    { body: bytes('\ufeff{}'), why: 'a byte order mark' },
    { body: bytes('{}\ufeff'), why: 'a byte order mark at the end' },
    { body: bytes('{} {}'), why: 'two texts' },
    { body: bytes('{}\0'), why: 'a NUL behind' },
    { body: bytes('{"a":1,}'), why: 'a trailing comma' },
    { body: bytes('{a:1}'), why: 'no JSON' },
    { body: bytes("{'a':1}"), why: 'no JSON' },
    { body: bytes('// x\n{}'), why: 'a comment' },
    { body: bytes('01'), why: 'a leading zero' },
    { body: bytes('NaN'), why: 'no JSON' },
    { body: bytes('undefined'), why: 'no JSON' },
    { body: bytes('"a\nb"'), why: 'a raw control character in a string' },
    { body: bytes('payload=%7B%7D'), why: 'a form' },
    { body: bytes('\u00a0{}'), why: 'whitespace that JSON does not know' },
    { body: Buffer.from('1f8b08000000000000ffabae050043bfa6a302000000', 'hex'), why: 'gzip of {}' },
    { body: Buffer.from('22ff22', 'hex'), why: 'no UTF-8: a byte that never occurs' },
    { body: Buffer.from('22c328', 'hex'), why: 'no UTF-8: cut sequence' },
    { body: Buffer.from('22c0af22', 'hex'), why: 'no UTF-8: overlong' },
    { body: Buffer.from('22eda08022', 'hex'), why: 'no UTF-8: an encoded surrogate' },
    { body: Buffer.from('22f490808022', 'hex'), why: 'no UTF-8: beyond U+10FFFF' },
    { body: Buffer.from('fffe7b007d00', 'hex'), why: 'UTF-16' },
    { body: Buffer.from('7b007d00', 'hex'), why: 'UTF-16 without a mark' },
    { body: bytes('['.repeat(BODY_BYTES_MAX)), why: 'deep and never closed' },
  ])('invalid: $why', ({ body }) => {
    expect(parseJsonBody(body)).toEqual({ ok: false });
    expect(parseJsonBody(bytes('1'))).toEqual({ ok: true, value: 1 });
  });

  it('makes __proto__ an own property and touches no prototype', () => {
    const parsed = parseJsonBody(bytes('{"__proto__":{"polluted":1},"constructor":2}'));
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__', 'constructor']);
    expect('polluted' in {}).toBe(false);
  });

  it.each([
    { what: 'arrays', body: '['.repeat(131_072) + ']'.repeat(131_072), depth: 131_072 },
    { what: 'objects', body: `${'{"":'.repeat(52_000)}1${'}'.repeat(52_000)}`, depth: 52_000 },
  ])('takes any nesting of $what the size allows, also from deep inside a call stack', ({ body, depth }) => {
    expect(body.length).toBeLessThanOrEqual(BODY_BYTES_MAX);
    for (const frames of [0, 1000, 4000]) {
      const parsed = deepInside(frames, () => parseJsonBody(bytes(body)));
      expect(parsed.ok && nestingOf(parsed.value)).toBe(depth);
    }
  });

  it('never calls a valid body invalid, not even at the very end of the stack', () => {
    const deep = bytes('['.repeat(131_072) + ']'.repeat(131_072));
    const verdicts = new Set<boolean>();
    let attempts = 0;
    const exhaust = (): void => {
      try {
        exhaust();
      } catch (error) {
        attempts += 1;
        if (attempts <= 40) verdicts.add(parseJsonBody(deep).ok);
        throw error;
      }
    };
    expect(exhaust).toThrow(/call stack/u);
    expect(verdicts.has(false)).toBe(false);
  });

  it('agrees with JSON.parse on every text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        let expected: unknown;
        try {
          expected = { ok: true, value: JSON.parse(Buffer.from(text).toString()) as unknown };
        } catch {
          expected = { ok: false };
        }
        expect(parseJsonBody(bytes(text))).toEqual(expected);
      }),
    );
  });
});
