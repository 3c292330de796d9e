/** The filters of the list of runs, between the URL of the page and the query of the API. Both use the same names. */
import type { paths } from '#client/generated';

export type RunQuery = NonNullable<paths['/agent/runs']['get']['parameters']['query']>;

/** Filters that take several values. */
const LISTS = ['state', 'source', 'factory_uid'] as const;
/** Filters that take one. */
const SINGLES = [
  'q',
  'name',
  'model_id',
  'creator',
  'executor',
  'environment_id',
  'skill',
  'automation_id',
  'webhook_uid',
  'delivery_id',
  'schedule_id',
  'created_after',
  'created_before',
  'updated_after',
  'artifact_type',
  'ancestor_run_id',
] as const;
const METADATA = /^metadata\[(.+)\]$/;

type ListFilter = (typeof LISTS)[number];
export type SingleFilter = (typeof SINGLES)[number];

/** How the filters are called on the page. */
export const LABELS: Readonly<Record<ListFilter | SingleFilter, string>> = {
  state: 'State',
  source: 'Source',
  factory_uid: 'Factory',
  q: 'Search',
  name: 'Configuration',
  model_id: 'Model',
  creator: 'Creator',
  executor: 'Executor',
  environment_id: 'Environment',
  skill: 'Skill',
  automation_id: 'Automation',
  webhook_uid: 'Webhook',
  delivery_id: 'Delivery',
  schedule_id: 'Schedule',
  created_after: 'Created after',
  created_before: 'Created before',
  updated_after: 'Changed after',
  artifact_type: 'Artifact',
  ancestor_run_id: 'Below run',
};

export const SORTS = [
  { value: 'created_at desc', label: 'Newest first' },
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Changed last first' },
  { value: 'updated_at asc', label: 'Changed last at the end' },
  { value: 'title asc', label: 'Title A–Z' },
  { value: 'title desc', label: 'Title Z–A' },
] as const;

/**
 * What is asked of the server. What the address says wrongly is asked all the same: the server says what is wrong with
 * it.
 */
export function queryOf(params: URLSearchParams, factoryUid?: string): RunQuery {
  const query: Record<string, unknown> = {
    sort_by: params.get('sort_by') ?? 'created_at',
    sort_order: params.get('sort_order') ?? 'desc',
  };
  for (const name of LISTS) if (params.has(name)) query[name] = params.getAll(name);
  for (const name of SINGLES) if (params.has(name)) query[name] = params.get(name);
  const metadata = metadataOf(params);
  if (metadata.length > 0) query['metadata'] = Object.fromEntries(metadata);
  if (factoryUid !== undefined) query['factory_uid'] = [factoryUid];
  return query;
}

export function metadataOf(params: URLSearchParams): [key: string, value: string][] {
  return [...params].flatMap(([name, value]): [string, string][] => {
    const key = METADATA.exec(name)?.[1];
    return key === undefined ? [] : [[key, value]];
  });
}

/** Each filter that is set, one for each value, and the address without it. */
export function chosen(
  params: URLSearchParams,
): { name: string; label: string; value: string; without: URLSearchParams }[] {
  return [...params].flatMap(([name, value]) => {
    const label = METADATA.exec(name)?.[1] ?? (LABELS as Record<string, string>)[name];
    if (label === undefined) return [];
    const without = new URLSearchParams(params);
    without.delete(name, value);
    return [{ name, label, value, without }];
  });
}

/** The same address with other values of one name; none takes it away. */
export function withValues(params: URLSearchParams, name: string, values: readonly string[]): URLSearchParams {
  const next = new URLSearchParams(params);
  next.delete(name);
  for (const value of values) if (value !== '') next.append(name, value);
  return next;
}

/** The order alone, as it is in the address. */
export function orderOnly(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params].filter(([name]) => name === 'sort_by' || name === 'sort_order'));
}
