/**
 * The lines around a problem, as a page may show them: few, short, nothing that could be a secret, nothing that moves
 * text about. contract §12.4 (problems).
 */
import { maskedLines, type FileLines } from './excerpt-lines.ts';
import type { Excerpt, Problem, Reading } from '../types.ts';

/** Lines before and behind the one of the problem. */
const LINES_AROUND = 2;
/** UTF-16 units of one line. */
const LINE_LENGTH_MAX = 200;
/** Problems of one tree that get an excerpt: more than anybody mends in one go. */
export const EXCERPTS_MAX = 100;
/** Characters of all excerpts of one tree: they are stored with each pass, and a page of passes holds many. */
export const EXCERPT_CHARACTERS_MAX = 32_768;
/** Characters of files that are walked through for them: some milliseconds at most, whatever the files are. */
const READ_CHARACTERS_MAX = 1_048_576;

/**
 * Control characters, line separators, halves of characters and everything that is invisible or changes the direction
 * of text.
 */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/**
 * The same problems, the first of them with the lines around their places where the text of their file is known. What
 * cannot be printed is written as \u{…}.
 */
export function withExcerpts(problems: readonly Problem[], { readFiles }: Pick<Reading, 'readFiles'>): Problem[] {
  const excerptAt = excerptsOf(readFiles);
  let [characters, excerpts] = [0, 0];
  return problems.map((problem) => {
    const excerpt = excerpts < EXCERPTS_MAX ? excerptAt(problem) : undefined;
    if (excerpt === undefined) return problem;
    characters += excerpt.lines.reduce((sum, line) => sum + line.length, 0);
    // One that does not fit is the last that is looked at
    excerpts = characters > EXCERPT_CHARACTERS_MAX ? EXCERPTS_MAX : excerpts + 1;
    return characters > EXCERPT_CHARACTERS_MAX ? problem : { ...problem, excerpt };
  });
}

/**
 * Finds the lines around places: each file is walked through once, each place looked at once. Undefined where a text is
 * not known, or enough was walked through.
 */
function excerptsOf(files: Reading['readFiles']): (problem: Problem) => Excerpt | undefined {
  const linesOf = fileLines(files);
  const known = new Map<string, Excerpt>();
  return ({ path, line }) => {
    const file = linesOf(path);
    if (file === undefined) return undefined;
    const place = `${path}:${line}`;
    const excerpt = known.get(place) ?? excerptOf(file, line);
    known.set(place, excerpt);
    return excerpt;
  };
}

function fileLines(files: Reading['readFiles']): (path: string) => FileLines | undefined {
  const known = new Map<string, FileLines>();
  const isKnown = (name: string): boolean =>
    [`webhooks/${name}.yaml`, `automations/${name}/automation.md`, `environments/${name}.yaml`].some((path) =>
      files.has(path),
    );
  let read = 0;
  return (path) => {
    const text = files.get(path)?.text;
    if (text === undefined || known.has(path)) return known.get(path);
    read += text.length;
    if (read > READ_CHARACTERS_MAX) return undefined;
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    const file = { lines, ...sections(path, lines), isKnown };
    known.set(path, file);
    return file;
  };
}

/** Which lines of a file are YAML: all, or those between the fences of its front matter. */
function sections(path: string, lines: readonly string[]): Pick<FileLines, 'yamlFrom' | 'proseFrom'> {
  if (!path.endsWith('.md')) return { yamlFrom: 0, proseFrom: Infinity };
  if (!isFence(lines[0])) return { yamlFrom: 0, proseFrom: 0 };
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  return { yamlFrom: 1, proseFrom: end === -1 ? Infinity : end + 1 };
}

function isFence(line = ''): boolean {
  return line.startsWith('---') && line.trimEnd() === '---';
}

/** `line` counts from 1; one behind the end of the file is its last. */
function excerptOf(file: FileLines, line: number): Excerpt {
  const { length } = file.lines;
  const at = Math.min(line, length) - 1;
  const first = Math.max(0, at - LINES_AROUND);
  return { firstLine: first + 1, lines: maskedLines(file, first, Math.min(length, at + LINES_AROUND + 1)).map(shown) };
}

function shown(line: string): string {
  const printable = line
    .replace(/\r$/, '')
    .replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return printable.length <= LINE_LENGTH_MAX
    ? printable
    : `${printable.slice(0, LINE_LENGTH_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
