/** API queries of the page of API keys. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';

export type ApiKey = Api<'ApiKey'>;

const PAGE_SIZE = 100;
const REFRESH_MS = 15_000;

export function useApiKeys(isWithRevoked: boolean) {
  return useInfiniteQuery({
    queryKey: ['api-keys', { isWithRevoked }],
    queryFn: ({ pageParam, signal }) =>
      ask(
        api.GET('/api-keys', {
          params: { query: { limit: PAGE_SIZE, cursor: pageParam, include_revoked: isWithRevoked } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: { next_cursor: next } }) => next,
    refetchInterval: REFRESH_MS,
  });
}

export const ROLES: readonly { role: ApiKey['role']; label: string; means: string }[] = [
  { role: 'viewer', label: 'Viewer', means: 'reads' },
  { role: 'operator', label: 'Operator', means: 'starts and steers runs too' },
  { role: 'manager', label: 'Manager', means: 'manages factories too, their webhooks, automations and secrets' },
  {
    role: 'admin',
    label: 'Admin',
    means: 'everything: factories, the team’s secrets, API keys and the audit trail too',
  },
];

/** Whether it is refused because its time is over. */
export function hasRunOut({ expires_at: end }: Pick<ApiKey, 'expires_at'>): boolean {
  return end !== null && Date.parse(end) <= Date.now();
}
