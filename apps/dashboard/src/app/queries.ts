/** What the page remembers of the server, and how it asks again. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ended } from '../api/session-end.ts';
import { isGone, problemOf } from '../api/problems.ts';
import { SESSION } from '../api/session.tsx';

/** Asking again makes sense when nobody answered, or the server said that it was its own fault. */
function isWorthRetrying(count: number, error: unknown): boolean {
  const problem = problemOf(error);
  return (
    problem !== undefined && (problem.status === 0 || problem.status === 429 || problem.status >= 500) && count < 3
  );
}

function noteEnd(error: unknown): void {
  if (problemOf(error)?.status === 401 && queries.getQueryData(SESSION)) ended.set(true);
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEnd }),
  mutationCache: new MutationCache({ onError: noteEnd }),
  defaultOptions: {
    // The service may run on this very machine: whether there is an internet says nothing.
    queries: { networkMode: 'always', retry: isWorthRetrying, staleTime: 2_000, refetchOnWindowFocus: true },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** How often what changes by itself is asked for again, while somebody looks. */
export const LIVE_MS = 3_000;

/** How often one thing is asked for again: no more once it is not there. */
export function live(everyMs = LIVE_MS): (query: { state: { error: Error | null } }) => number | false {
  return ({ state }) => (isGone(state.error) ? false : everyMs);
}
