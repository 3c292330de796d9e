/**
 * Problems for people at a terminal: the line of each with a caret under the place. contract §11.3, §12.4 (problems).
 */
import { withExcerpts, type Problem, type ReadFile } from '#definitions';
import { columnsOf, paint, printableLine, type Colour, type PaintIo } from '../terminal/output.ts';
import { printable } from './report.ts';

/** Where the texts come from, and where the lines go. */
export interface TerminalOptions {
  readFiles: ReadonlyMap<string, ReadFile>;
  /** The same problems with the paths that are printed. */
  shownAs: readonly Problem[];
  io: PaintIo;
}

/** Columns of a source line where the terminal does not say how many it has. */
const COLUMNS = 120;
/** Columns before the place that stay where a line is too long. */
const LEAD_COLUMNS = 30;
const TAB = '    ';

/** Every problem in two or three lines. */
export function toTerminal(problems: readonly Problem[], { readFiles, shownAs, io }: TerminalOptions): string {
  const colour = (text: string, colour: Colour): string => paint(text, colour, io.stdout, io);
  const secretLines = new Set(problems.filter(holdsSecret).map(lineOf));
  return problems
    .map((problem, index) => {
      const { line, column, severity, message, rule } = problem;
      const shade = severity === 'error' ? 'red' : 'yellow';
      const place = colour(printable(`${shownAs[index]?.path ?? problem.path}:${line}:${column}:`), 'bold');
      const head = `${place} ${colour(`${severity}:`, shade)} ${printable(message)} ${colour(`[${rule}]`, 'dim')}\n`;
      const source = sourceLines(problem, secretLines.has(lineOf(problem)), readFiles, io.stdout.columns);
      if (source === undefined) return head;
      const gutter = ' '.repeat(String(line).length);
      const bar = (begin: string): string => colour(`${begin} |`, 'dim');
      const caret = `${source.blank}${colour(source.caret, shade)}`;
      return `${head}${bar(` ${line}`)} ${source.text}\n${bar(` ${gutter}`)} ${caret}\n`;
    })
    .join('');
}

interface SourceLine {
  text: string;
  blank: string;
  caret: string;
}

function sourceLines(
  problem: Problem,
  isSecret: boolean,
  readFiles: TerminalOptions['readFiles'],
  columns = COLUMNS,
): SourceLine | undefined {
  const text = readFiles.get(problem.path)?.text.split('\n', problem.line)[problem.line - 1]?.replace(/\r$/, '');
  if (text === undefined || text.trim() === '') return undefined;
  if (!isSecret) return marked(text, problem, columns);
  // Nothing of a value, not even its length.
  const [excerpt] = withExcerpts([problem], { readFiles }).map((shown) => shown.excerpt);
  const masked = excerpt?.lines[problem.line - excerpt.firstLine];
  return masked === undefined ? undefined : marked(masked, { ...problem, endColumn: problem.column + 1 }, columns);
}

/** The line as far as it fits, and the caret below it: under wide characters two columns, under tabs four. */
function marked(
  text: string,
  { line, column, endLine = line, endColumn = column }: Problem,
  columns: number,
): SourceLine {
  const start = Math.min(column - 1, text.length);
  const end = endLine > line ? text.length : Math.max(start, Math.min(endColumn - 1, text.length));
  const room = Math.max(LEAD_COLUMNS * 2, columns - String(line).length - 5);
  const before = shown(text.slice(0, start));
  const isFar = columnsOf(before) > room - LEAD_COLUMNS;
  const lead = isFar ? `…${lastColumns(before, LEAD_COLUMNS - 1)}` : before;
  const place = shown(text.slice(start, end));
  const rest = place + shown(text.slice(end));
  const left = room - columnsOf(lead);
  return {
    text: lead + (columnsOf(rest) > left ? `${firstColumns(rest, left - 1)}…` : rest),
    blank: ' '.repeat(columnsOf(lead)),
    caret: `^${'~'.repeat(Math.max(0, Math.min(columnsOf(place), left) - 1))}`,
  };
}

function shown(text: string): string {
  return printableLine(text).replaceAll('\t', TAB);
}

function firstColumns(text: string, columns: number): string {
  let kept = '';
  for (const character of text) {
    if (columnsOf(kept) + columnsOf(character) > columns) break;
    kept += character;
  }
  return kept;
}

function lastColumns(text: string, columns: number): string {
  const characters = [...text].reverse();
  return [...firstColumns(characters.join(''), columns)].reverse().join('');
}

function holdsSecret({ rule }: Problem): boolean {
  return rule.startsWith('secret-value');
}

function lineOf({ path, line }: Problem): string {
  return `${path}:${line}`;
}
