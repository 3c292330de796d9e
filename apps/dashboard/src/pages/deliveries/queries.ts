/** API queries of the delivery pages. */
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { LIVE_MS } from '../../app/queries.ts';
import { newestFirst, reaches, withNewest, type LogPage, type NewerDeliveries } from './newer-deliveries.ts';

export type Delivery = Api<'Delivery'>;
export type Outcome = Delivery['outcome'];

export const OUTCOMES: readonly Outcome[] = [
  'Accepted',
  'Duplicate',
  'Rejected (auth)',
  'Rejected (invalid JSON)',
  'Rejected (too large)',
  'Throttled',
];

/** Which log, and what of it. */
export interface LogQuery {
  factoryUid: string;
  webhookUid: string;
  /** None: all. */
  outcomes: readonly Outcome[];
}

/** An entry of a log. */
export interface EntryPlace {
  factoryUid: string;
  webhookUid: string;
  entryId: string;
}

const PAGE_ENTRIES = 100;
/** Pages that are asked for at once to close the gap between what is known and what is new. */
const GAP_PAGES_MAX = 5;
/** Among so many entries that came after one, those are looked for that delivered it again. */
const RESENDS_SOUGHT = 100;

type Pages = InfiniteData<LogPage, string | undefined>;

async function pageOf(
  { factoryUid, webhookUid, outcomes }: LogQuery,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<LogPage> {
  const params = {
    path: { factory_uid: factoryUid, webhook_uid: webhookUid },
    query: { limit: PAGE_ENTRIES, cursor, ...(outcomes.length === 0 ? {} : { outcome: [...outcomes] }) },
  };
  const { deliveries, page_info: page } = await ask(
    api.GET('/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries', { params, signal }),
  );
  return { entries: deliveries, next: page.has_next_page ? page.next_cursor : undefined };
}

/** The newest entries, back to what is known. */
async function newestOf(query: LogQuery, known: string | undefined, signal: AbortSignal): Promise<LogPage> {
  let newest = await pageOf(query, undefined, signal);
  for (let asked = 1; asked < GAP_PAGES_MAX && !reaches(newest, known); asked += 1) {
    const { entries, next } = await pageOf(query, newest.next, signal);
    newest = { entries: [...newest.entries, ...entries], next };
  }
  return newest;
}

/** The log page by page as somebody scrolls, and beside it what comes meanwhile. */
export function useLog(query: LogQuery) {
  const queries = useQueryClient();
  const { factoryUid, webhookUid } = query;
  const outcomes = query.outcomes.join();
  // Not below ['deliveries']: what makes that stale must not load every page that was scrolled through.
  const pagesKey = ['delivery-pages', factoryUid, webhookUid, outcomes];
  const newsKey = ['deliveries', factoryUid, webhookUid, 'news', outcomes];
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam, signal }) => pageOf(query, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: LogPage) => next,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const news = useQuery({
    queryKey: newsKey,
    queryFn: async ({ signal }) => {
      const before = queries.getQueryData<NewerDeliveries>(newsKey);
      const known = entriesOf(queries.getQueryData<Pages>(pagesKey), before)[0]?.entry_id;
      const newest = await newestOf(query, known, signal);
      if (!reaches(newest, known)) {
        // So much came that what was read before is far below: the list begins anew.
        await queries.cancelQueries({ queryKey: pagesKey });
        queries.setQueryData<Pages>(pagesKey, { pages: [newest], pageParams: [undefined] });
      }
      return withNewest(before, newest, known);
    },
    enabled: pages.data !== undefined,
    refetchInterval: ({ state: { error } }) => (isGone(error) ? false : LIVE_MS),
  });
  const rows = useMemo(() => entriesOf(pages.data, news.data), [pages.data, news.data]);
  return { pages, news, rows };
}

function entriesOf(pages: { pages: LogPage[] } | undefined, news: NewerDeliveries | undefined): Delivery[] {
  return newestFirst(news?.entries ?? [], ...(pages?.pages.map(({ entries }) => entries) ?? []));
}

/** The entry, whose count may grow. One that is gone is not asked for again; what was seen of it stays. */
export function useDelivery({ factoryUid, webhookUid, entryId }: EntryPlace) {
  return useQuery({
    queryKey: ['delivery', factoryUid, webhookUid, entryId],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}', {
          params: pathOf({ factoryUid, webhookUid, entryId }),
          signal,
        }),
      ),
    refetchInterval: ({ state: { error } }) => (isGone(error) ? false : LIVE_MS),
  });
}

/** Entries that delivered this one again, newest first; of those that came after it as many as are looked through. */
export function useResends(
  { factoryUid, webhookUid, entryId }: EntryPlace,
  { outcome, received_at: receivedAt }: Delivery,
) {
  return useQuery({
    queryKey: ['deliveries', factoryUid, webhookUid, 'resends of', entryId],
    queryFn: async ({ signal }) => {
      const params = {
        path: { factory_uid: factoryUid, webhook_uid: webhookUid },
        query: { since: receivedAt, outcome: ['Accepted' as const], limit: RESENDS_SOUGHT },
      };
      const { deliveries } = await ask(
        api.GET('/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries', { params, signal }),
      );
      return deliveries.filter(({ resent_from: from }) => from === entryId);
    },
    enabled: outcome === 'Accepted',
    refetchInterval: 5 * LIVE_MS,
  });
}

export function useExplanation(entryId: string) {
  return useQuery({
    queryKey: ['explanation', entryId],
    queryFn: ({ signal }) => ask(api.GET('/explanations/{id}', { params: { path: { id: entryId } }, signal })),
  });
}

/** Delivers the bytes again; `key` is one for each time that somebody means to. */
export function resend(place: EntryPlace, key: string): Promise<Delivery> {
  return ask(
    api.POST('/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/resend', {
      params: { ...pathOf(place), header: { 'Idempotency-Key': key } },
    }),
  );
}

export async function deliveriesChanged(queries: QueryClient, { factoryUid, webhookUid }: EntryPlace): Promise<void> {
  await Promise.all(
    [['deliveries', factoryUid, webhookUid], ['webhook', factoryUid, webhookUid], ['runs']].map((queryKey) =>
      queries.invalidateQueries({ queryKey }),
    ),
  );
}

export function isGone(error: unknown): boolean {
  const status = problemOf(error)?.status;
  return status === 404 || status === 410;
}

export function pathTo({ factoryUid, webhookUid, entryId }: EntryPlace): string {
  return `/factories/${factoryUid}/webhooks/${webhookUid}/deliveries/${entryId}`;
}

function pathOf({ factoryUid, webhookUid, entryId }: EntryPlace) {
  return { path: { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId } };
}
