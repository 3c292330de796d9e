/** The state changes of a run since its creation. */
import { Text, Timeline as Line } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../../../api/client.ts';
import { LIVE_MS } from '../../../app/queries.ts';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { Time } from '../../../components/text/time.tsx';

const WORDS: Readonly<Record<Api<'TimelineEvent'>['event_type'], string>> = {
  oz_run_created: 'Created',
  oz_run_claimed: 'Taken by an execution',
  worker_container_ready: 'Workspace prepared',
  agent_started: 'Agent started',
  run_followup: 'Follow-up',
  run_interrupt_requested: 'Interrupt asked for',
  run_cancel_requested: 'Cancel asked for',
  run_taken_over: 'Lost, and taken over by another execution',
  run_handed_over: 'Handed over to another execution',
  oz_run_done: 'Succeeded',
  oz_run_failed: 'Failed',
  oz_run_errored: 'Ended with an error',
  oz_run_cancelled: 'Cancelled',
};

export function RunTimeline({ runId, isLive }: { runId: string; isLive: boolean }) {
  const query = useQuery({
    queryKey: ['run', runId, 'timeline'],
    queryFn: async ({ signal }) =>
      (
        await ask(
          api.GET('/agent/runs/{run_id}/timeline', {
            params: { path: { run_id: runId }, query: { detail: 'all' } },
            signal,
          }),
        )
      ).events,
    refetchInterval: isLive ? LIVE_MS : false,
  });
  return (
    <QueryView query={query}>
      {(events) => (
        <Line active={events.length} bulletSize={14} lineWidth={2}>
          {events.map((event) => (
            <Line.Item key={event.event_uuid} title={WORDS[event.event_type] ?? event.event_type}>
              <Text size="xs" c="dimmed">
                <Time at={event.occurred_at} />
                {detailOf(event)}
              </Text>
            </Line.Item>
          ))}
        </Line>
      )}
    </QueryView>
  );
}

function detailOf({ payload = {} }: Api<'TimelineEvent'>): string {
  const said = Object.entries(payload).filter(
    ([name, value]) => ['source', 'epoch', 'outcome'].includes(name) && ['string', 'number'].includes(typeof value),
  );
  return said.map(([name, value]) => ` · ${name === 'epoch' ? 'execution' : name} ${String(value)}`).join('');
}
