/** What the pages of factories ask the server for. */
import { useInfiniteQuery, useQuery, type QueryClient } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';
import { live, LIVE_MS } from '../../app/queries.ts';

const PAGE_SIZE = 50;

/** Factories whose slug or name holds the text, page by page. */
export function useFactoryPages(search: string) {
  return useInfiniteQuery({
    queryKey: ['factories', 'pages', search],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask(
        api.GET('/factory', {
          params: { query: { limit: PAGE_SIZE, cursor, search: search === '' ? undefined : search } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: page }) => page.next_cursor,
    // What was loaded is asked for page by page: the more there is, the rarer.
    refetchInterval: ({ state }) => 5 * LIVE_MS * (state.data?.pages.length ?? 1),
    placeholderData: (before) => before,
  });
}

interface Watching {
  enabled?: boolean;
  everyMs?: number;
}

export function useStatus(factoryUid: string, { enabled = true, everyMs = LIVE_MS }: Watching = {}) {
  return useQuery({
    queryKey: ['status', factoryUid],
    queryFn: ({ signal }) =>
      ask(api.GET('/factory/{factory_uid}/status', { params: { path: { factory_uid: factoryUid } }, signal })),
    enabled,
    refetchInterval: live(everyMs),
  });
}

/** After somebody asked something of a factory. */
export async function factoryChanged(queries: QueryClient, factoryUid: string): Promise<void> {
  await Promise.all(
    [
      ['factories'],
      ['factory', factoryUid],
      ['status', factoryUid],
      ['syncs', factoryUid],
      ['factory-events', factoryUid],
    ].map((queryKey) => queries.invalidateQueries({ queryKey })),
  );
}

type Editable = Pick<Api<'Factory'>, 'name' | 'source' | 'sync_policy'>;

/** Somebody else changed what was to be changed; `now` is what is there. */
export class EditConflictError extends Error {
  readonly now: Api<'Factory'>;

  constructor(now: Api<'Factory'>) {
    super('somebody else changed this factory');
    this.now = now;
  }
}

/**
 * Changes members that are still as they were seen. Factories have no version to name: what is seen is compared right
 * before.
 */
export async function changeFactory(
  uid: string,
  seen: Editable,
  changes: Api<'FactoryPatch'>,
): Promise<Api<'Factory'>> {
  const path = { factory_uid: uid };
  const now = await ask(api.GET('/factory/{factory_uid}', { params: { path } }));
  const isOther = (Object.keys(changes) as (keyof Editable)[]).some(
    (member) => JSON.stringify(now[member]) !== JSON.stringify(seen[member]),
  );
  if (isOther) throw new EditConflictError(now);
  return ask(api.PATCH('/factory/{factory_uid}', { params: { path }, body: changes }));
}
