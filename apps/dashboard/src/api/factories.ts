/** The factories that one may see, for names and pickers. */
import { useQuery } from '@tanstack/react-query';
import { api, ask } from './client.ts';

/** The first 500 of them. */
export function useFactories() {
  return useQuery({
    queryKey: ['factories', 'names'],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/factory', { params: { query: { limit: 500 } }, signal }))).factories,
    staleTime: 60_000,
  });
}

export function useFactoryName(uid: string | undefined): string | undefined {
  const { data } = useFactories();
  return uid === undefined ? undefined : (data?.find((factory) => factory.uid === uid)?.name ?? uid);
}
