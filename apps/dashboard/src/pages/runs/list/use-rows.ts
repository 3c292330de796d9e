/** The list of runs: infinite scroll, refreshed without moving the visible rows. */
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api, ask } from '../../../api/client.ts';
import { LIVE_MS } from '../../../app/queries.ts';
import type { RunQuery } from './filters.ts';
import { newsOf, refreshed, rowOf, type RunPage } from './rows.ts';

const FIRST_PAGE = 50;
const LATER_PAGE = 200;
type Pages = InfiniteData<RunPage, string | undefined>;

async function pageOf(query: RunQuery, cursor: string | undefined, signal: AbortSignal): Promise<RunPage> {
  const { runs, page_info: page } = await ask(
    api.GET('/agent/runs', {
      params: { query: { ...query, cursor, limit: cursor === undefined ? FIRST_PAGE : LATER_PAGE } },
      signal,
    }),
  );
  return { rows: runs.map(rowOf), next: page.has_next_page ? page.next_cursor : undefined };
}

/**
 * `isRead` says whether somebody is in the middle of the list now: then nothing moves, and `news` counts what would
 * have come.
 */
export function useRunRows(query: RunQuery, isRead: () => boolean) {
  const queries = useQueryClient();
  // Not below ['runs']: what makes that stale must not load every page that was scrolled through.
  const key = useMemo(() => ['run-pages', query] as const, [query]);
  const head = useQuery({
    queryKey: ['runs', 'head', query],
    queryFn: ({ signal }) => pageOf(query, undefined, signal),
    refetchInterval: LIVE_MS,
  });
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => pageOf(query, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: RunPage) => next,
    enabled: head.data !== undefined,
    initialData: (): Pages | undefined =>
      head.data === undefined ? undefined : { pages: [head.data], pageParams: [undefined] },
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const [news, setNews] = useState({ isOther: false, unknown: 0 });
  const showNewest = (): void => {
    if (head.data !== undefined) queries.setQueryData<Pages>(key, { pages: [head.data], pageParams: [undefined] });
    setNews({ isOther: false, unknown: 0 });
  };

  useEffect(() => {
    const [now, known] = [head.data, queries.getQueryData<Pages>(key)];
    if (now === undefined) return;
    if (known === undefined)
      return queries.setQueryData<Pages>(key, { pages: [now], pageParams: [undefined] }) && undefined;
    const found = newsOf(known.pages, now.rows);
    const mayMove = found.isOther && !isRead();
    queries.setQueryData<Pages>(
      key,
      mayMove ? { pages: [now], pageParams: [undefined] } : { ...known, pages: refreshed(known.pages, now.rows) },
    );
    setNews(mayMove ? { isOther: false, unknown: 0 } : found);
    // Also when the same rows were answered again: meanwhile somebody may have stopped reading. `isRead` looks at the
    // page as it is.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [head.dataUpdatedAt, key, queries]);

  return { query: pages, head, news, showNewest };
}

/** Keeps the rows current that somebody looks at further down. `index`: of the page among those loaded. */
export function useSeenPage(query: RunQuery, pageParams: readonly (string | undefined)[], index: number): void {
  const queries = useQueryClient();
  const cursor = pageParams[index];
  const { data } = useQuery({
    queryKey: ['runs', 'seen', query, cursor],
    queryFn: ({ signal }) => pageOf(query, cursor, signal),
    // It was loaded a moment ago: scrolling by asks for nothing twice.
    initialData: () => queries.getQueryData<Pages>(['run-pages', query])?.pages[index],
    enabled: cursor !== undefined,
    refetchInterval: 2 * LIVE_MS,
    staleTime: 2 * LIVE_MS,
    gcTime: 0,
  });
  useEffect(() => {
    if (data === undefined) return;
    queries.setQueryData<Pages>(
      ['run-pages', query],
      (known) => known && { ...known, pages: refreshed(known.pages, data.rows) },
    );
  }, [data, queries, query]);
}
