/** What the pages of webhooks ask the server for. */
import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query';
import { api, ask, askSeen, type Api, type Seen } from './client.ts';
import { useMay } from './session.tsx';
import { LIVE_MS } from '../app/queries.ts';

export type Webhook = Api<'Webhook'>;
export type SeenWebhook = Seen<Webhook>;
export type Mode = Webhook['auth_mode'];
export type Scheme = Api<'SignatureScheme'>;

/** Webhooks that a factory may have, disabled ones counted. spec: Limits. */
export const WEBHOOKS_MAX = 20;
const SECRETS_SUGGESTED_MAX = 100;

export function useWebhooks(factoryUid: string) {
  return useQuery({
    queryKey: ['webhooks', factoryUid],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/factory/{factory_uid}/webhooks', { params: { path: { factory_uid: factoryUid } }, signal })))
        .webhooks,
    refetchInterval: LIVE_MS,
  });
}

function seenWebhook(factoryUid: string, webhookUid: string) {
  return queryOptions({
    queryKey: ['webhook', factoryUid, webhookUid],
    queryFn: ({ signal }) =>
      askSeen(
        api.GET('/factory/{factory_uid}/webhooks/{webhook_uid}', {
          params: { path: { factory_uid: factoryUid, webhook_uid: webhookUid } },
          signal,
        }),
      ),
    refetchInterval: LIVE_MS,
  });
}

export function useSeenWebhook(factoryUid: string, webhookUid: string) {
  return useQuery(seenWebhook(factoryUid, webhookUid));
}

export function useWebhook(factoryUid: string, webhookUid: string) {
  return useQuery({ ...seenWebhook(factoryUid, webhookUid), select: ({ body }) => body });
}

/** After a change of webhooks. */
export async function webhooksChanged(queries: QueryClient, factoryUid: string): Promise<void> {
  await Promise.all(
    [['webhooks', factoryUid], ['webhook', factoryUid], ['secrets']].map((queryKey) =>
      queries.invalidateQueries({ queryKey }),
    ),
  );
}

export function useSchemes() {
  return useQuery({
    queryKey: ['signature-schemes'],
    queryFn: ({ signal }) => ask(api.GET('/signature-schemes', { signal })),
    staleTime: Infinity,
  });
}

/**
 * Names of secrets that webhooks of the factory may use: its own, and of the team's those that are granted to it, for
 * admins, or in use here.
 */
export function useSecretNames(factoryUid: string) {
  const isAdmin = useMay('admin');
  const used =
    useWebhooks(factoryUid)
      .data?.filter(({ secret_set: isSet }) => isSet)
      .map(({ secret_name: name }) => name) ?? [];
  const { data = [] } = useQuery({
    queryKey: ['secrets', factoryUid, 'names for webhooks', isAdmin],
    queryFn: ({ signal }) => secretNamesOf(factoryUid, isAdmin, signal),
  });
  return [...new Set([...data, ...used])].toSorted();
}

async function secretNamesOf(factoryUid: string, isAdmin: boolean, signal: AbortSignal): Promise<string[]> {
  const query = { limit: SECRETS_SUGGESTED_MAX };
  const [own, team] = await Promise.all([
    ask(api.GET('/factory/{factory_uid}/secrets', { params: { path: { factory_uid: factoryUid }, query }, signal })),
    isAdmin ? ask(api.GET('/secrets', { params: { query }, signal })) : undefined,
  ]);
  const granted =
    team?.secrets.filter(({ grants: { factories } }) => factories === '*' || factories.includes(factoryUid)) ?? [];
  return [...own.secrets, ...granted].filter(({ grants }) => grants.uses.includes('webhook')).map(({ name }) => name);
}
