/** Where front matter ends, whatever a file holds, and that its splitter executes, caches and delays nothing. */
import * as fc from 'fast-check';
import matter from 'gray-matter';
import { splitFrontMatter } from './front-matter.ts';
import { sourceText } from './source-text.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

/** A file of the greatest size that consists of little else than line breaks. */
const LINE_BREAKS = 260_000;
/** The package alone takes minutes for such a file. */
const SPLIT_MICROS_MAX = 5_000_000;

const split = (text: string) => splitFrontMatter(sourceText('automations/a/automation.md', text));

describe('front matter is split from its prompt:', () => {
  it.each([
    { why: 'line breaks of another system', text: '---\r\na: 1\r\n---\r\nDo it.\r\n', yaml: 'a: 1\r\n' },
    { why: 'spaces behind the fences', text: '--- \na: 1\n---\t\nDo it.', yaml: 'a: 1\n' },
    { why: 'nothing between the fences', text: '---\n---\nDo it.', yaml: '' },
    { why: 'only comments', text: '---\n# a\n\n  # b\n---\n\n\nDo it.\n\n', yaml: '# a\n\n  # b\n' },
    { why: 'blank lines inside a value', text: '---\na: |\n  x\n\n\n  y\n---\nDo it.', yaml: 'a: |\n  x\n\n\n  y\n' },
    { why: 'a fence behind another kind of line break', text: '---\na\n\r---\r\n---\nDo it.', yaml: 'a\n\r---\r\n' },
    { why: 'an excerpt that front matter asks for', text: '---\nexcerpt_separator: x\n---\nDo it.', yaml: undefined },
  ])('$why', ({ text, yaml }) => {
    const found = split(text);
    if (!found.ok) throw new Error(found.problem.message);
    expect(found.prompt).toBe('Do it.');
    expect(text.slice(found.promptStart).trim()).toBe('Do it.');
    if (yaml !== undefined) expect(text.slice(found.yaml.start, found.yaml.end)).toBe(yaml);
  });

  it('the prompt is what stands below the closing fence, whatever stands around it', () => {
    const pieces = ['---', '\n', '\r', '\r\n', '\u2028', ' ', '\t', 'a: 1', '#', '-', 'js', '\u00a0', '\uFEFF', 'x'];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 30 });
    fc.assert(
      fc.property(texts, texts, (above, below) => {
        const text = `---\n${above.join('')}\n---\n${below.join('')}`;
        const found = split(text);
        if (!found.ok) return;
        expect(text.slice(found.promptStart)).toContain(found.prompt);
        expect(text.slice(found.promptStart).replace(found.prompt, '').trim()).toBe('');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the package that splits', () => {
  it.each(['js', 'javascript', 'json', 'coffee', 'toml', '{}'])('is not asked to read %s', (language) => {
    expect(split(`---${language}\nglobalThis.wasExecuted = true\n---\nDo it.\n`)).toMatchObject({
      ok: false,
      problem: { rule: 'front-matter-language' },
    });
    expect(globalThis).not.toHaveProperty('wasExecuted');
  });

  it('remembers no text', () => {
    split('---\na: 1\n---\nDo it.');
    expect((matter as unknown as { cache: object }).cache).toEqual({});
  });

  it.each(['\n', '\r\n', '\r', '\u2028', ' \n'])('does not delay a file full of %j', (lineBreak) => {
    const text = `---\na: 1${lineBreak.repeat(LINE_BREAKS / lineBreak.length)}\n---\nDo it.`;
    const before = process.cpuUsage();
    expect(split(text)).toMatchObject({ ok: true, prompt: 'Do it.' });
    expect(process.cpuUsage(before).user).toBeLessThan(SPLIT_MICROS_MAX);
  });
});
