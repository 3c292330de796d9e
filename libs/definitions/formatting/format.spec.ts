/** What formatting changes, what it never changes, and what it refuses. */
import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { formatDefinition } from './format.ts';
import { examples, PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const READING = { uniqueKeys: false, logLevel: 'error' } as const;

const WEBHOOK = 'webhooks/orders.yaml';

function laidOut(text: string, path = WEBHOOK): string {
  const formatting = formatDefinition(path, text);
  if (!formatting.ok) throw new Error(formatting.reason);
  return formatting.text;
}

describe('a file', () => {
  it.each([
    ['blanks', 'secretName:    x   \nenabled : true', 'secretName: x\nenabled: true\n'],
    ['indentation', 'a:\n    b:\n          c: 1\n', 'a:\n  b:\n    c: 1\n'],
    ['lists below their key', 'a:\n- b\n-   c\n', 'a:\n  - b\n  - c\n'],
    ['flow collections', 'a: [ b ,c ]\nd: { e: 1 }\n', 'a: [b, c]\nd: {e: 1}\n'],
    ['long prose', `a: ${'word '.repeat(40)}end\n`, `a: ${'word '.repeat(23).trim()}\n  ${'word '.repeat(17)}end\n`],
    ['numbers', 'a: 0x1F\n', 'a: 0x1f\n'],
    ['empty lines', 'a: 1\n\n\n\nb: 2\n\n', 'a: 1\n\nb: 2\n'],
  ])('gets one layout of its %s', (_why, text, expected) => {
    expect(laidOut(text)).toBe(expected);
    expect(laidOut(expected)).toBe(expected);
  });

  it.each([
    ['comments', '# first\n\na: 1 # at a\n# between\nb:\n  # below\n  - c\n\n# last\n'],
    ['quotes', `a: 'x'\nb: "y"\nc: 'yes'\nd: "é\\n"\n`],
    ['blocks', 'a: |\n  x\n\n   y\nb: >-\n  folded text\n'],
    ['numbers', 'a: 0x1f\nb: 1.50\nc: 1e+3\nd: 0o17\ne: -0\n'],
    ['lines as long as they may be', `a: ${'word '.repeat(20)}end\n`],
    ['only comments', '# nothing\n# yet\n'],
    ['nothing', ''],
    ['keys in any order', 'b: 1\na: 2\n'],
    ['keys like prototypes', '__proto__: 1\nconstructor: 2\n'],
    ['what is no text', 'a:\nb: ~\nc: null\nd: no\n'],
  ])('keeps its %s', (_why, text) => expect(laidOut(text)).toBe(text));

  it('keeps the line ends of another system', () => {
    expect(laidOut('a:   1\r\nb: |\r\n  x\r\n  y\r\n')).toBe('a: 1\r\nb: |\r\n  x\r\n  y\r\n');
  });

  it.each([
    ['an anchor', 'a: &x 1\nb: *x\n', 'anchors'],
    ['a merge key with its anchor', 'a: &x {b: 1}\nc: {<<: *x}\n', 'anchors'],
    ['a tag', 'a: !!str 1\n', 'tags'],
    ['a directive', '%YAML 1.2\n---\na: 1\n', 'directives'],
    ['a second document', 'a: 1\n---\nb: 2\n', 'well-formed'],
    ['a tab', 'a:\n\tb: 1\n', 'well-formed'],
    ['what is no YAML', 'a: [1\n', 'well-formed'],
    ['an escape of what nobody sees', 'a: "\\u200b"\n', 'would change'],
    ['a byte order mark', '\uFEFFa: 1\n', 'byte order mark'],
    ['nesting without end', `a: ${'['.repeat(2_000)}`, 'nested'],
    ['too many words', `a: [${'1,'.repeat(60_000)}]`, 'too large'],
  ])('is refused for %s', (_why, text, reason) => {
    expect(formatDefinition(WEBHOOK, text)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe('an automation', () => {
  const PATH = 'automations/a/automation.md';

  it('keeps its prompt byte for byte', () => {
    const prompt = '\n\n  # Title  \n\n\tdo:   it\r\n---\n  a:    b\n\n\n';
    expect(laidOut(`---\ntriggers:\n- provider:   x\n---\n${prompt}`, PATH)).toBe(
      `---\ntriggers:\n  - provider: x\n---\n${prompt}`,
    );
  });

  it('whose front matter is open is refused', () => {
    expect(formatDefinition(PATH, '---\na:   1\n')).toMatchObject({ ok: false });
    expect(formatDefinition(PATH, 'a:   1\n')).toMatchObject({ ok: false });
  });
});

describe('whatever a file holds', () => {
  const values = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
  const options = fc.record({
    indent: fc.constantFrom(1, 2, 4, 7),
    indentSeq: fc.boolean(),
    lineWidth: fc.constantFrom(0, 20, 80),
    collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
    defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
  });

  it('says the same afterwards, and stays as it is from then on', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), values, { minKeys: 1 }), options, (value, style) => {
        const text = stringify(value, style);
        const formatting = formatDefinition(WEBHOOK, text);
        if (!formatting.ok) return;
        expect(parse(formatting.text)).toEqual(parse(text));
        expect(formatDefinition(WEBHOOK, formatting.text)).toEqual(formatting);
      }),
      { numRuns: examples(500) },
    );
  });

  it('hostile text is either laid out with the same meaning or refused', () => {
    const pieces = [
      'a',
      ': ',
      ':',
      '- ',
      '\n',
      '  ',
      '\t',
      '# c',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ',',
      '|',
      '>',
      '?',
      '&x',
      '*x',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 25 }), (words) => {
        const text = words.join('');
        const formatting = formatDefinition(WEBHOOK, text);
        if (!formatting.ok) return;
        expect(parse(formatting.text, READING)).toEqual(parse(text, READING));
        expect(formatDefinition(WEBHOOK, formatting.text)).toEqual(formatting);
      }),
      { numRuns: examples(3_000) },
    );
  });
});
