/** What several pages ask of stored deliveries. */
import { queryOptions } from '@tanstack/react-query';
import { api, ask } from './client.ts';

interface EntryPlace {
  factoryUid: string;
  webhookUid: string;
  entryId: string;
}

/** Text of the bytes; they never change. */
export function payload({ factoryUid, webhookUid, entryId }: EntryPlace) {
  const params = { path: { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId } };
  return queryOptions({
    queryKey: ['delivery', factoryUid, webhookUid, entryId, 'payload'],
    queryFn: ({ signal }): Promise<string> =>
      ask(
        api.GET('/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/payload', {
          params,
          parseAs: 'text',
          signal,
        }),
      ),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}
