/**
 * Where a text stops being JSON: what a parser's message cannot say without repeating the text. contract §3.10.
 */

/** A place in a text; both count from 1, columns in UTF-16 code units. */
export interface TextPlace {
  line: number;
  column: number;
}

/**
 * The first place at which the text cannot go on to be one JSON text (RFC 8259); undefined when it is one. Linear, and
 * not recursive.
 */
export function findJsonFault(text: string): TextPlace | undefined {
  const at = faultOffset(text);
  if (at === undefined) return undefined;
  const before = text.slice(0, at);
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** What may come next; "-or-end" where the container may end as well. */
type Expected = 'value' | 'value-or-end' | 'member' | 'member-or-end' | 'after-value';

/** How far a text was read, and inside what. */
interface Reading {
  text: string;
  at: number;
  open: ('[' | '{')[];
  expected: Expected;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function faultOffset(text: string): number | undefined {
  const reading: Reading = { text, at: 0, open: [], expected: 'value' };
  for (skipSpace(reading); reading.at < text.length; skipSpace(reading)) {
    const fault = readNext(reading);
    if (fault !== undefined) return fault;
  }
  return reading.open.length === 0 && reading.expected === 'after-value' ? undefined : text.length;
}

/** Reads one token or one member's name; answers where it cannot. */
function readNext(reading: Reading): number | undefined {
  switch (reading.expected) {
    case 'after-value':
      return readSeparator(reading);
    case 'member':
    case 'member-or-end':
      return reading.expected === 'member-or-end' && reading.text[reading.at] === '}'
        ? readEnd(reading)
        : readName(reading);
    case 'value':
    case 'value-or-end':
      return reading.expected === 'value-or-end' && reading.text[reading.at] === ']'
        ? readEnd(reading)
        : readValue(reading);
  }
}

function readSeparator(reading: Reading): number | undefined {
  const { text, at, open } = reading;
  const container = open.at(-1);
  if (container === undefined) return at;
  if (text[at] === (container === '[' ? ']' : '}')) return readEnd(reading);
  if (text[at] !== ',') return at;
  return advance(reading, at + 1, container === '[' ? 'value' : 'member');
}

function readEnd(reading: Reading): undefined {
  reading.open.pop();
  return advance(reading, reading.at + 1, 'after-value');
}

function readName(reading: Reading): number | undefined {
  const name = endOfString(reading.text, reading.at);
  if (name.fault !== undefined) return name.fault;
  reading.at = name.end;
  skipSpace(reading);
  return reading.text[reading.at] === ':' ? advance(reading, reading.at + 1, 'value') : reading.at;
}

function readValue(reading: Reading): number | undefined {
  const { text, at, open } = reading;
  const first = text[at];
  if (first === '[' || first === '{') {
    open.push(first);
    return advance(reading, at + 1, first === '[' ? 'value-or-end' : 'member-or-end');
  }
  const scalar = first === '"' ? endOfString(text, at) : endOfScalar(text, at);
  return scalar.fault ?? advance(reading, scalar.end, 'after-value');
}

function advance(reading: Reading, at: number, expected: Expected): undefined {
  reading.at = at;
  reading.expected = expected;
}

function skipSpace(reading: Reading): void {
  reading.at = endOf(SPACE, reading.text, reading.at) ?? reading.at;
}

type Scanned = { end: number; fault?: undefined } | { fault: number };

function endOfScalar(text: string, at: number): Scanned {
  const end = endOf(SCALAR, text, at);
  return end === undefined ? { fault: at } : { end };
}

function endOfString(text: string, start: number): Scanned {
  if (text[start] !== '"') return { fault: start };
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { end: at + 1 };
    if (code < CONTROLS_END) return { fault: at };
    const next = code === BACKSLASH ? endOf(ESCAPE, text, at) : at + 1;
    if (next === undefined) return { fault: at };
    at = next;
  }
  return { fault: text.length };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** U+0000 to U+001F must be escaped in strings. */
const CONTROLS_END = 0x20;

/** Where a sticky pattern's match at `at` ends; undefined: it does not match there. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
