/** What the pages of runs share: states, sources, times, and asking for one run. */
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';
import { LIVE_MS } from '../../app/queries.ts';
import { problemOf } from '../../api/problems.ts';

export type Run = Api<'RunItem'>;
export type RunState = Api<'RunState'>;

export const STATES: readonly RunState[] = [
  'QUEUED',
  'CLAIMED',
  'PENDING',
  'INPROGRESS',
  'BLOCKED',
  'SUCCEEDED',
  'FAILED',
  'ERROR',
  'CANCELLED',
];
const ENDS: ReadonlySet<RunState> = new Set<RunState>(['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED']);

/** Whether it is over, until a follow-up queues it again. */
export function hasEnded(state: RunState): boolean {
  return ENDS.has(state);
}

/** Sources that this service produces, in words. */
export const RUN_SOURCES: readonly (readonly [Api<'RunSourceType'>, string])[] = [
  ['CUSTOM_WEBHOOK', 'Webhook'],
  ['SCHEDULED_AGENT', 'Schedule'],
  ['WEB_APP', 'This page'],
  ['API', 'API'],
  ['CLI', 'Command line'],
];

export function sourceText(source: Api<'RunSourceType'>): string {
  return RUN_SOURCES.find(([name]) => name === source)?.[1] ?? source;
}

/** The run, asked for again more often while it goes on. One that is not there is not asked for again. */
export function useRun(runId: string) {
  return useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => ask(api.GET('/agent/runs/{run_id}', { params: { path: { run_id: runId } }, signal })),
    refetchInterval: ({ state: { data, error } }) =>
      problemOf(error)?.status === 404 ? false : data === undefined || !hasEnded(data.state) ? LIVE_MS : 5 * LIVE_MS,
  });
}

/** Milliseconds between two times; undefined when one of them is not there, never negative. */
export function between(from: string | null | undefined, to: string | null | undefined): number | undefined {
  if (from === null || from === undefined || to === null || to === undefined) return undefined;
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
