/**
 * Places of problems as editors count them: lines and UTF-16 units from 0. Our lines end at LF alone; editors also end
 * them at a carriage return by itself. contract §11.11 (Language server).
 */
import type { Problem } from '#definitions';
import { TextDocument, type Range, type TextEdit } from 'vscode-languageserver-textdocument';

/** A text whose positions are asked for. */
export function documentOf(text: string): TextDocument {
  return TextDocument.create('', '', 0, text);
}

/** Where a problem is in a text; what lies behind the end of the text is at its end. */
export function rangeOf(
  { line, column, endLine = line, endColumn = column }: Pick<Problem, 'line' | 'column' | 'endLine' | 'endColumn'>,
  document: TextDocument,
): Range {
  const text = document.getText();
  return {
    start: document.positionAt(offsetOf(text, line, column)),
    end: document.positionAt(offsetOf(text, endLine, endColumn)),
  };
}

/** Whether two ranges touch. */
export function touches(one: Range, other: Range): boolean {
  return !isBefore(one.end, other.start) && !isBefore(other.end, one.start);
}

/** The one edit that makes a text of another: what is the same at both ends stays, and cursors stay with it. */
export function editsBetween(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let same = 0;
  const most = Math.min(before.length, after.length) - start;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  const document = documentOf(before);
  // Never between the two ends of a line: a position there is none of an editor
  if (before[start - 1] === '\r' && before[start] === '\n') start -= 1;
  if (same > 0 && before[before.length - same] === '\n' && before[before.length - same - 1] === '\r') same -= 1;
  const range = { start: document.positionAt(start), end: document.positionAt(before.length - same) };
  return [{ range, newText: after.slice(start, after.length - same) }];
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  return Math.min(start + column - 1, text.length);
}

function isBefore(one: Range['start'], other: Range['start']): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
