/** No secret survives redaction, in whatever encoding or chunking it is printed. */
import * as fc from 'fast-check';
import { holdsSecret, redact, REDACTED, redactor } from './index.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const SECRET = 'p@ss wörd/+?&"9';

function inPieces(text: string, values: readonly string[], cuts: readonly number[]): string {
  const stream = redactor(values);
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  const pieces = places.slice(1).map((end, index) => stream.push(text.slice(places[index], end)));
  return pieces.join('') + stream.end();
}

describe('redaction', () => {
  const bytes = Buffer.from(SECRET);
  it.each([
    { form: SECRET, why: 'as it is' },
    { form: bytes.toString('hex'), why: 'hex' },
    { form: bytes.toString('hex').toUpperCase(), why: 'upper-case hex' },
    { form: encodeURIComponent(SECRET), why: 'a URL component' },
    {
      form: encodeURIComponent(SECRET).replace(/%../g, (found) => found.toLowerCase()),
      why: 'a URL component, lower-case escapes',
    },
    { form: new URLSearchParams({ a: SECRET }).toString().slice(2), why: 'a form field' },
    { form: bytes.toString('hex').replace(/../g, '%$&'), why: 'every byte escaped' },
    { form: JSON.stringify(SECRET).slice(1, -1), why: 'inside JSON' },
  ])('hides it $why', ({ form }) => {
    expect(redact(`before ${form} after`, [SECRET])).toBe(`before ${REDACTED} after`);
  });

  it.each(['base64', 'base64url'] as const)('hides it in %s wherever it stands inside', (encoding) => {
    for (const before of ['', 'u', 'us', 'use', 'user:']) {
      for (const after of ['', '1', '12', '123']) {
        const encoded = Buffer.from(before + SECRET + after).toString(encoding);
        const left = redact(encoded, [SECRET]);
        expect(left).toContain(REDACTED);
        // What is left of the text decodes to the neighbours and at most the bits that a shared character carries.
        expect(left.replace(REDACTED, '').length).toBeLessThanOrEqual(
          Buffer.from(before + after).toString('base64').length + 4,
        );
      }
    }
  });

  it('hides the value without its final line break too', () => {
    expect(redact('is long-enough-value!', ['long-enough-value\n'])).toBe(`is ${REDACTED}!`);
  });

  it('leaves text alone that holds no secret, and ignores values too short to be injected', () => {
    expect(redact('abcdefg', ['abcdefg'])).toBe('abcdefg');
    expect(redact('ordinary output', ['abcdefgh'])).toBe('ordinary output');
    expect(redact('', ['abcdefgh', ''])).toBe('');
  });

  it('gives text out at once unless it may be the start of a secret', () => {
    const stream = redactor(['abcdefgh']);
    expect(stream.push('hello ab')).toBe('hello ');
    expect(stream.push('x')).toBe('abx');
    expect(stream.push('abcdefg')).toBe('');
    expect(stream.push('h.')).toBe(`${REDACTED}.`);
  });

  it('hides the long start of a secret when the text ends in the middle of it', () => {
    expect(redact('key: abcdefghijkl', ['abcdefghijklmnop'])).toBe(`key: ${REDACTED}`);
    expect(redact('key: abc', ['abcdefghijklmnop'])).toBe('key: abc');
  });

  it('hides overlapping secrets as one', () => {
    expect(redact('xabcdefghijklx', ['abcdefgh', 'efghijkl'])).toBe(`x${REDACTED}x`);
  });

  // Small alphabets make overlaps, repetitions and prefixes of one another likely.
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 12 });
  const texts = fc
    .array(fc.oneof(letters, fc.constantFrom('a', 'b', 'c')), { maxLength: 12 })
    .map((parts) => parts.join(''));

  it('does not depend on how the text is cut', () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(letters, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (text, values, cuts) => {
          expect(inPieces(text, values, cuts)).toBe(redact(text, values));
        },
      ),
      { numRuns: examples(2_000) },
    );
  });

  it('finds what it would hide, and nothing else', () => {
    fc.assert(
      fc.property(texts, fc.array(letters, { minLength: 1, maxLength: 3 }), (text, values) =>
        expect(holdsSecret(`${text}.`, values)).toBe(redact(`${text}.`, values) !== `${text}.`),
      ),
      { numRuns: examples(2_000) },
    );
  });

  it('hides exactly the characters of every occurrence, and keeps the rest', () => {
    fc.assert(
      fc.property(texts, fc.array(letters, { minLength: 1, maxLength: 3 }), (text, values) => {
        const closed = `${text}.`;
        expect(redact(closed, values).replaceAll(REDACTED, '')).toBe(naive(closed, values));
      }),
      { numRuns: examples(2_000) },
    );
  });

  function naive(text: string, values: readonly string[]): string {
    const hidden = values.flatMap((value) =>
      Array.from(text, (_, at) => (text.startsWith(value, at) ? [at, at + value.length] : [0, 0])),
    );
    return Array.from(text)
      .filter((_, at) => !hidden.some(([start = 0, end = 0]) => at >= start && at < end))
      .join('');
  }
});
