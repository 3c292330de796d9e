/**
 * How files are mended: words are replaced where problems point at, and nothing else of a text changes. Files in which
 * a word could stand for more than itself are refused. contract §11.4.
 */
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import { classifyPath } from '../definition-paths.ts';
import type { Problem, ReadFile } from '../types.ts';
import { splitFrontMatter } from '../yaml/front-matter.ts';
import { sourceText } from '../yaml/source-text.ts';
import { parseYaml, type AnyNode, type Slice } from '../yaml/yaml-composer.ts';
import { fixOf } from './fixes.ts';

/** One word in place of another. */
export interface Replacement {
  line: number;
  column: number;
  before: string;
  after: string;
}

export type FileFix = { path: string } & (
  | { kind: 'text'; text: string; replacements: Replacement[] }
  | { kind: 'move'; to: string }
  | { kind: 'refused'; reason: string }
);

/** What can be mended of these problems, by path; never throws. */
export function fixesFor(problems: readonly Problem[], readFiles: ReadonlyMap<string, ReadFile>): FileFix[] {
  const byPath = new Map<string, Problem[]>();
  for (const problem of problems) byPath.set(problem.path, [...(byPath.get(problem.path) ?? []), problem]);
  return [...byPath].flatMap(([path, found]): FileFix[] => {
    if (found.some(({ rule }) => rule === 'wrong-place')) return moveOf(path);
    const fixable = found.filter((problem) => fixOf(problem) !== undefined);
    const text = readFiles.get(path)?.text;
    return text === undefined || fixable.length === 0 ? [] : [textFix(path, text, fixable)];
  });
}

function moveOf(path: string): FileFix[] {
  const place = classifyPath(path);
  const to = place.kind === 'misplaced' || place.kind === 'nearby' ? place.meant : undefined;
  return to === undefined ? [] : [{ path, kind: 'move', to }];
}

function textFix(path: string, text: string, problems: readonly Problem[]): FileFix {
  const refused = (reason: string): FileFix => ({ path, kind: 'refused', reason });
  const before = wordsOf(path, text);
  if (typeof before === 'string') return refused(before);
  const edits = problems.map((problem) => editOf(text, problem)).sort((left, right) => left.start - right.start);
  let mended = text;
  for (const { start, end, word } of edits.toReversed()) mended = mended.slice(0, start) + word + mended.slice(end);
  const after = wordsOf(path, mended);
  if (typeof after === 'string') return refused(after);
  const wanted = new Set(problems.map(fixOf));
  const changed = before.filter((word, index) => word !== after[index]);
  const isWanted = after.every((word, index) => word === before[index] || wanted.has(word.slice(1)));
  if (before.length !== after.length || changed.length !== edits.length || !isWanted)
    return refused('more than the words themselves would change');
  const replacements = edits.map(({ start, end, word, line, column }) => {
    return { line, column, before: text.slice(start, end), after: word };
  });
  return { path, kind: 'text', text: mended, replacements };
}

interface Edit {
  start: number;
  end: number;
  word: string;
  line: number;
  column: number;
}

/** What the problem points at, in the quotes that it has. */
function editOf(text: string, problem: Problem): Edit {
  const { line, column, endLine = line, endColumn = column } = problem;
  const start = offsetOf(text, line, column);
  const end = offsetOf(text, endLine, endColumn);
  const [quote = ''] = /^["']/.exec(text.slice(start, end)) ?? [];
  return { start, end, word: quote + (fixOf(problem) ?? '') + quote, line, column };
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

/**
 * Every key and value of a file in order, marked by what it is, or why none of its words may be replaced: one that has
 * an anchor, an alias or a tag stands for more than itself.
 */
function wordsOf(path: string, text: string): string[] | string {
  const slice = sliceOf(path, text);
  const document = slice && parseYaml(sourceText(path, text), slice);
  if (document === undefined || document instanceof Error || document === 'too-many-pieces')
    return 'it cannot be read as YAML';
  if (document.errors.length > 0) return 'it is not well-formed YAML';
  const words: string[] = [];
  return addWords(document.contents, words) ?? words;
}

function sliceOf(path: string, text: string): Slice | undefined {
  if (!path.endsWith('.md')) return { start: 0, end: text.length };
  const split = splitFrontMatter(sourceText(path, text));
  return split.ok ? split.yaml : undefined;
}

/** Adds the words of a node and of all below it, or answers what keeps its words from being replaced. */
function addWords(node: AnyNode, words: string[]): string | undefined {
  if (node === null || node === undefined) return void words.push('-');
  const { anchor, tag } = node as { anchor?: string; tag?: string };
  if (isAlias(node) || anchor !== undefined || tag !== undefined)
    return 'it has anchors, aliases or tags, and its words may stand for more than themselves';
  if (isScalar(node)) return void words.push(`=${String(node.value)}`);
  words.push(isMap(node) ? '{' : '[');
  for (const member of membersOf(node)) {
    const reason = addWords(member, words);
    if (reason !== undefined) return reason;
  }
  words.push('.');
  if (!isMap(node)) return undefined;
  const keys = new Set(node.items.map(({ key }) => (isScalar(key) ? String(key.value) : key)));
  return keys.size < node.items.length ? 'two of its keys would be the same' : undefined;
}

function membersOf(node: Node): AnyNode[] {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => [key as AnyNode, value as AnyNode]);
  return isSeq(node) ? node.items.map((item) => item as AnyNode) : [];
}
