/**
 * Lines of definition files with their keys and punctuation, and of their values only what cannot be a secret. Reads
 * files line by line: those with problems are often no YAML.
 */
import { excerptChildren, KEYS_OF_ROOT, ROOT, excerptValueAt, type ExcerptPosition } from './excerpt-keys.ts';
import { isHarmless, isHarmlessKey, isSecretLike, MASK, maskedProse } from './excerpt-words.ts';

/** The lines of a file, and where in them YAML stands. */
export interface FileLines {
  lines: readonly string[];
  /** Index of the first line of YAML. */
  yamlFrom: number;
  /** Index of the first line of the text below it; Infinity without any. */
  proseFrom: number;
  /** Whether something of the factory is called so. */
  isKnown(name: string): boolean;
}

/** UTF-16 units of a line that are looked at; more than are shown. */
export const LINE_LOOKED_AT = 300;
/** Lines above an excerpt that are looked at for the keys that it lies below, and UTF-16 units of them. */
export const LINES_ABOVE_MAX = 100;
export const CHARACTERS_ABOVE_MAX = 4_096;
/** Lines around an excerpt in which a word for a secret keeps its sentences from being shown. */
const LINES_NEAR = 3;

/** What is meant as a fence or says something to readers of YAML. */
const LOOSE_MARK = /^(?:-{3,8} ?[a-z]{0,8}|%YAML \d\.\d)$/;
const FENCE = /^(?:---|\.\.\.)\s*$/;
/** Indentation, the dashes of a list, and what stands behind. */
const LINE = /^(\s*)((?:[-?]\s+|[-?]$)*)(.*)$/s;
/** Begins a mapping of its own: nothing above it matters. */
const AT_ROOT = /^[^\s#\-?}\],:]/;
const ROOT_KEY = /^["']?[\w$.-]{1,64}["']?\s*:(?:\s|$)/;
/** A line whose key holds no text for people. */
const KEY_LINE = /^[\s-]*["']?(?!(?:description|basePrompt|name|alias)\b)[\w$.][\w$.-]*["']?\s*:(?:\s|$)/;

/** The lines from `first` to before `last` (counted from 0). */
export function maskedLines(file: FileLines, first: number, last: number): string[] {
  const isNearSecret = speaksOfSecrets(file, first, last);
  const start = startOf(file, first);
  const scanner = new LineScanner(start.isSure ? ROOT : 'secret', isNearSecret, file.isKnown);
  const masked: string[] = [];
  for (let at = start.index; at < last; at += 1) {
    const line = cut(file.lines[at] ?? '');
    const text = at >= file.proseFrom ? maskedProse(line, isNearSecret) : scanner.masked(line);
    if (at >= first) masked.push(text);
  }
  return masked;
}

/** The end of what was cut off is no whole word, so that it is not taken for one. */
function cut(line: string): string {
  return line.length <= LINE_LOOKED_AT ? line : `${line.slice(0, LINE_LOOKED_AT)}…`;
}

/** Where to begin, so that the keys above the excerpt are known; not sure where they stand too far above it. */
function startOf({ lines, yamlFrom, proseFrom }: FileLines, first: number): { index: number; isSure: boolean } {
  if (first >= proseFrom) return { index: first, isSure: true };
  let characters = 0;
  for (let at = first; at > yamlFrom; at -= 1) {
    const line = cut(lines[at] ?? '');
    characters += line.length;
    if (AT_ROOT.test(line)) return { index: at, isSure: true };
    if (first - at >= LINES_ABOVE_MAX || characters > CHARACTERS_ABOVE_MAX) return { index: at, isSure: false };
  }
  return { index: Math.min(first, yamlFrom), isSure: true };
}

function speaksOfSecrets({ lines, proseFrom }: FileLines, first: number, last: number): boolean {
  for (let at = Math.max(0, first - LINES_NEAR); at < Math.min(lines.length, last + LINES_NEAR); at += 1) {
    const line = cut(lines[at] ?? '');
    const prose = at < proseFrom && KEY_LINE.test(line) ? (/(?:^|\s)#.*$/s.exec(line)?.[0] ?? '') : line;
    if (isSecretLike(prose)) return true;
  }
  return false;
}

interface Block {
  column: number;
  place: ExcerptPosition;
}

/** An open flow collection: what it holds, and what its next value belongs to. */
interface Flow {
  place: ExcerptPosition;
  next: ExcerptPosition;
}

/** Goes down the lines of a YAML text and knows below which keys it is. */
class LineScanner {
  private base: ExcerptPosition;
  private readonly isNearSecret: boolean;
  private readonly isKnown: FileLines['isKnown'];
  private readonly blocks: Block[] = [];
  private flows: Flow[] = [];

  constructor(base: ExcerptPosition, isNearSecret: boolean, isKnown: FileLines['isKnown']) {
    this.base = base;
    this.isNearSecret = isNearSecret;
    this.isKnown = isKnown;
  }

  masked(line: string): string {
    if (line.trim() === '' || FENCE.test(line)) return line;
    const [, indent = '', dashes = '', content = ''] = LINE.exec(line) ?? [];
    if (indent === '' && ROOT_KEY.test(line)) this.base = ROOT;
    this.finish(indent.length, dashes === '' ? undefined : indent.length + dashes.length);
    const place = this.place();
    const begin = indent + dashes;
    if (content === '') return begin;
    if (place === 'secret') return begin + MASK;
    if (place === 'prose') return begin + maskedProse(content, this.isNearSecret);
    const masked = begin + this.content(content, begin.length, dashes !== '');
    if (line.endsWith('…') && this.flows.length > 0) this.flows = [SECRET_FLOW];
    return masked;
  }

  private place(): ExcerptPosition {
    return this.flows.at(-1)?.next ?? this.blocks.at(-1)?.place ?? this.base;
  }

  /** Leaves what the line does not belong to; an item of a list may stand right below its key. */
  private finish(indent: number, itemColumn: number | undefined): void {
    if (indent <= (this.blocks.at(-1)?.column ?? -1)) this.flows = [];
    const limit = itemColumn === undefined ? indent : indent + 1;
    while ((this.blocks.at(-1)?.column ?? -1) >= limit) this.blocks.pop();
  }

  private content(text: string, column: number, isItem: boolean): string {
    const line = new Scanner(text);
    let [masked, isKeyed] = ['', false];
    while (!line.isAtEnd()) {
      const mark = line.blank() ?? this.punctuation(line);
      if (mark !== undefined) masked += mark;
      else if (line.isAtComment()) masked += maskedProse(line.rest(), this.isNearSecret);
      else {
        const isInFlow = this.flows.length > 0;
        const scalar = line.scalar(isInFlow, !isInFlow && isKeyed);
        const colon = isInFlow || !isKeyed ? line.colon(isInFlow, scalar) : undefined;
        if (colon === undefined) masked += isInFlow || isKeyed || isItem ? this.value(scalar) : looseText(scalar);
        else {
          isKeyed = true;
          masked += keyText(scalar) + colon;
          if (this.enter(unquoted(scalar), column) === 'secret')
            return masked + (line.rest().trim() === '' ? '' : ` ${MASK}`);
        }
      }
    }
    return masked;
  }

  /** Brackets and commas where they mean something, undefined for anything else. */
  private punctuation(line: Scanner): string | undefined {
    const opening = line.take(/[[{]/y);
    if (opening !== undefined) {
      this.flows.push({ place: this.place(), next: this.place() });
      return opening;
    }
    const flow = this.flows.at(-1);
    if (flow === undefined) return line.take(/:/y);
    const mark = line.take(/[\]},:]/y);
    if (mark === ',') flow.next = flow.place;
    if (mark === ']' || mark === '}') this.flows.pop();
    return mark;
  }

  /** What follows belongs to this key; answers what that is. */
  private enter(key: string, column: number): ExcerptPosition {
    const flow = this.flows.at(-1);
    const place = excerptChildren(flow?.place ?? this.place(), key);
    if (flow === undefined) this.blocks.push({ column, place });
    else flow.next = place;
    if (flow !== undefined && place === 'secret') this.flows = [SECRET_FLOW]; // where it ends is not known
    return place;
  }

  private value(scalar: string): string {
    const kind = excerptValueAt(this.place());
    if (/^[|>][-+\d]{0,2}$/.test(scalar)) return scalar;
    const text = unquoted(scalar);
    if (isHarmless(kind, text) || (NAMES.has(kind) && this.isKnown(text))) return scalar;
    if (kind === 'prose' || kind === 'label') return maskedProse(scalar, false);
    const [, property = '', behind = ''] = /^([&!*]{1,2}[A-Za-z-]{0,24})(?:\s+(.*))?$/s.exec(scalar) ?? [];
    return property !== '' &&
      isHarmless('word', property.replace(/^[&!*]+/, '')) &&
      kind !== 'unknown' &&
      isHarmless(kind, unquoted(behind))
      ? scalar
      : MASK;
  }
}

const SECRET_FLOW: Flow = { place: 'secret', next: 'secret' };
const NAMES: ReadonlySet<ExcerptPosition> = new Set<ExcerptPosition>(['name', 'uid', 'path', 'word']);

function keyText(scalar: string): string {
  return isHarmlessKey(unquoted(scalar)) ? scalar : MASK;
}

/** What stands neither behind a key nor in a list: the rest of a text, or a line that lacks its colon. */
function looseText(scalar: string): string {
  const [word = ''] = /^[A-Za-z]{2,24}(?=\s)/.exec(scalar) ?? [];
  if (KEYS_OF_ROOT.has(word)) return `${word} ${MASK}`;
  return isHarmless('unknown', scalar) || LOOSE_MARK.test(scalar) ? scalar : MASK;
}

function unquoted(scalar: string): string {
  return /^["']/.test(scalar) ? scalar.replace(/^["']/, '').replace(/["']$/, '') : scalar;
}

const DOUBLE_QUOTED = /"(?:[^"\\]|\\.)*"?/sy;
const SINGLE_QUOTED = /'(?:[^']|'')*'?/y;
/**
 * Where a plain text ends: in a block before a colon, behind a key at a comment only; in a flow collection also at its
 * marks.
 */
const PLAIN_ENDS = { block: /:(?=\s|$)|\s#/g, value: /\s#/g, flow: /:(?=[\s,[\]{}]|$)|\s#|[,[\]{}]/g };

/** Reads the pieces of one line, each character once. */
class Scanner {
  private readonly text: string;
  private at = 0;
  constructor(text: string) {
    this.text = text;
  }

  isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  isAtComment(): boolean {
    return this.text[this.at] === '#' && (this.at === 0 || /\s/.test(this.text[this.at - 1] as string));
  }

  blank(): string | undefined {
    return this.take(/\s+/y);
  }

  /** What matches here, if anything does. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  /** All that is left. */
  rest(): string {
    const rest = this.text.slice(this.at);
    this.at = this.text.length;
    return rest;
  }

  /** A text in quotes, or a plain one without the blanks behind it; at least one character. */
  scalar(isInFlow: boolean, isBehindKey: boolean): string {
    const quoted = this.take(DOUBLE_QUOTED) ?? this.take(SINGLE_QUOTED);
    if (quoted !== undefined) return quoted;
    const ends = isInFlow ? PLAIN_ENDS.flow : isBehindKey ? PLAIN_ENDS.value : PLAIN_ENDS.block;
    ends.lastIndex = this.at + 1;
    const plain = this.text.slice(this.at, ends.exec(this.text)?.index).trimEnd();
    this.at += plain.length;
    return plain;
  }

  /** The colon that makes a key of the text before it. */
  colon(isInFlow: boolean, scalar: string): string | undefined {
    if (!isInFlow) return this.take(/\s*:(?=\s|$)/y);
    return this.take(/^["']/.test(scalar) ? /\s*:/y : /\s*:(?=[\s,[\]{}]|$)/y);
  }
}
