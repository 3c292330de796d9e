/** Text in pieces that a browser lays out at once: its lines, long ones cut. */
import { beginning, finderOf } from './rows.ts';

/** UTF-16 units of a piece at most. */
const PIECE_MAX = 500;

export interface Piece {
  /** Where it begins in the text. */
  start: number;
  end: number;
  /** Number of the line that begins here, from 1; undefined where an earlier one goes on. */
  line?: number;
}

/** Every unit of the text is in exactly one piece, but for the line feeds between them. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0, line = 1; start <= text.length; line += 1) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    cutLine(text, { start, end, line }, pieces);
    start = end + 1;
  }
  return pieces;
}

function cutLine(text: string, { start, end, line }: Piece, pieces: Piece[]): void {
  let at = start;
  do {
    const next = at + beginning(text.slice(at, Math.min(end, at + PIECE_MAX + 1)), PIECE_MAX).length;
    pieces.push({ start: at, end: next, ...(at === start ? { line } : {}) });
    at = next;
  } while (at < end);
}

/** Which pieces a match begins in, each once. */
export function piecesWith(text: string, pieces: readonly Piece[], wanted: string): number[] {
  const finder = finderOf(wanted);
  if (finder === undefined) return [];
  const found: number[] = [];
  let piece = 0;
  for (const { index } of text.matchAll(finder)) {
    while (index >= (pieces[piece + 1]?.start ?? Infinity)) piece += 1;
    if (found.at(-1) !== piece) found.push(piece);
  }
  return found;
}
