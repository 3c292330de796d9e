/** Looking for many patterns costs what the text costs, and finds what looking for each of them would find. */
import * as fc from 'fast-check';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';
import { patternMatcher } from './pattern-matcher.ts';
import { INJECTABLE_SUM_BYTES_MAX, INJECTABLE_VALUE_BYTES_MAX, matcherOf, redactor } from './index.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

/** For each place of the text: length of the longest pattern that ends there, and what could go on from there. */
function scanned(text: string, patterns: readonly string[]): { found: number[]; open: number[] } {
  const matcher = patternMatcher(patterns);
  const [found, open]: [number[], number[]] = [[], []];
  for (let at = 0, state = 0; at < text.length; at += 1) {
    state = matcher.next(state, text.charCodeAt(at));
    found.push(matcher.matchLength(state));
    open.push(matcher.openLength(state));
  }
  return { found, open };
}

/** The same by asking every pattern at every place. */
function naivelyScanned(text: string, patterns: readonly string[]): { found: number[]; open: number[] } {
  const ends = Array.from({ length: text.length }, (_, at) => text.slice(0, at + 1));
  const longest = (lengths: number[]): number => Math.max(0, ...lengths);
  return {
    found: ends.map((end) => longest(patterns.flatMap((one) => (end.endsWith(one) ? [one.length] : [])))),
    open: ends.map((end) =>
      longest(
        patterns.flatMap((one) =>
          Array.from({ length: one.length }, (_, at) => at + 1).filter((length) => end.endsWith(one.slice(0, length))),
        ),
      ),
    ),
  };
}

describe('a pattern matcher', () => {
  const units = fc.constantFrom('a', 'b', '\ud83d', '\ude00', '\0', '́');
  const strings = (maxLength: number): fc.Arbitrary<string> =>
    fc.array(units, { minLength: 1, maxLength }).map((parts) => parts.join(''));

  it('finds what asking for every pattern at every place finds, in text of any units', () => {
    fc.assert(
      fc.property(strings(40), fc.array(strings(6), { minLength: 1, maxLength: 8 }), (text, patterns) => {
        expect(scanned(text, patterns)).toEqual(naivelyScanned(text, patterns));
      }),
      { numRuns: examples(3_000) },
    );
  });

  it('finds a pattern before a combining mark and inside of a character of two units', () => {
    expect(scanned('keý', ['key']).found).toEqual([0, 0, 3, 0]);
    expect(scanned('👍', ['\udc4d']).found).toEqual([0, 1]);
  });

  describe('against a hundred values of one letter', () => {
    const values = Array.from({ length: 100 }, (_, at) => 'a'.repeat(INJECTABLE_VALUE_BYTES_MAX - at));
    it.each([
      { text: 'a'.repeat(131_072), why: 'all of it hidden' },
      { text: `${'a'.repeat(INJECTABLE_VALUE_BYTES_MAX - 100)}b`.repeat(16), why: 'nearly a value, again and again' },
      { text: `${'a'.repeat(7)}b`.repeat(32_768), why: 'the beginning of one, again and again' },
    ])('looks at no more than two states for a character: $why', ({ text }) => {
      const matcher = matcherOf(values);
      const before = matcher?.visits ?? 0;
      const stream = redactor(values);
      for (let at = 0; at < text.length; at += 65_536) stream.push(text.slice(at, at + 65_536));
      stream.end();
      const visits = (matcher?.visits ?? 0) - before;
      expect(visits).toBeGreaterThanOrEqual(text.length);
      expect(visits).toBeLessThanOrEqual(2 * text.length);
    });
  });

  it('is made once for the values of an execution, and again where the list has grown', () => {
    const values = ['long-enough-value'];
    const first = matcherOf(values);
    expect(matcherOf(values)).toBe(first);
    values.push('another-long-value');
    const stream = redactor(values);
    expect(stream.push('say another-long-value.') + stream.end()).toBe('say [redacted].');
  });

  it('takes as many states as the bound of values allows, and no more', () => {
    const each = INJECTABLE_SUM_BYTES_MAX / 4;
    // Control characters have the longest forms: escapes in JSON in JSON in JSON.
    const values = [1, 2, 3, 4].map((first) =>
      Array.from({ length: each }, (_, at) => String.fromCharCode(1 + ((first * at * at + at) % 31))).join(''),
    );
    const matcher = matcherOf(values) as unknown as { units: Uint16Array };
    expect(matcher.units.length).toBeLessThan(40 * INJECTABLE_SUM_BYTES_MAX);
  });
});
