/** Who is signed in, and what they may do. */
import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { announceError } from '../components/feedback/announcements.ts';
import { api, ask, type Api } from './client.ts';
import { ended } from './session-end.ts';
import { problemOf } from './problems.ts';
import { carryCsrfToken, renewBy } from './csrf-token.ts';

type Session = Api<'Session'>;
export type Role = Api<'ApiKey'>['role'];

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, manager: 2, admin: 3 };
export const SESSION = ['session'] as const;

const isOtherQuery = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => queryKey[0] !== SESSION[0];

/** Tells the other tabs of this browser, which share its cookie. */
const tabs = new BroadcastChannel('millwright-session');
/** The key that this tab shows things of. */
let shownKeyId: string | undefined;

/**
 * Undefined while nobody knows, null when nobody is signed in. Looked at again whenever somebody comes back to this
 * tab: another one may have signed in or out.
 */
export function useSessionQuery() {
  const queries = useQueryClient();
  useEffect(() => {
    renewBy(() => renewed(queries));
    const onTab = ({ data }: MessageEvent<unknown>): void =>
      data === 'signed out' ? forget(queries) : void follow(queries);
    tabs.addEventListener('message', onTab);
    return () => tabs.removeEventListener('message', onTab);
  }, [queries]);
  return useQuery({
    queryKey: SESSION,
    queryFn: currentSession,
    staleTime: Infinity,
    refetchOnWindowFocus: 'always',
    retry: (count, error) => problemOf(error)?.status === 0 && count < 1_000,
    retryDelay: 2_000,
  });
}

async function currentSession(): Promise<Session | null> {
  try {
    const session = await ask(api.GET('/session'));
    show(session);
    ended.set(false);
    return session;
  } catch (error) {
    const status = problemOf(error)?.status;
    if (status !== 401 && status !== 404) throw error;
    if (shownKeyId === undefined) return null;
    ended.set(true); // the page stays below the sign-in, with what was typed
    throw error;
  }
}

/** Somebody signed in in another tab. */
async function follow(queries: QueryClient): Promise<void> {
  if (await renewed(queries)) await queries.invalidateQueries({ predicate: isOtherQuery });
}

/** Whether the browser's session is of the key that this tab shows things of, and its proof is at hand. */
async function renewed(queries: QueryClient): Promise<boolean> {
  const before = shownKeyId;
  const session = await queries
    .fetchQuery({ queryKey: SESSION, queryFn: currentSession, staleTime: 0 })
    .catch(() => null);
  return session !== null && session.key.id === before;
}

/** What another key was shown is not this one's to see: then the tab begins anew. */
function show({ key, csrf_token: token }: Session): void {
  carryCsrfToken(token);
  if (shownKeyId !== undefined && shownKeyId !== key.id) globalThis.location.reload();
  shownKeyId = key.id;
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (apiKey: string) => ask(api.POST('/session', { body: { api_key: apiKey } })),
    onSuccess: (session) => {
      show(session);
      queries.setQueryData(SESSION, session);
      ended.set(false);
      tabs.postMessage('signed in');
      void queries.invalidateQueries({ predicate: isOtherQuery });
    },
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => ask(api.DELETE('/session')),
    onSettled: (_answer, error) => {
      const status = error === null ? 204 : problemOf(error)?.status;
      if (status !== 204 && status !== 401 && status !== 404)
        return announceError(`You are still signed in: ${error?.message ?? ''}`);
      forget(queries);
      tabs.postMessage('signed out');
    },
  });
}

function forget(queries: QueryClient): void {
  carryCsrfToken('');
  shownKeyId = undefined;
  ended.set(false);
  queries.setQueryData(SESSION, null);
  queries.removeQueries({ predicate: isOtherQuery });
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** The session; only below the sign-in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('nobody is signed in here');
  return session;
}

/** Whether the role suffices. A key that is limited to factories is a manager there at most, as the server has it. */
export function useMay(role: Role): boolean {
  const { key } = useSession();
  const worth = key.role === 'admin' && key.factories !== null ? 'manager' : key.role;
  return RANK[worth] >= RANK[role];
}
