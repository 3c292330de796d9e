/** Long lists in pages: the options that choose one, and the remark that there is more. contract §3.7 (List). */
import type { PageInfo } from '#client';
import { UsageError, type OptionSpecs } from '../command.ts';
import type { Output } from '../terminal/output.ts';

export const PAGE_OPTIONS = {
  limit: { type: 'string', value: 'N', help: 'entries at most, 1 to 500 (default 20)' },
  cursor: { type: 'string', value: 'CURSOR', help: 'continues where a former answer ended' },
} as const satisfies OptionSpecs;

/** Query parameters of a page. */
export function pageQuery({ limit, cursor }: { limit?: string; cursor?: string }): { limit?: number; cursor?: string } {
  if (limit === undefined) return { cursor };
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > PAGE_SIZE_MAX)
    throw new UsageError(`--limit must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
  return { limit: Number(limit), cursor };
}

/** Says on stderr how to go on, when there is more. */
export function noteMore(output: Output, { has_next_page: hasMore, next_cursor: cursor }: PageInfo): void {
  if (hasMore && cursor !== undefined) output.note(`there are more: --cursor ${cursor}`);
}

/** Most entries that one answer holds. contract §3.7 (List). */
export const PAGE_SIZE_MAX = 500;

/** Every entry of a list. */
export async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}
