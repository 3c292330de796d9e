/**
 * One run, live: what it does, what it was given, what it made, and who or what started it. Links of sessions lead
 * here.
 */
import { Alert, Paper, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearchParams } from 'react-router';
import { api, ask } from '../../api/client.ts';
import { useMay } from '../../api/session.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { RunStateBadge } from '../../components/feedback/states.tsx';
import { Activity } from './log/activity.tsx';
import { Artifacts } from './artifacts.tsx';
import { CancelRun, InterruptRun } from './cancel.tsx';
import { Conversation } from './conversation.tsx';
import { FollowUp } from './follow-up.tsx';
import { Input } from './input.tsx';
import { Origin } from './origin.tsx';
import { Questions } from './questions.tsx';
import { RunFacts } from './run-facts.tsx';
import { hasEnded, useRun, type Run } from './run.ts';
import { RunTimeline } from './log/timeline.tsx';
import { useRunLog } from './log/use-log.ts';

export function RunPage() {
  const { runId = '' } = useParams();
  return (
    <QueryView query={useRun(runId)} above={{ label: 'All runs', to: '/runs' }}>
      {(run) => <Page key={run.run_id} run={run} />}
    </QueryView>
  );
}

function Page({ run }: { run: Run }) {
  const mayAct = useMay('operator');
  const isLive = !hasEnded(run.state);
  const isWorking = run.state === 'INPROGRESS' || run.state === 'BLOCKED';
  return (
    <>
      <PageTitle
        above={[{ label: 'Runs', to: '/runs' }]}
        aside={
          <span role="status">
            <RunStateBadge state={run.state} />
          </span>
        }
        actions={
          mayAct && isLive && run.is_run_type_cancellable ? (
            <>
              {isWorking && <InterruptRun runId={run.run_id} />}
              <CancelRun runId={run.run_id} title={run.title} />
            </>
          ) : undefined
        }
      >
        {run.title}
      </PageTitle>
      <StatusMessage run={run} />
      <Questions runId={run.run_id} isBlocked={run.state === 'BLOCKED'} wasAsked={run.interactive} />
      <Paper withBorder p="md" mb="md">
        <RunFacts run={run} />
      </Paper>
      <Views run={run} isLive={isLive} />
      {mayAct && <FollowUp runId={run.run_id} state={run.state} />}
    </>
  );
}

/** Why it is in its state, and what can be done about it. */
function StatusMessage({ run: { state, status_message: status } }: { run: Run }) {
  if (status === undefined || state === 'BLOCKED') return null;
  const isBad = state === 'FAILED' || state === 'ERROR';
  return (
    <Alert color={isBad ? 'red' : 'gray'} mb="md" title={isBad ? 'The run did not succeed' : undefined}>
      <Text size="sm">
        <UntrustedText>{status.message}</UntrustedText>
      </Text>
      {status.error_code !== undefined && (
        <Text size="xs" className="mono foreign">
          {status.error_code}
        </Text>
      )}
      {isBad && (
        <Text size="sm" mt={4}>
          {wayOut(status.retryable, state)}
        </Text>
      )}
    </Alert>
  );
}

function wayOut(isRetryable: boolean | undefined, state: Run['state']): string {
  if (isRetryable === true)
    return 'The same run may succeed when it is started again: a follow-up, such as “go on”, does that.';
  return state === 'FAILED'
    ? 'Mend what is said here, then send a follow-up: the run goes on in the same conversation.'
    : 'The log below says what happened before. A follow-up starts it again.';
}

const VIEWS = ['activity', 'conversation', 'input', 'artifacts', 'origin', 'timeline'];

function Views({ run, isLive }: { run: Run; isLive: boolean }) {
  const [params, setParams] = useSearchParams();
  const { log, state } = useRunLog(run.run_id, isLive);
  const explanation = useQuery({
    queryKey: ['explanation', run.run_id],
    queryFn: ({ signal }) => ask(api.GET('/explanations/{id}', { params: { path: { id: run.run_id } }, signal })),
    staleTime: 60_000,
  });
  const view = params.get('view') ?? 'activity';
  const artifacts = run.artifacts ?? [];
  return (
    <Tabs
      value={VIEWS.includes(view) ? view : 'activity'}
      onChange={(next) => setParams(next === null || next === 'activity' ? {} : { view: next })}
      keepMounted={false}
    >
      <Tabs.List aria-label="Parts of the run">
        <Tabs.Tab value="activity">Activity</Tabs.Tab>
        <Tabs.Tab value="conversation">Conversation</Tabs.Tab>
        <Tabs.Tab value="input">Prompt and payload</Tabs.Tab>
        <Tabs.Tab value="artifacts">Artifacts ({artifacts.length})</Tabs.Tab>
        <Tabs.Tab value="origin">Why it ran</Tabs.Tab>
        <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="activity" pt="sm">
        <Activity log={log} state={state} isLive={isLive} />
      </Tabs.Panel>
      <Tabs.Panel value="conversation" pt="sm">
        <Conversation runId={run.run_id} isLive={isLive} />
      </Tabs.Panel>
      <Tabs.Panel value="input" pt="sm">
        <Input run={run} explanation={explanation.data} />
      </Tabs.Panel>
      <Tabs.Panel value="artifacts" pt="sm">
        <Artifacts artifacts={artifacts} />
      </Tabs.Panel>
      <Tabs.Panel value="origin" pt="sm">
        <QueryView query={explanation}>{(known) => <Origin run={run} explanation={known} />}</QueryView>
      </Tabs.Panel>
      <Tabs.Panel value="timeline" pt="sm">
        <RunTimeline runId={run.run_id} isLive={isLive} />
      </Tabs.Panel>
    </Tabs>
  );
}
