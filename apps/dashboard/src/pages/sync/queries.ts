/** What the pages of reconciling ask the server for. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';
import { LIVE_MS } from '../../app/queries.ts';

export type Sync = Api<'Sync'>;
export type Change = Api<'Change'>;
export type Diagnostic = Api<'Diagnostic'>;

const PAGE_SIZE = 20;

/** Recorded passes, newest first. */
export function useSyncs(factoryUid: string) {
  return useInfiniteQuery({
    queryKey: ['syncs', factoryUid],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/syncs', {
          params: { path: { factory_uid: factoryUid }, query: { limit: PAGE_SIZE, cursor } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: page }) => page.next_cursor,
    // All pages that were opened are asked for again: the more, the rarer.
    refetchInterval: ({ state }) => LIVE_MS * (state.data?.pages.length ?? 1),
  });
}

/** A pass never changes. */
export function useSync(factoryUid: string, syncId: string) {
  return useQuery({
    queryKey: ['sync', factoryUid, syncId],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/syncs/{sync_id}', {
          params: { path: { factory_uid: factoryUid, sync_id: syncId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

/** What happened, newest first. */
export function useFactoryEvents(factoryUid: string) {
  return useInfiniteQuery({
    queryKey: ['factory-events', factoryUid],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/events', {
          params: {
            path: { factory_uid: factoryUid },
            query: { limit: cursor === undefined ? 10 : PAGE_SIZE, cursor },
          },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: page }) => page.next_cursor,
    refetchInterval: ({ state }) => LIVE_MS * (state.data?.pages.length ?? 1),
  });
}

/** Open pull requests, newest first. */
export function usePullRequests(factoryUid: string) {
  return useInfiniteQuery({
    queryKey: ['pull-requests', factoryUid],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/pull-requests', {
          params: { path: { factory_uid: factoryUid }, query: { limit: PAGE_SIZE, cursor } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: page }) => page.next_cursor,
    refetchInterval: ({ state }) => LIVE_MS * (state.data?.pages.length ?? 1),
  });
}

/** States of a revision that it does not stay in. */
const ON_ITS_WAY = new Set<string>(['waiting', 'unknown', 'failed', 'blocked']);

export function useRevision(factoryUid: string, revision: string) {
  return useQuery({
    queryKey: ['revision', factoryUid, revision],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/revisions/{revision}', {
          params: { path: { factory_uid: factoryUid, revision } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || ON_ITS_WAY.has(data.state) ? LIVE_MS : 5 * LIVE_MS,
  });
}

/** The webhook that a delivery came to, by the entry of the log. */
export function useWebhookOf(entryId: string) {
  return useQuery({
    queryKey: ['explanation', entryId, 'webhook'],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/explanations/{id}', { params: { path: { id: entryId } }, signal }))).webhook?.uid ?? null,
    staleTime: Infinity,
  });
}
