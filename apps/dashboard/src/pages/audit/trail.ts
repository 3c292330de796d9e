/** What the page of the audit trail asks the server for, and how it says it. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';

export type AuditEntry = Api<'AuditEntry'>;

/** Filters, by their names in the interface, which are those in the address of the page. */
export const FILTERS = ['actor', 'action', 'subject', 'factory_uid', 'since', 'until'] as const;
export type AuditFilter = Partial<Record<(typeof FILTERS)[number], string>>;

const PAGE_SIZE = 100;
const REFRESH_MS = 5_000;

/** Actions that the service writes down; others can be asked for too. */
export const ACTIONS = [
  'api_key.change',
  'api_key.create',
  'api_key.revoke',
  'agent_identity.change',
  'agent_identity.create',
  'agent_identity.delete',
  'automation.change',
  'automation.create',
  'automation.delete',
  'delivery.resend',
  'factory.approve',
  'factory.change',
  'factory.create',
  'factory.delete',
  'factory.resume',
  'factory.suspend',
  'factory.sync',
  'run.cancel',
  'run.create',
  'run.followup',
  'run.interrupt',
  'run.permission',
  'schedule.change',
  'schedule.create',
  'schedule.delete',
  'schedule.pause',
  'schedule.resume',
  'secret.bind',
  'secret.change',
  'secret.create',
  'secret.delete',
  'session.create',
  'session.delete',
  'webhook.change',
  'webhook.create',
  'webhook.delete',
  'webhook.rotate',
];

export function filterOf(params: URLSearchParams): AuditFilter {
  return Object.fromEntries(FILTERS.flatMap((name) => (params.has(name) ? [[name, params.get(name)]] : [])));
}

/** Newest first; kept current but while `isRead`, when nothing may move. */
export function useTrail(filter: AuditFilter, isRead: () => boolean) {
  const trail = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) =>
      ask(api.GET('/audit', { params: { query: { ...filter, limit: PAGE_SIZE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: { next_cursor: next } }) => next,
    refetchOnWindowFocus: false,
  });
  const { refetch } = trail;
  const refresh = useEffectEvent(() => {
    if (!isRead() && document.visibilityState === 'visible') void refetch({ cancelRefetch: false });
  });
  useEffect(() => {
    const timer = setInterval(() => refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return trail;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Names of API keys by their identifiers, revoked ones too; of the newest 500. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data = NO_NAMES } = useQuery({
    queryKey: ['api-keys', 'names'],
    queryFn: ({ signal }) =>
      ask(api.GET('/api-keys', { params: { query: { limit: 500, include_revoked: true } }, signal })),
    select: namesOf,
    staleTime: 60_000,
  });
  return data;
}

function namesOf({ api_keys: keys }: Api<'ApiKeyList'>): ReadonlyMap<string, string> {
  return new Map(keys.map(({ id, name }) => [id, name]));
}

/** `version: 2 · uses: webhook, run`. */
export function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(' · ');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((one) => valueText(one)).join(', ');
  return JSON.stringify(value);
}
