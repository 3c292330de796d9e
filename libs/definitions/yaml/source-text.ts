/** What a file's text is and where an offset of it stands: lines and columns for people. */
import { LineCounter } from 'yaml';
import type { Range } from '../types.ts';

/** A decoded file. Lines end at LF; columns count UTF-16 units from 1. */
export interface SourceText {
  path: string;
  text: string;
  /** Range between two offsets; offsets outside the text are moved to its ends. */
  range(start: number, end: number): Range;
}

/** Wraps decoded text; line starts are counted when the first position is asked for. */
export function sourceText(path: string, text: string): SourceText {
  let lines: LineCounter | undefined;
  const positionOf = (offset: number) => (lines ??= linesOf(text)).linePos(Math.min(Math.max(offset, 0), text.length));
  return {
    path,
    text,
    range: (start, end) => {
      const from = positionOf(start);
      const to = positionOf(Math.max(start, end));
      return { line: from.line, column: from.col, endLine: to.line, endColumn: to.col };
    },
  };
}

/** Where problems of a file as a whole are shown. */
export const FILE_START: Range = { line: 1, column: 1, endLine: 1, endColumn: 1 };

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}
