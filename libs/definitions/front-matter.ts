/** Where an automation's front matter ends and its prompt begins. Nothing in a file is ever executed. contract 8 (automation). */
import matter from 'gray-matter';
import { problemAt } from './problems.ts';
import type { SourceText } from './source-text.ts';
import type { Problem } from './types.ts';
import type { Slice } from './yaml-document.ts';

export type Split = { ok: true; yaml: Slice; prompt: string; promptStart: number } | { ok: false; problem: Problem };

const FENCE = '---';

/** Finds both fences itself, because a splitter that guesses swallows the body or takes `---more` for a fence. Never throws. */
export function splitFrontMatter(source: SourceText): Split {
  const { text } = source;
  const opening = lineAt(text, 0);
  const refusal = refuseOpening(opening.text);
  if (refusal !== undefined) return refused(source, opening, ...refusal);
  for (let line = lineAt(text, opening.next); ; line = lineAt(text, line.next)) {
    if (line.text.trimEnd() === FENCE) return split(source, { start: opening.next, end: line.start }, line.next);
    if (line.text.startsWith(FENCE)) return refused(source, line, 'front-matter-fence', `a line that starts with ${FENCE} here must be ${FENCE} alone, to close the front matter`);
    if (line.next >= text.length) break;
  }
  return refused(source, opening, 'front-matter-unclosed', `front matter is opened here and never closed; end it with a ${FENCE} line`);
}

interface Line {
  start: number;
  text: string;
  /** Offset of the next line. */
  next: number;
}

function lineAt(text: string, start: number): Line {
  const end = text.indexOf('\n', start);
  return end === -1 ? { start, text: text.slice(start), next: text.length } : { start, text: text.slice(start, end), next: end + 1 };
}

function refuseOpening(line: string): [rule: string, message: string] | undefined {
  const text = line.trimEnd();
  if (text === FENCE) return undefined;
  if (!text.startsWith(FENCE)) return ['front-matter-missing', `expected ${FENCE} on the first line: triggers and settings stand between two ${FENCE} lines above the prompt`];
  if (text.startsWith(`${FENCE}-`)) return ['front-matter-fence', `the first line must be ${FENCE} alone`];
  return ['front-matter-language', `front matter is YAML only and nothing in it is executed; write ${FENCE} alone on the first line`];
}

function refused(source: SourceText, line: Line, rule: string, message: string): Split {
  const end = line.start + line.text.trimEnd().length;
  return { ok: false, problem: problemAt(source.path, source.range(line.start, end), rule, message) };
}

function split(source: SourceText, yaml: Slice, promptStart: number): Split {
  return { ok: true, yaml, prompt: withoutBlankEnds(bodyOf(source.text, yaml, promptStart)), promptStart };
}

/**
 * The body as gray-matter sees it. It gets blank front matter: the YAML is parsed elsewhere, with positions, and its own scan of
 * the block takes time in the square of a run of blank lines.
 */
function bodyOf(text: string, yaml: Slice, promptStart: number): string {
  const closing = text.slice(yaml.end, promptStart).trimEnd();
  return matter(`${FENCE}\n${closing}\n${text.slice(promptStart)}`, { language: 'yaml', engines: REFUSING_ENGINES }).content;
}

const refuse = (): never => {
  throw new Error('front matter is parsed by libs/definitions/yaml-document.ts only');
};
/** gray-matter's own engines evaluate JavaScript; none of them may ever be reached. */
const REFUSING_ENGINES = { yaml: { parse: refuse }, json: { parse: refuse }, javascript: { parse: refuse }, js: { parse: refuse }, coffee: { parse: refuse }, toml: { parse: refuse } };

/** Removes blank lines at both ends; the indentation of the first line stays. */
export function withoutBlankEnds(body: string): string {
  let start = 0;
  for (let line = lineAt(body, 0); line.start < body.length && line.text.trim() === ''; line = lineAt(body, line.next)) start = line.next;
  return body.slice(start).trimEnd();
}
