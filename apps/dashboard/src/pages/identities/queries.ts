/** What the page of agent identities asks of the server. */
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';

export type AgentIdentity = Api<'AgentIdentity'>;

export const IDENTITIES = ['agent-identities'] as const;
const REFRESH_MS = 15_000;

/** All of them: there are 200 at most. */
export function useIdentities() {
  return useQuery({
    queryKey: IDENTITIES,
    queryFn: async ({ signal }) => (await ask(api.GET('/agent/identities', { signal }))).agents,
    refetchInterval: REFRESH_MS,
  });
}
