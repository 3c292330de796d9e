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

/** A line of a merge that nobody has resolved. */
const CONFLICT = /^(?:<{7}|={7}|>{7})(?: |$)/;

/** Whether a line is one that a merge has left. */
export function isConflictLine(line: string): boolean {
  return CONFLICT.test(line);
}

/** What is said of lines that a merge has left. */
export const CONFLICT_WORDS =
  'not well-formed YAML: a merge has left its conflict here; decide for one side and remove the lines of marks';

/** What is said of an error of the parser. */
export function syntaxWords({ code, message }: { code: ErrorCode; message: string }): string {
  const wayOut = WAYS_OUT[code];
  return `not well-formed YAML: ${message}${wayOut === undefined ? '' : `; ${wayOut}`}`;
}
