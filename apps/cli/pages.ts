/** Long lists in pages: the options that choose one, and the remark that there is more. contract 3 (List). */
import type { Api, Query } from './api.ts';
import { UsageProblem, type OptionSpecs } from './command.ts';
import type { Output } from './output.ts';
import type { PageInfo } from './wire.ts';

export const PAGE_OPTIONS = {
  limit: { type: 'string', value: 'N', help: 'entries at most, 1 to 500 (default 20)' },
  cursor: { type: 'string', value: 'CURSOR', help: 'continues where a former answer ended' },
} as const satisfies OptionSpecs;

/** Query parameters of a page. */
export function pageQuery({ limit, cursor }: { limit?: string; cursor?: string }): { limit?: string; cursor?: string } {
  if (limit !== undefined && !(/^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 500)) throw new UsageProblem('--limit must be a whole number from 1 to 500');
  return { limit, cursor };
}

/** Says on stderr how to go on, when there is more. */
export function noteMore(output: Output, { has_next_page: hasMore, next_cursor: cursor }: PageInfo): void {
  if (hasMore && cursor !== undefined) output.note(`there are more: --cursor ${cursor}`);
}

/** Most entries that one answer holds. contract 3 (List). */
const PAGE_SIZE_MAX = '500';

/** Every entry of a list, asked for page by page; `member` is what the answers call them. */
export async function everyPage<Member extends string, T>(api: Api, path: string, member: Member, query: Query = {}): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const answer = await api.call<Record<Member, T[]> & { page_info: PageInfo }>('GET', path, { query: { ...query, limit: PAGE_SIZE_MAX, cursor } });
    all.push(...answer[member]);
    cursor = answer.page_info.next_cursor;
    if (!answer.page_info.has_next_page || cursor === undefined) return all;
  }
}
