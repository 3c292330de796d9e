/**
 * Where an automation's front matter ends and its prompt begins. Nothing in a file is executed. contract §8.3.
 */
import matter from 'gray-matter';
import { problemAt } from '../rules/problems.ts';
import type { SourceText } from './source-text.ts';
import type { Problem } from '../types.ts';
import type { Slice } from './yaml-composer.ts';
import type { RuleId } from '../rules/rules.ts';

export type Split = { ok: true; yaml: Slice; prompt: string; promptStart: number } | { ok: false; problem: Problem };

const FENCE = '---';

/**
 * Locates both fences before the package splits at them: by itself it takes an unclosed file for front matter as a
 * whole, closes at `---more`, and says no positions. Never throws.
 */
export function splitFrontMatter(source: SourceText): Split {
  const { text } = source;
  const opening = lineAt(text, 0);
  const refusal = refuseOpening(opening.text);
  if (refusal !== undefined) return refused(source, opening, ...refusal);
  for (let line = lineAt(text, opening.next); ; line = lineAt(text, line.next)) {
    if (line.text.trimEnd() === FENCE) return split(source, { start: opening.next, end: line.start }, line.next);
    if (line.text.startsWith(FENCE))
      return refused(
        source,
        line,
        'front-matter-fence',
        `a line that starts with ${FENCE} here must be ${FENCE} alone, to close the front matter`,
      );
    if (line.next >= text.length) break;
  }
  return refused(
    source,
    opening,
    'front-matter-unclosed',
    `front matter is opened here and never closed; end it with a ${FENCE} line`,
  );
}

interface Line {
  start: number;
  text: string;
  /** Offset of the next line. */
  next: number;
}

function lineAt(text: string, start: number): Line {
  const end = text.indexOf('\n', start);
  return end === -1
    ? { start, text: text.slice(start), next: text.length }
    : { start, text: text.slice(start, end), next: end + 1 };
}

function refuseOpening(line: string): [rule: RuleId, message: string] | undefined {
  const text = line.trimEnd();
  if (text === FENCE) return undefined;
  if (!text.startsWith(FENCE))
    return [
      'front-matter-missing',
      `expected ${FENCE} on the first line: triggers and settings stand between two ${FENCE} lines above the prompt`,
    ];
  if (text.startsWith(`${FENCE}-`)) return ['front-matter-fence', `the first line must be ${FENCE} alone`];
  return [
    'front-matter-language',
    `front matter is YAML only and nothing in it is executed; write ${FENCE} alone on the first line`,
  ];
}

function refused(source: SourceText, line: Line, rule: RuleId, message: string): Split {
  const end = line.start + line.text.trimEnd().length;
  return { ok: false, problem: problemAt(source.path, source.range(line.start, end), rule, message) };
}

function split(source: SourceText, yaml: Slice, promptStart: number): Split {
  return { ok: true, yaml, prompt: withoutBlankEnds(contentBelow(source.text, yaml)), promptStart };
}

/** Refuses in the package's own place too what `refuseOpening` has refused before: its JavaScript engine evaluates. */
function refuseLanguage(): never {
  throw new Error('front matter is YAML only');
}

/**
 * The YAML engine reads nothing: `yaml` parses the slice later and keeps positions. Passing options at all keeps the
 * package from remembering every text in its global cache.
 */
const SPLIT_OPTIONS = {
  language: 'yaml',
  engines: {
    yaml: () => ({}),
    json: refuseLanguage,
    javascript: refuseLanguage,
    coffee: refuseLanguage,
  },
};

/**
 * What stands below the closing fence, as gray-matter splits a file whose fences are where `yaml` says. What stands
 * between them is left out: the package looks for comments there with `/^\s*#/m`, which takes quadratic time in runs of
 * line breaks, minutes for a file of the greatest size.
 */
function contentBelow(text: string, { start, end }: Slice): string {
  return matter(`${text.slice(0, start)}${text.slice(end)}`, SPLIT_OPTIONS).content;
}

/** Removes blank lines at both ends; the indentation of the first line stays. */
export function withoutBlankEnds(body: string): string {
  let start = 0;
  for (let line = lineAt(body, 0); line.start < body.length && line.text.trim() === ''; line = lineAt(body, line.next))
    start = line.next;
  return body.slice(start).trimEnd();
}
