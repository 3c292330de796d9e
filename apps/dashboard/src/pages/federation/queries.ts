/** API queries of the page of federated credentials. */
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';

export type FederatedCredential = Api<'FederatedCredential'>;

export const FEDERATED_CREDENTIALS = ['federated-credentials'] as const;
const REFRESH_MS = 15_000;

/** All of them: there are a hundred at most. */
export function useFederatedCredentials() {
  return useQuery({
    queryKey: FEDERATED_CREDENTIALS,
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/federated-credentials', { signal }))).federated_credentials as FederatedCredential[],
    refetchInterval: REFRESH_MS,
  });
}
