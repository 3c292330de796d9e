/** What the page of schedules asks of the server. */
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../api/client.ts';
import { LIVE_MS } from '../../app/queries.ts';

export type Schedule = Api<'ScheduleItem'>;

export const SCHEDULES = ['schedules'] as const;

/** All of them, by name. */
export function useSchedules() {
  return useQuery({
    queryKey: SCHEDULES,
    queryFn: async ({ signal }) => (await ask(api.GET('/agent/schedules', { signal }))).schedules,
    refetchInterval: 2 * LIVE_MS,
  });
}

/** Pauses or resumes one. */
export function setEnabled({ id, enabled }: Schedule, key: string): Promise<Schedule> {
  const params = { path: { schedule_id: id }, header: { 'Idempotency-Key': key } };
  return enabled
    ? ask(api.POST('/agent/schedules/{schedule_id}/pause', { params }))
    : ask(api.POST('/agent/schedules/{schedule_id}/resume', { params }));
}
