/** How long things took, as figures that a chart shows. contract §12.2 (Statistics). */

/** Whole milliseconds; percentiles only where there is something to rank. */
export interface LatencyFigures {
  count: number;
  p50Ms?: number;
  p90Ms?: number;
  p99Ms?: number;
}

/**
 * Non-negative whole numbers, separated by commas, in ascending order: read digit by digit, because lists have hundreds
 * of thousands.
 */
export function readLatencies(text: string): Float64Array<ArrayBuffer> {
  if (text === '') return new Float64Array(0);
  const values = new Float64Array(countOf(text));
  let at = 0;
  let value = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COMMA) [values[at], at, value] = [value, at + 1, 0];
    else value = value * 10 + (code - ZERO);
  }
  values[at] = value;
  return values.sort();
}

const COMMA = 44;
const ZERO = 48;

function countOf(text: string): number {
  let count = 1;
  for (let index = text.indexOf(','); index >= 0; index = text.indexOf(',', index + 1)) count += 1;
  return count;
}

/**
 * Figures of all values of some lists, each in ascending order: by nearest rank, so that every figure is one of the
 * values.
 */
export function latencyFigures(lists: readonly Float64Array[]): LatencyFigures {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  if (count === 0) return { count };
  const percentile = (percent: number): number => ranked(lists, Math.ceil((count * percent) / 100));
  return { count, p50Ms: percentile(50), p90Ms: percentile(90), p99Ms: percentile(99) };
}

/** The least value that at least `rank` values are not above; nothing is merged or sorted again. */
function ranked(lists: readonly Float64Array[], rank: number): number {
  let low = 0;
  let high = Math.max(...lists.map((list) => list.at(-1) ?? 0));
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (lists.reduce((sum, list) => sum + countUpTo(list, middle), 0) >= rank) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How many values of an ascending list are not above `limit`. */
function countUpTo(list: Float64Array, limit: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
