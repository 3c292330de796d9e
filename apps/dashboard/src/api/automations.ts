/** What the pages of automations ask of the server. */
import { queryOptions, useQueries, useQuery, type QueryClient } from '@tanstack/react-query';
import type { JsonValue } from '#filters';
import { api, ask, askSeen, type Api, type Seen } from './client.ts';
import { live, LIVE_MS } from '../app/queries.ts';
import { payload } from './deliveries.ts';
import { useWebhooks } from './webhooks.ts';

export type SeenAutomation = Seen<Api<'Automation'>>;

const PAGE_MAX = 500;

function everyAutomation(factoryUid: string) {
  return queryOptions({
    queryKey: ['automations', factoryUid, 'all'],
    queryFn: ({ signal }) => allAutomations(factoryUid, signal),
    refetchInterval: 2 * LIVE_MS,
  });
}

export function useAutomations(factoryUid: string) {
  return useQuery(everyAutomation(factoryUid));
}

/** Automations by the UIDs of the webhooks that start them. */
export function useUsers(factoryUid: string) {
  return useQuery({ ...everyAutomation(factoryUid), select: byWebhook });
}

function byWebhook(automations: readonly Api<'Automation'>[]): ReadonlyMap<string, readonly Api<'Automation'>[]> {
  const users = new Map<string, Api<'Automation'>[]>();
  for (const automation of automations) {
    for (const uid of new Set(automation.triggers.flatMap((trigger) => trigger.webhook_uids ?? [])))
      users.set(uid, [...(users.get(uid) ?? []), automation]);
  }
  return users;
}

async function allAutomations(factoryUid: string, signal: AbortSignal): Promise<Api<'Automation'>[]> {
  const all: Api<'Automation'>[] = [];
  for (let cursor: string | undefined; ;) {
    const { automations, page_info: page } = await ask(
      api.GET('/factory/{factory_uid}/automations', {
        params: {
          path: { factory_uid: factoryUid },
          query: { limit: PAGE_MAX, ...(cursor === undefined ? {} : { cursor }) },
        },
        signal,
      }),
    );
    all.push(...automations);
    cursor = page.next_cursor;
    if (!page.has_next_page || cursor === undefined) return all;
  }
}

export function seenAutomation(factoryUid: string, uid: string) {
  return queryOptions({
    queryKey: ['automation', factoryUid, uid, 'seen'],
    queryFn: ({ signal }) =>
      askSeen(
        api.GET('/factory/{factory_uid}/automations/{automation_id}', {
          params: { path: { factory_uid: factoryUid, automation_id: uid } },
          signal,
        }),
      ),
  });
}

export function useAutomation(factoryUid: string, uid: string) {
  return useQuery({ ...seenAutomation(factoryUid, uid), refetchInterval: live() });
}

/** Answers the name of a webhook by its UID; undefined for what is gone. */
export function useWebhookNames(factoryUid: string): (uid: string) => string | undefined {
  const { data } = useWebhooks(factoryUid);
  return (uid) => data?.find((webhook) => webhook.uid === uid)?.name;
}

/** Changes the state that was seen and no other. */
export function changeAutomation(
  factoryUid: string,
  uid: string,
  { etag, changes }: { etag: string; changes: Api<'AutomationPatch'> },
): Promise<SeenAutomation> {
  return askSeen(
    api.PATCH('/factory/{factory_uid}/automations/{automation_id}', {
      params: { path: { factory_uid: factoryUid, automation_id: uid }, header: { 'If-Match': etag } },
      body: changes,
    }),
  );
}

/** After a change of automations. */
export async function automationsChanged(queries: QueryClient, factoryUid: string): Promise<void> {
  await Promise.all(
    [
      ['automations', factoryUid],
      ['automation', factoryUid],
      ['webhook', factoryUid],
    ].map((queryKey) => queries.invalidateQueries({ queryKey })),
  );
}

export type Replayed = Api<'FilterReplayResult'>['deliveries'][number];

const EVERY_DELIVERY = {};
/** As many as the service looks at in one go. */
export const REPLAYED_MAX = 50;

/** The newest accepted deliveries of these webhooks, of all of the factory when there are none; newest first. */
export function useNewestDeliveries(factoryUid: string, webhookUids: readonly string[], isWanted = true) {
  return useQuery({
    queryKey: ['deliveries', factoryUid, 'newest', [...webhookUids].sort()],
    queryFn: ({ signal }) =>
      ask(
        api.POST('/factory/{factory_uid}/filters/replay', {
          params: { path: { factory_uid: factoryUid } },
          body: replay(EVERY_DELIVERY, webhookUids),
          signal,
        }),
      ),
    select: ({ deliveries }) => deliveries,
    enabled: isWanted,
    staleTime: 5_000,
  });
}

export function replay(filter: unknown, webhookUids: readonly string[]): Api<'FilterReplayRequest'> {
  return { filter, limit: REPLAYED_MAX, ...(webhookUids.length === 0 ? {} : { webhook_uids: [...webhookUids] }) };
}

/** Newest deliveries whose payloads are looked at for names and values: senders have payloads of several shapes. */
const SAMPLE_PAYLOADS_MAX = 5;

/** The payloads of the newest accepted deliveries, for names and values to offer; as far as they are known. */
export function useSamplePayloads(factoryUid: string, webhookUids: readonly string[]): readonly JsonValue[] {
  const { data: deliveries = [] } = useNewestDeliveries(factoryUid, webhookUids, webhookUids.length > 0);
  return useQueries({
    queries: deliveries.slice(0, SAMPLE_PAYLOADS_MAX).map(({ webhook_uid: webhookUid, entry_id: entryId }) => ({
      ...payload({ factoryUid, webhookUid, entryId }),
      select: valueIn,
    })),
    combine: valuesOf,
  });
}

/** The payload of a delivery; undefined while nobody knows, and where it cannot be read. */
export function usePayloadValue(
  factoryUid: string,
  delivery: Replayed | undefined,
): { value: JsonValue | undefined } | undefined {
  return useQuery({
    ...payload({ factoryUid, webhookUid: delivery?.webhook_uid ?? '', entryId: delivery?.entry_id ?? '' }),
    enabled: delivery !== undefined,
    select: valueIn,
  }).data;
}

function valuesOf(answers: readonly { data: { value: JsonValue | undefined } | undefined }[]): JsonValue[] {
  return answers.flatMap(({ data }) => (data?.value === undefined ? [] : [data.value]));
}

function valueIn(text: string): { value: JsonValue | undefined } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return { value: undefined }; // nested deeper than this browser reads
  }
}
