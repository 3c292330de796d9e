/** One automation: what starts it, what it says, and how it did. */
import { Anchor, Badge, Paper, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense, type ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import { isGone } from '../../api/problems.ts';
import { useMay } from '../../api/session.tsx';
import { RunsChart, StartLatencyChart } from '../../charts/index.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Copyable } from '../../components/text/copy.tsx';
import { Loading } from '../../components/lists/empty.tsx';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { EnabledBadge } from '../../components/feedback/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { AutomationActions } from './actions.tsx';
import { useAutomation, useWebhookNames, type SeenAutomation } from '../../api/automations.ts';
import { settingsSaid } from './form/draft.ts';
import { FilterField } from './form/filter-field.tsx';
import { Gone } from './gone.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { ScheduleInWords, WebhookLinks } from './triggers-in-words.tsx';

const CodeEditor = lazy(() => import('../../editor/code-editor.tsx'));

export function AutomationPage() {
  const factory = useFactory();
  const { automationId = '' } = useParams();
  const query = useAutomation(factory.uid, automationId);
  const isDeleted = query.data !== undefined && isGone(query.error);
  return (
    <>
      {isDeleted && <Gone factoryUid={factory.uid}>It starts nothing any more. What you see is what it was.</Gone>}
      <QueryView query={query} above={{ label: 'All automations', to: `/factories/${factory.uid}/automations` }}>
        {(seen) => <Automation factory={factory} seen={seen} isDeleted={isDeleted} />}
      </QueryView>
    </>
  );
}

function Automation({
  factory,
  seen,
  isDeleted,
}: {
  factory: Api<'Factory'>;
  seen: SeenAutomation;
  isDeleted: boolean;
}) {
  const mayEdit = useMay('manager');
  const { body: automation } = seen;
  const { name, description, enabled, uid } = automation;
  const settings = settingsSaid(automation);
  return (
    <Stack gap="lg">
      <div>
        <PageTitle
          above={[{ label: 'Automations', to: `/factories/${factory.uid}/automations` }]}
          aside={isDeleted ? <Badge color="orange">Deleted</Badge> : <EnabledBadge enabled={enabled} />}
          actions={mayEdit && !isDeleted && <AutomationActions factoryUid={factory.uid} seen={seen} />}
        >
          {name}
        </PageTitle>
        {description !== undefined && (
          <Text component="div">
            <UntrustedText>{description}</UntrustedText>
          </Text>
        )}
      </div>
      <AutomationFacts factory={factory} automation={automation} />
      <Part title="Triggers">
        <Triggers factory={factory} automation={automation} />
      </Part>
      {automation.schedules !== undefined && (
        <Part title="Schedules">
          <Schedules schedules={automation.schedules} />
        </Part>
      )}
      <Part title="Prompt">
        <Suspense fallback={<Loading />}>
          <CodeEditor
            label="Prompt"
            language="markdown"
            value={automation.prompt}
            readOnly
            minHeight="4rem"
            maxHeight="32rem"
          />
        </Suspense>
      </Part>
      <Part title="Settings">
        {Object.keys(settings).length === 0 ? (
          <Text size="sm" c="dimmed">
            It says nothing of agent, concurrency, limits and network: factory and server decide.
          </Text>
        ) : (
          <Suspense fallback={<Loading />}>
            <CodeEditor
              label="Settings"
              language="json"
              value={JSON.stringify(settings, null, 2)}
              readOnly
              minHeight="2rem"
              maxHeight="24rem"
            />
          </Suspense>
        )}
      </Part>
      <Part title="Runs">
        <Anchor component={Link} to={`/factories/${factory.uid}/runs?automation_id=${uid}`} size="sm">
          All runs of this automation
        </Anchor>
        <RunsChart factoryUid={factory.uid} automationId={uid} hours={168} />
        <StartLatencyChart factoryUid={factory.uid} automationId={uid} hours={168} />
      </Part>
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function AutomationFacts({ factory, automation }: { factory: Api<'Factory'>; automation: Api<'Automation'> }) {
  const {
    uid,
    slug,
    revision,
    file,
    version,
    created_at: createdAt,
    updated_at: updatedAt,
    last_fired_at: lastFiredAt,
  } = automation;
  return (
    <Facts
      facts={[
        ['Last fired', <Time key="fired" at={lastFiredAt} as="ago" />],
        ['Runs of the last 7 days', <RecentRuns key="runs" factoryUid={factory.uid} automation={automation} />],
        ['UID', <Copyable key="uid" value={uid} what="the UID" />],
        [
          'Slug',
          <span key="slug" className="mono">
            {slug}
          </span>,
        ],
        ['Version', String(version)],
        ['Revision', <RevisionText key="revision" factoryUid={factory.uid} revision={revision} />],
        file !== null && ['File', <Copyable key="file" value={file} what="the path of the file" />],
        ['Created', <Time key="created" at={createdAt} />],
        ['Updated', <Time key="updated" at={updatedAt} />],
      ]}
    />
  );
}

function Triggers({ factory, automation }: { factory: Api<'Factory'>; automation: Api<'Automation'> }) {
  const nameOf = useWebhookNames(factory.uid);
  return (
    <>
      {automation.triggers.map(
        (
          { provider, webhook_uids: webhookUids = [], payload, name, cron = '', declared_provider: declared },
          index,
        ) => (
          <Paper key={index} withBorder p="sm">
            <Stack gap="xs">
              {provider === 'webhook' && (
                <Text size="sm" component="div">
                  On deliveries of <WebhookLinks factoryUid={factory.uid} uids={webhookUids} nameOf={nameOf} />
                  {payload === undefined ? ', every one of them.' : ' that pass this filter:'}
                </Text>
              )}
              {provider === 'webhook' && payload !== undefined && (
                <FilterField
                  factoryUid={factory.uid}
                  webhookUids={webhookUids}
                  value={JSON.stringify(payload, null, 2)}
                  label={`Payload filter of trigger ${index + 1}`}
                />
              )}
              {provider === 'schedule' && (
                <Text size="sm" component="div">
                  <ScheduleInWords name={name} cron={cron} />
                </Text>
              )}
              {provider === 'inactive' && (
                <Text size="sm">
                  Provider{' '}
                  <span className="mono">
                    <UntrustedText>{declared ?? ''}</UntrustedText>
                  </span>
                  : not served here, never fires.
                </Text>
              )}
            </Stack>
          </Paper>
        ),
      )}
    </>
  );
}

function Schedules({ schedules }: { schedules: NonNullable<Api<'Automation'>['schedules']> }) {
  return (
    <Stack gap="md">
      {schedules.map(
        ({
          schedule_id: id,
          name,
          cron,
          next_at: nextAt,
          last_fired_at: firedAt,
          missed,
          last_missed_at: missedAt,
        }) => (
          <Facts
            key={id}
            facts={[
              ['When', <ScheduleInWords key="when" name={name} cron={cron} />],
              ['Next', <Time key="next" at={nextAt} never="not while it is disabled" />],
              ['Last fired for', <Time key="fired" at={firedAt} />],
              [
                'Missed',
                missed === 0 ? (
                  'none'
                ) : (
                  <>
                    {missed}, the latest <Time key="missed" at={missedAt} />
                  </>
                ),
              ],
            ]}
          />
        ),
      )}
    </Stack>
  );
}
