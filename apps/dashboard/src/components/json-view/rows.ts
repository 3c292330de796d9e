/** What is shown of the rows of a JSON text: which of them, and in which words. */
import type { JsonTree } from './read-json.ts';

/** UTF-16 units of a key or value that a row shows; what is longer is shown by itself. */
export const ROW_TEXT_MAX = 300;
/** A path of more steps than these is no help to anybody. */
const POINTER_STEPS_MAX = 100;

const PAIR_OR_ESCAPE = /\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|.)/g;
const ESCAPE_UNITS = 6;

/** Rows in sight, in order: those inside of `collapsed` ones are not. */
export function visibleRows({ kind, after }: JsonTree, collapsed: ReadonlySet<number>): number[] {
  const rows: number[] = [];
  for (let row = 0; row < kind.length; row = collapsed.has(row) ? (after[row] ?? Infinity) : row + 1) rows.push(row);
  return rows;
}

/** Where a row stands among visible ones; -1 where it is out of sight. */
export function placeOf(row: number, visible: readonly number[]): number {
  let [low, high] = [0, visible.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = visible[middle] ?? 0;
    if (found === row) return middle;
    if (found < row) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

export function isContainer({ kind, size }: JsonTree, row: number): boolean {
  return (kind[row] === 'object' || kind[row] === 'array') && (size[row] ?? 0) > 0;
}

/** Rows that hold others; `from`: of this level or deeper. */
export function containers(tree: JsonTree, from = 0): number[] {
  return tree.kind.flatMap((_, row) => (isContainer(tree, row) && (tree.level[row] ?? 0) >= from ? [row] : []));
}

/** Rows of the containers around one, innermost first. */
export function around({ parent }: JsonTree, row: number): number[] {
  const rows: number[] = [];
  for (let at = parent[row] ?? -1; at >= 0; at = parent[at] ?? -1) rows.push(at);
  return rows;
}

/** The key's token; undefined where there is none. */
export function keyToken({ text, keyStart, keyEnd }: JsonTree, row: number): string | undefined {
  const start = keyStart[row] ?? -1;
  return start < 0 ? undefined : text.slice(start, keyEnd[row]);
}

export function valueToken({ text, start, end }: JsonTree, row: number): string {
  return text.slice(start[row], end[row]);
}

/**
 * A token for people: escapes of characters that can be shown are resolved (`\u00e9` is é), all others stay as they
 * were sent.
 */
export function readable(token: string): string {
  if (!token.includes('\\u')) return token;
  return token.replace(PAIR_OR_ESCAPE, (escape: string, high?: string, low?: string, single?: string) => {
    if (high !== undefined && low !== undefined)
      return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    const code = Number.parseInt(single ?? '', 16);
    return Number.isNaN(code) || isUnfit(code) ? escape : String.fromCharCode(code);
  });
}

/** Quotes and backslashes would change what is read; control characters and halves of a character cannot be shown. */
function isUnfit(code: number): boolean {
  return (
    code < 0x20 ||
    code === 0x22 ||
    code === 0x5c ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0xd800 && code <= 0xdfff)
  );
}

/** The beginning of a token as a row shows it; `rest`: units of the token that it leaves out, about. */
export function shortened(token: string): { shown: string; rest: number } {
  if (token.length <= ROW_TEXT_MAX) return { shown: readable(token), rest: 0 };
  // So much of the token is worth at least what is shown, whatever its escapes.
  const shown = readable(token.slice(0, ROW_TEXT_MAX * ESCAPE_UNITS));
  return { shown: beginning(shown, ROW_TEXT_MAX), rest: token.length - ROW_TEXT_MAX };
}

/** At most `max` units of a text, no character halved. */
export function beginning(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** Matches text wherever it occurs, large or small letters alike; undefined for nothing. */
export function finderOf(wanted: string): RegExp | undefined {
  if (wanted === '') return undefined;
  return new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'giu');
}

/** Rows whose key or own value contains what is wanted, as it is shown or as it was sent. */
export function rowsWith(tree: JsonTree, wanted: string): number[] {
  const finder = finderOf(wanted);
  if (finder === undefined) return [];
  const holds = (token: string | undefined): boolean =>
    token !== undefined &&
    (token.search(finder) >= 0 || (token.includes('\\u') && readable(token).search(finder) >= 0));
  const isFound = (row: number): boolean =>
    holds(keyToken(tree, row)) ||
    (tree.kind[row] !== 'object' && tree.kind[row] !== 'array' && holds(valueToken(tree, row)));
  return tree.kind.flatMap((_, row) => (isFound(row) ? [row] : []));
}

/** JSON pointer of a row (RFC 6901); undefined for one too deep to be named. */
export function pointerOf(tree: JsonTree, row: number): string | undefined {
  if ((tree.level[row] ?? 0) > POINTER_STEPS_MAX) return undefined;
  const steps = [row, ...around(tree, row)].slice(0, -1).reverse();
  return steps.map((step) => `/${stepOf(tree, step)}`).join('');
}

function stepOf(tree: JsonTree, row: number): string {
  const key = keyToken(tree, row);
  if (key === undefined) return String(tree.position[row]);
  return (JSON.parse(key) as string).replaceAll('~', '~0').replaceAll('/', '~1');
}
