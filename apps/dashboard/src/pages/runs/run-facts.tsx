/** Facts of a run: times, usage, configuration, related runs. */
import { Anchor, Badge, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, ask } from '../../api/client.ts';
import { Copyable } from '../../components/text/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { durationText, Time } from '../../components/text/time.tsx';
import { useFactoryName } from '../../api/factories.ts';
import { between, hasEnded, sourceText, type Run } from './run.ts';

export function RunFacts({ run }: { run: Run }) {
  const factory = useFactoryName(run.factory_uid);
  const { agent_config: config } = run;
  const environment = config.environment_id;
  return (
    <Facts
      facts={[
        ['Run', <Copyable key="r" value={run.run_id} what="the ID of the run" />],
        [
          'Started by',
          <>
            {sourceText(run.source)} ·{' '}
            <Anchor
              component={Link}
              to={`/runs?creator=${encodeURIComponent(run.creator.uid)}`}
              size="sm"
              underline="always"
            >
              <UntrustedText>{run.creator.display_name}</UntrustedText>
            </Anchor>
          </>,
        ],
        run.factory_uid !== undefined && [
          'Factory',
          <Anchor key="f" component={Link} to={`/factories/${run.factory_uid}/runs`} size="sm">
            <UntrustedText>{factory ?? run.factory_uid}</UntrustedText>
          </Anchor>,
        ],
        ['Created', <Time key="c" at={run.created_at} />],
        [
          'Started',
          <>
            <Time at={run.started_at} never={hasEnded(run.state) ? 'never' : 'not yet'} />
            {waited(run)}
          </>,
        ],
        [
          'Ended',
          <>
            <Time at={hasEnded(run.state) ? run.finished_at : null} never="not yet" />
            {took(run)}
          </>,
        ],
        ['Usage', usageText(run)],
        ['Model', <UntrustedText key="m">{config.model_id ?? config.harness?.model_id ?? 'default'}</UntrustedText>],
        [
          'Harness',
          <span key="h" className="foreign">
            {config.harness?.type ?? 'default'}
            {run.mode === 'normal' ? '' : ` · mode ${run.mode}`}
            {run.interactive ? ' · somebody watches' : ''}
          </span>,
        ],
        environment !== undefined && [
          'Environment',
          <Anchor key="e" component={Link} to={`/runs?environment_id=${encodeURIComponent(environment)}`} size="sm">
            <UntrustedText>{environment}</UntrustedText>
          </Anchor>,
        ],
        run.agent_skill !== undefined && ['Skill', <UntrustedText key="s">{skillText(run.agent_skill)}</UntrustedText>],
        config.name !== undefined && [
          'Configuration',
          <Anchor key="n" component={Link} to={`/runs?name=${encodeURIComponent(config.name)}`} size="sm">
            <UntrustedText>{config.name}</UntrustedText>
          </Anchor>,
        ],
        run.executor.uid !== run.creator.uid && [
          'Executor',
          <UntrustedText key="x">{run.executor.display_name}</UntrustedText>,
        ],
        run.conversation_id !== undefined &&
          run.conversation_id !== run.run_id && ['Continues', <RunLink key="v" runId={run.conversation_id} />],
        run.parent_run_id !== undefined && ['Started by run', <RunLink key="p" runId={run.parent_run_id} />],
        ['Runs below this one', <Children key="b" runId={run.run_id} />],
        ownEntries(run).length > 0 && ['Metadata', <Metadata key="d" entries={ownEntries(run)} />],
      ]}
    />
  );
}

function RunLink({ runId }: { runId: string }) {
  return (
    <Anchor component={Link} to={`/runs/${runId}`} size="sm" className="mono">
      {runId}
    </Anchor>
  );
}

function waited({ created_at: from, started_at: to }: Run): string {
  const ms = between(from, to);
  return ms === undefined ? '' : ` · waited ${durationText(ms)}`;
}

function took(run: Run): string {
  const ms = between(run.started_at, hasEnded(run.state) ? run.finished_at : undefined);
  return ms === undefined ? '' : ` · took ${durationText(ms)}`;
}

function skillText({ name, commit }: NonNullable<Run['agent_skill']>): string {
  return commit === undefined ? name : `${name} at ${commit.slice(0, 12)}`;
}

function usageText({ request_usage: usage, state }: Run): string {
  if (usage === undefined) return hasEnded(state) ? 'not told' : 'not told yet';
  const { total_tokens: tokens, inference_cost: cost, currency, compute_cost: compute } = usage;
  const said = [
    tokens === undefined ? undefined : `${tokens.toLocaleString()} tokens`,
    cost === undefined
      ? undefined
      : `${cost.toLocaleString(undefined, { maximumFractionDigits: 4 })} ${currency ?? ''}`.trim(),
    compute === undefined ? undefined : `compute ${compute}`,
  ].filter((part) => part !== undefined);
  return said.length === 0 ? 'not told' : said.join(' · ');
}

/** Five are named; the list has the others. */
function Children({ runId }: { runId: string }) {
  const { data } = useQuery({
    queryKey: ['runs', 'below', runId],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/agent/runs', {
          params: { query: { ancestor_run_id: runId, limit: 5, sort_by: 'created_at' } },
          signal,
        }),
      ),
    refetchInterval: 15_000,
  });
  if (data === undefined) return <>…</>;
  if (data.runs.length === 0) return <>none</>;
  return (
    <>
      {data.runs.map((run) => (
        <div key={run.run_id}>
          <Anchor component={Link} to={`/runs/${run.run_id}`} size="sm">
            <UntrustedText>{run.title}</UntrustedText>
          </Anchor>
        </div>
      ))}
      {data.page_info.has_next_page && (
        <Anchor component={Link} to={`/runs?ancestor_run_id=${runId}`} size="sm">
          all of them
        </Anchor>
      )}
    </>
  );
}

/** The keys that the service writes itself stand elsewhere on the page. */
const OWN = new Set(['automation_id', 'webhook_uid', 'delivery_id', 'definition_revision']);

function ownEntries({ metadata }: Run): [key: string, value: string][] {
  return Object.entries(metadata).filter(([key]) => !OWN.has(key));
}

function Metadata({ entries }: { entries: readonly (readonly [key: string, value: string])[] }) {
  return (
    <Group gap={4}>
      {entries.map(([key, value]) => (
        <Badge
          key={key}
          component={Link}
          to={`/runs?${new URLSearchParams({ [`metadata[${key}]`]: value }).toString()}`}
          color="gray"
          style={{ cursor: 'pointer', maxWidth: '100%' }}
        >
          <bdi>{withHiddenNamed(`${key}: ${value}`)}</bdi>
        </Badge>
      ))}
    </Group>
  );
}
