/**
 * A hundred and more mistakes of a tired author, each with the message that is told first. Of every one: what was
 * found, what was expected, where, and the way out. contract §8, §11.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { checkReferences, isRuleId, readDefinitions, type Problem } from '#definitions';
import { fileOf, treeOf, type Mistake } from './tree-of-mistake.ts';

const CASES = join(dirname(fileURLToPath(import.meta.url)), 'cases');
const MISTAKES = readdirSync(CASES).flatMap((file) => parse(readFileSync(join(CASES, file), 'utf8')) as Mistake[]);
const MISTAKES_MIN = 100;

/** What is told of a mistake: of its own file, in the order in which people read it. */
function toldOf(mistake: Mistake): Problem[] {
  const { path } = fileOf(mistake);
  const { problems } = checkReferences(readDefinitions(treeOf(mistake)), { today: '2026-11-23' });
  return problems.filter((problem) => problem.path === path);
}

/** Words for what was found where the message does not repeat it: its kind, or that it is not there. */
const KINDS = new RegExp(
  [
    String.raw`\bnot (?:a |an |true or false|null)`,
    String.raw`\bfound (?:a|an|nothing|string|array)\b`,
    String.raw`\b(?:missing|empty|at least 1 entry|selects no|twice|same as|also listed|looks like)\b`,
    String.raw`\bstands (?:in|beside)\b`,
    String.raw`\b(?:anchors|merge keys|tags|directives|a second YAML document)\b`,
    String.raw`\b(?:front matter is opened|a merge has left)\b`,
    String.raw`\b(?:expected ---|the first line|front matter is YAML|keys must be strings|not well-formed YAML: )`,
    String.raw`\bneeds a\b`,
    String.raw`\b(?:nothing is read from here|is a GitHub token|is no key|goes with)\b`,
    String.raw`\b(?:cannot identify|name of a header)\b`,
  ].join('|'),
);
/** Words for what is right. */
const EXPECTED = new RegExp(
  [
    String.raw`\bmust (?:be|have)\b|\bexpected\b|\bis not one of\b|\bknown keys are\b|\bdid you mean\b|\btakes?\b`,
    String.raw`\b(?:write|add|name|list|remove|put|close|indent|needs|decide|replace|quote|end it with)\b`,
    String.raw`\bis an object of\b|\bholds one\b|\bnot five \(|\bis none of\b|\bis not a value, a range\b|\bonly\b`,
  ].join('|'),
);
/** What an author does about it: one word in place of another, an act, or one of the values that are listed. */
const WAY_OUT = new RegExp(
  [
    String.raw`did you mean .+\?`,
    String.raw`(?:[;:,]|^| or) (?:write|add|name|list|remove|put|close|indent|begin|wrap|move|quote|end|set|decide)\b`,
    String.raw`\bis not one of (?:\w+, )+\w+`,
    String.raw`\bknown keys are \w+`,
    String.raw`\bmust (?:be|have) (?:[\w]+ or (?:more|less)|received|at least|--- alone|the name of a header, such as)`,
    String.raw`\bexpected --- on the first line: `,
    String.raw`\bis none of @|\bof \d+-\d+$|\(minute hour day-of-month month day-of-week\)$|\bnames are 1 to 63 of`,
    String.raw`\bonly strings, numbers|, such as (?:\{|\d)|: move it to`,
  ].join('|'),
);

/** Texts in quotes that the author wrote, or the last part of a path in them. */
function quotedIn(message: string): string[] {
  return [...message.matchAll(/"((?:[^"\\]|\\.)+)"/g)].map(([, text = '']) => JSON.parse(`"${text}"`) as string);
}

describe('mistakes of a tired author', () => {
  it(`are ${MISTAKES_MIN} at least, no two alike`, () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(MISTAKES_MIN);
    const files = MISTAKES.map((mistake) => JSON.stringify(fileOf(mistake)));
    expect(new Set(files).size).toBe(files.length);
  });

  it.each(MISTAKES)('$mistake is told of by its rule, with its message', (mistake) => {
    const [told] = toldOf(mistake);
    const { rule, line, column, message } = told ?? {};
    expect({ rule, at: `${line}:${column}`, message }).toEqual({
      rule: mistake.rule,
      at: mistake.at,
      message: mistake.message,
    });
    expect(isRuleId(mistake.rule)).toBe(true);
  });

  describe.each(MISTAKES)('of $mistake', (mistake) => {
    const { path, text } = fileOf(mistake);

    it('the message says what was found', () => {
      const isRepeated = quotedIn(mistake.message).some((quoted) => `${path}\n${text}`.includes(quoted));
      const isNumber = [...mistake.message.matchAll(/-?\d+/g)].some(([number]) => text.includes(number));
      expect(isRepeated || isNumber || KINDS.test(mistake.message) ? '' : mistake.message).toBe('');
    });

    it('the message says what was expected', () => {
      expect(mistake.message).toMatch(EXPECTED);
    });

    it('the place is one that the file has', () => {
      const [line = 0, column = 0] = mistake.at.split(':').map(Number);
      const lines = text.split('\n');
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
    });

    it('the message says the way out', () => {
      expect(mistake.message).toMatch(WAY_OUT);
    });
  });
});
