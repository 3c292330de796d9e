/**
 * What the pages of secrets ask the server for: of the team or of one factory, under one face. Values go through
 * `putSecret` and come from nowhere.
 */
import { useInfiniteQuery, type QueryClient } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';

export type Secret = Api<'Secret'>;
export type SecretUser = Api<'SecretUser'>;
export type Use = Secret['grants']['uses'][number];
/** Undefined: the team. */
export type Owner = string | undefined;

const PAGE_SIZE = 100;
const REFRESH_MS = 15_000;

export function useSecrets(owner: Owner) {
  return useInfiniteQuery({
    queryKey: ['secrets', owner ?? 'team'],
    queryFn: ({ pageParam, signal }) => listSecrets(owner, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: { next_cursor: next } }) => next,
    refetchInterval: REFRESH_MS,
  });
}

function listSecrets(owner: Owner, cursor: string | undefined, signal: AbortSignal): Promise<Api<'SecretList'>> {
  const query = { limit: PAGE_SIZE, cursor };
  if (owner === undefined) return ask(api.GET('/secrets', { params: { query }, signal }));
  return ask(api.GET('/factory/{factory_uid}/secrets', { params: { path: { factory_uid: owner }, query }, signal }));
}

/** Whether a secret of this name is there now. */
export async function isThere(owner: Owner, name: string): Promise<boolean> {
  try {
    await (owner === undefined
      ? ask(api.GET('/secrets/{name}', { params: { path: { name } } }))
      : ask(api.GET('/factory/{factory_uid}/secrets/{name}', { params: { path: { factory_uid: owner, name } } })));
    return true;
  } catch (error) {
    if (problemOf(error)?.status === 404) return false;
    throw error;
  }
}

export function putSecret(owner: Owner, name: string, body: Api<'SecretPut'>): Promise<Secret> {
  if (owner === undefined) return ask(api.PUT('/secrets/{name}', { params: { path: { name } }, body }));
  return ask(
    api.PUT('/factory/{factory_uid}/secrets/{name}', { params: { path: { factory_uid: owner, name } }, body }),
  );
}

export async function deleteSecret(owner: Owner, name: string, force: boolean): Promise<void> {
  if (owner === undefined) await ask(api.DELETE('/secrets/{name}', { params: { path: { name }, query: { force } } }));
  else
    await ask(
      api.DELETE('/factory/{factory_uid}/secrets/{name}', {
        params: { path: { factory_uid: owner, name }, query: { force } },
      }),
    );
}

/** After a change: webhooks say whether their secret is set. */
export async function secretsChanged(queries: QueryClient): Promise<void> {
  await Promise.all(
    [['secrets'], ['webhooks'], ['webhook'], ['status']].map((queryKey) => queries.invalidateQueries({ queryKey })),
  );
}
