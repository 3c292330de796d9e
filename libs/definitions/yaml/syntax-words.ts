/** What is said of text that is no YAML: the words of the parser, and the way out. contract §8.1. */
import type { ErrorCode } from 'yaml';

/** Of each error that has one; the others say what they expect. */
const WAYS_OUT: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'close what is open, or indent the lines below it alike',
  MISSING_CHAR: 'close what is open in or above this line',
  BLOCK_AS_IMPLICIT_KEY: 'put a text that holds a colon in quotes',
  MULTILINE_IMPLICIT_KEY: 'write each key on a line of its own, with a colon and a blank behind it',
  UNEXPECTED_TOKEN: 'put the text in quotes',
  BAD_SCALAR_START: 'put the text in quotes',
};

/** Of each error whose words at the parser say little to an author: what is said in their place. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'a value that begins with * is taken for an alias; put the text in quotes',
};

/** Said of a key whose value goes on below it, further in. */
const TOO_FAR_IN = 'the line below stands further in than the key of this one; indent both alike';

/** A line of a merge that nobody has resolved. */
const CONFLICT = /^(?:<{7}|={7}|>{7})(?: |$)/;

/** Whether a line is one that a merge has left. */
export function isConflictLine(line: string): boolean {
  return CONFLICT.test(line);
}

/** What is said of lines that a merge has left. */
export const CONFLICT_WORDS =
  'not well-formed YAML: a merge has left its conflict here; decide for one side and remove the lines of marks';

/** What is said of an error of the parser, whose text stands at this place. */
export function syntaxWords({ code, message }: { code: ErrorCode; message: string }, text: string, at: number): string {
  const words = code === 'MULTILINE_IMPLICIT_KEY' && isFurtherIn(text, at) ? TOO_FAR_IN : WORDS[code];
  if (words !== undefined) return `not well-formed YAML: ${words}`;
  const wayOut = WAYS_OUT[code];
  return `not well-formed YAML: ${message}${wayOut === undefined ? '' : `; ${wayOut}`}`;
}

/** Whether the line below is a key that stands further in than the one of this line. */
function isFurtherIn(text: string, at: number): boolean {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const [line = '', below = ''] = text.slice(start, start + LOOKED_AT_MAX).split('\n');
  const indentOf = (each: string): number => /^[ -]*/.exec(each)?.[0].length ?? 0;
  return /^[ -]*[\w-]+:\s+\S/.test(line) && /^ *[\w-]+:(?:\s|$)/.test(below) && indentOf(below) > indentOf(line);
}

/** Characters of two lines that are looked at. */
const LOOKED_AT_MAX = 2_000;

const COLONS = String.raw`[\uFF1A\uFE55\uA789\u2236\u02D0]`;
const BLANKS = String.raw`[\u00A0\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]`;
/** What looks like a blank or a colon behind a key, and is none. */
const DECEPTIVE = new RegExp(String.raw`^[ -]*[\w-]+(?:(?<colon>${COLONS})|:${BLANKS})`, 'mu');

/** The first character of a text that only looks like the colon or the blank behind a key, and what is said of it. */
export function deceptiveCharacter(text: string): { at: number; words: string } | undefined {
  const found = DECEPTIVE.exec(text);
  if (found === null) return undefined;
  const code = (found[0].codePointAt(found[0].length - 1) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const [meant, wayOut] =
    found.groups?.['colon'] === undefined
      ? ['the blank behind a colon', 'a plain blank']
      : ['a colon', 'a plain colon'];
  const words = `found U+${code}, which only looks like ${meant}; write ${wayOut}`;
  return { at: found.index + found[0].length - 1, words };
}
