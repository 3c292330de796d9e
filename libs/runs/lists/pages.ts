/** How many runs go on one page of a list: as many as were asked for, or as fit. contract §3.7 (List). */

/**
 * Bytes of prompts and configurations of one page: several pages at a time fit into memory, whatever people put into
 * prompts.
 */
export const PAGE_BYTES_MAX = 8_388_608;

/**
 * How many of these runs, in order, make one page: at least one, at most `limit`, together at most PAGE_BYTES_MAX
 * bytes.
 */
export function runsOnPage(sizes: readonly number[], limit: number): number {
  let total = sizes[0] ?? 0;
  let count = Math.min(1, sizes.length);
  while (count < Math.min(limit, sizes.length)) {
    total += sizes[count] ?? 0;
    if (total > PAGE_BYTES_MAX) return count;
    count += 1;
  }
  return count;
}
