/**
 * Output of results: aligned columns, or the API's JSON as it is or as YAML, with control characters of servers
 * removed. contract §11.
 */
import { UsageError, type CliIo } from '../command.ts';
import { printable, printableJson } from '../reports/report.ts';

export type OutputFormat = 'text' | 'json' | 'yaml';
const OUTPUT_FORMATS: readonly string[] = ['text', 'json', 'yaml'] satisfies OutputFormat[];

/** The option of verbs that print one result. */
export const FORMAT_OPTION = {
  type: 'string',
  short: 'o',
  value: OUTPUT_FORMATS.join('|'),
  help: 'text for people (default), or JSON or YAML',
} as const;

/** How results are printed that are for programs. */
type Printer = (value: unknown) => string;

/** Where a verb prints, in the format that was asked for; what prints YAML is loaded only then. */
export async function outputFor(io: CliIo, text = 'text'): Promise<Output> {
  if (!OUTPUT_FORMATS.includes(text)) throw new UsageError('--format must be text, json or yaml');
  const format = text as OutputFormat;
  return format === 'yaml' ? new Output(io, format, (await import('./yaml.ts')).printableYaml) : new Output(io, format);
}

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold';
const CODES: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** A cell: its text as the server sent it, and a colour where the terminal has some. */
export type Cell = string | { text: string; colour: Colour | undefined };

/** Space between columns. */
const GAP = '  ';

export class Output {
  readonly format: OutputFormat;
  private readonly io: CliIo;
  readonly #print: Printer;
  constructor(io: CliIo, format: OutputFormat, print: Printer = printableJson) {
    this.io = io;
    this.format = format;
    this.#print = print;
  }

  /** Whether the result is one document for programs. */
  get isStructured(): boolean {
    return this.format !== 'text';
  }

  /** The one result of a verb: the API's JSON, or what `asText` prints. */
  result(value: unknown, asText: () => void): void {
    if (this.isStructured) this.io.stdout.write(this.#print(value));
    else asText();
  }

  /** One of several results, as they come: a line of JSON, a document of YAML, or what `asText` prints. */
  entry(value: unknown, asText: () => void): void {
    if (this.format === 'json') this.io.stdout.write(printableJson(value, 0));
    else if (this.format === 'yaml') this.io.stdout.write(`---\n${this.#print(value)}`);
    else asText();
  }

  /** One line of the result. */
  line(text: string, colour?: Colour): void {
    this.io.stdout.write(`${paint(printable(text), colour, this.io.stdout, this.io)}\n`);
  }

  /** One line of the result behind a word in a colour. */
  labelled(label: string, colour: Colour, text: string): void {
    this.io.stdout.write(`${paint(label, colour, this.io.stdout, this.io)}${GAP}${printable(text)}\n`);
  }

  /** A row by itself, where nobody knows the rows to come. */
  cells(row: readonly Cell[]): void {
    this.row(row.map(toCell), []);
  }

  /** Text of several lines; line breaks and tabs are preserved. */
  text(text: string, indent = ''): void {
    for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/))
      this.io.stdout.write(`${indent}${printableLine(line)}\n`);
  }

  /** A result whose format escapes what it holds by itself. */
  raw(text: string): void {
    this.io.stdout.write(text);
  }

  /** Progress and remarks: stderr. */
  note(text: string): void {
    this.io.stderr.write(`${paint(printable(text), 'dim', this.io.stderr, this.io)}\n`);
  }

  /**
   * Rows below a heading, in aligned columns. On a terminal a row that is too wide loses the end of the column
   * `shrinkable`.
   */
  table(heading: readonly string[], rows: readonly (readonly Cell[])[], shrinkable?: number): void {
    const cells = rows.map((row) => row.map(toCell));
    const widths = heading.map((title, column) =>
      Math.max(title.length, ...cells.map((row) => columnsOf(row[column]?.text ?? ''))),
    );
    this.shrink(widths, shrinkable);
    this.row(
      heading.map((text) => ({ text, colour: 'bold' })),
      widths,
    );
    for (const row of cells) this.row(row, widths);
  }

  /**
   * Names and values below each other; further lines of a value stand below its first. Undefined values are left out.
   */
  fields(fields: readonly (readonly [name: string, value: Cell | undefined])[]): void {
    const shown = fields.flatMap(([name, value]) =>
      value === undefined
        ? []
        : linesOf(value).map((line, at) => [toCell({ text: at === 0 ? name : '', colour: 'dim' }), toCell(line)]),
    );
    const width = Math.max(0, ...shown.map(([name]) => name?.text.length ?? 0));
    for (const row of shown) this.row(row, [width, 0]);
  }

  private row(row: readonly { text: string; colour: Colour | undefined }[], widths: readonly number[]): void {
    const shown = row.map(({ text, colour }, column) => {
      const width = widths[column] ?? 0;
      const isLast = column === row.length - 1;
      const cut = width > 0 ? shorten(text, width) : text;
      const padding = isLast ? '' : ' '.repeat(Math.max(0, width - columnsOf(cut)));
      return `${paint(cut, colour, this.io.stdout, this.io)}${padding}`;
    });
    this.io.stdout.write(`${shown.join(GAP).trimEnd()}\n`);
  }

  private shrink(widths: number[], column: number | undefined): void {
    const { isTTY, columns } = this.io.stdout;
    if (column === undefined || isTTY !== true || columns === undefined) return;
    const over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - columns;
    if (over > 0) widths[column] = Math.max(SHRUNK_COLUMNS_MIN, (widths[column] ?? 0) - over);
  }
}

/** Narrower columns are not readable. */
const SHRUNK_COLUMNS_MIN = 12;

/** The lines of a foreign text, without empty ones at its end. */
export function toLines(text: string): string[] {
  return text.replace(/\s+$/, '').split(/\r?\n/);
}

/** A line of foreign text: tabs stay, everything else that steers a terminal is written out. */
export function printableLine(line: string): string {
  return line.split('\t').map(printable).join('\t');
}

/** A point of time without its milliseconds; `-` for none. */
export function toSeconds(time: string | null | undefined): string {
  return time?.replace(/\.\d+Z$/, 'Z') ?? '-';
}

/** Thousands apart, the same in every language. */
export function grouped(amount: number): string {
  return String(Math.round(amount)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 file`, `2 files`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function linesOf(cell: Cell): Cell[] {
  if (typeof cell === 'string') return toLines(cell);
  return toLines(cell.text).map((text) => ({ text, colour: cell.colour }));
}

function toCell(cell: Cell): { text: string; colour: Colour | undefined } {
  return typeof cell === 'string'
    ? { text: printable(cell), colour: undefined }
    : { text: printable(cell.text), colour: cell.colour };
}

/** Where something is painted: who asks for colours, and which streams are terminals. */
export interface PaintIo {
  stdout: Terminal;
  environment?: Readonly<Record<string, string | undefined>>;
}

type Terminal = { isTTY?: boolean; columns?: number };

/** The text in a colour, where the stream shall have colours. */
export function paint(
  text: string,
  colour: Colour | undefined,
  stream: { isTTY?: boolean },
  io: Pick<PaintIo, 'environment'>,
): string {
  const isPlain = colour === undefined || text === '' || !hasColours(stream, io.environment ?? {});
  return isPlain ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

/** FORCE_COLOR decides wherever it is set, as in Node.js itself; then NO_COLOR, TERM=dumb and the terminal. */
function hasColours(stream: { isTTY?: boolean }, environment: NonNullable<PaintIo['environment']>): boolean {
  const { FORCE_COLOR: forced = '', NO_COLOR: refused = '', TERM: terminal } = environment;
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && refused === '' && terminal !== 'dumb';
}

/** Emoji, and the scripts of East Asia within the basic plane and beyond. */
const WIDE = new RegExp(
  [
    String.raw`\p{Emoji_Presentation}`,
    String.raw`[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]`,
    String.raw`[\u{20000}-\u{3fffd}]`,
  ].join('|'),
  'u',
);

/** Columns that a text takes: wide characters two, combining marks none. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/** The beginning of a text that is wider than so many columns. */
export function shorten(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let safe = '';
  for (const character of text) {
    if (columnsOf(safe + character) > columns - 1) break;
    safe += character;
  }
  return `${safe}…`;
}
