/** State of a factory: its source, what serves, and what keeps the two apart. */
import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { SourceText } from '../factories/source-text.tsx';
import { FactoryStateBadge, problemsOf, type Status } from '../factories/state.tsx';
import { SyncActions } from './actions.tsx';
import { Conditions } from './conditions.tsx';
import { Events } from './events.tsx';
import { PendingApprovals } from './approvals/pending-approvals.tsx';
import { Inventory } from './inventory.tsx';
import { Policy } from './approvals/policy.tsx';
import { ProblemList, problemCount } from './problems.tsx';
import { PullRequests } from './pull-requests.tsx';
import { PushHints } from './push-hints.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { Section } from './section.tsx';
import { useAwaitedPass, type AwaitedPass } from './passes/use-awaited-pass.ts';
import { ENDING_COLORS, endingWords } from './labels.ts';

export function SyncPage() {
  const factory = useFactory();
  const pass = useAwaitedPass(factory.uid);
  return (
    <>
      <PageTitle
        aside={pass.query.data !== undefined && <FactoryStateBadge status={pass.query.data} />}
        actions={<SyncActions factory={factory} pass={pass} />}
      >
        Sync
      </PageTitle>
      {pass.query.data !== undefined && <News pass={pass} status={pass.query.data} />}
      <QueryView query={pass.query}>
        {(status) => (
          <Stack>
            {status.definitions_managed && <SyncEnding status={status} factoryUid={factory.uid} />}
            <PendingApprovals factoryUid={factory.uid} status={status} pass={pass} />
            <Problems factoryUid={factory.uid} status={status} />
            <Section title="Source and revisions">
              <Revisions factory={factory} status={status} />
            </Section>
            <ConditionsOf status={status} />
            {factory.source.forge !== undefined && <PullRequests factoryUid={factory.uid} />}
            <Section title="Events">
              <Events factoryUid={factory.uid} />
            </Section>
            <Section title="What is applied">
              <Inventory factoryUid={factory.uid} items={status.inventory} managed={status.definitions_managed} />
            </Section>
            {status.definitions_managed && <Policy factory={factory} />}
            <PushHints factory={factory} />
          </Stack>
        )}
      </QueryView>
    </>
  );
}

/** Of a factory that no files decide, only its secrets can be in a bad state. */
function ConditionsOf({ status: { conditions, definitions_managed: isManaged } }: { status: Status }) {
  const shown = isManaged
    ? conditions
    : conditions.filter(({ type, status }) => type === 'SecretsDegraded' && status === 'True');
  return shown.length === 0 ? null : (
    <Section title="Conditions">
      <Conditions conditions={shown} />
    </Section>
  );
}

/** What became of what was asked for here. */
function News({ pass, status }: { pass: AwaitedPass; status: Status }) {
  return (
    <div role="status">
      {pass.awaited !== undefined && (
        <Alert color="blue" mb="md" title="A pass is under way">
          Asked for as generation {pass.awaited}; {status.generation_handled} is the last that was answered.
        </Alert>
      )}
      {pass.over !== undefined && (
        <Alert
          color={ENDING_COLORS[pass.over.condition.ending] ?? 'gray'}
          mb="md"
          withCloseButton
          closeButtonLabel="Close"
          onClose={pass.forget}
        >
          <UntrustedText>{endingWords(pass.over)}</UntrustedText>
        </Alert>
      )}
    </div>
  );
}

/** Why what serves is not what the files say. */
function SyncEnding({ status, factoryUid }: { status: Status; factoryUid: string }) {
  const { condition, revision_applied: applied } = status;
  if (condition.ending === 'applied' || condition.ending === 'none') return null;
  return (
    <Alert
      color={ENDING_COLORS[condition.ending]}
      title={`${condition.ending === 'blocked' ? 'Waits for people' : 'Is tried again'}: ${condition.reason ?? ''}`}
    >
      <Text size="sm" component="div">
        <UntrustedText>{condition.message ?? ''}</UntrustedText>
      </Text>
      <Text size="sm" component="div" mt={4}>
        {applied === null ? (
          'Nothing was applied yet.'
        ) : (
          <>
            What serves on: <RevisionText factoryUid={factoryUid} revision={applied} />
          </>
        )}
      </Text>
    </Alert>
  );
}

function Problems({ factoryUid, status }: { factoryUid: string; status: Status }) {
  const problems = problemsOf(status);
  if (problems.length === 0) return null;
  return (
    <Section
      title={`Problems: ${problemCount(problems)}`}
      actions={
        status.last_sync !== null && (
          <Anchor component={Link} to={`/factories/${factoryUid}/sync/passes/${status.last_sync.id}`} size="sm">
            The pass that found them
          </Anchor>
        )
      }
    >
      <ProblemList problems={problems} />
    </Section>
  );
}

function Revisions({ factory, status }: { factory: Api<'Factory'>; status: Status }) {
  if (!status.definitions_managed) return <ServesHere factory={factory} status={status} />;
  const { condition, generation_requested: requested, generation_handled: handled } = status;
  return (
    <Facts
      facts={[
        ['Source', <SourceText key="source" source={factory.source} />],
        [
          'Seen',
          <RevisionText key="seen" factoryUid={factory.uid} revision={status.revision_seen} what="revision seen" />,
        ],
        [
          'Judged',
          <RevisionText
            key="judged"
            factoryUid={factory.uid}
            revision={status.revision_attempted}
            what="revision judged"
          />,
        ],
        [
          'Serves',
          <RevisionText
            key="serves"
            factoryUid={factory.uid}
            revision={status.revision_applied}
            what="revision applied"
          />,
        ],
        [
          'Passes asked for and answered',
          requested === handled ? `${handled}, nothing waits` : `${requested} asked for, ${handled} answered`,
        ],
        ['Last looked', <Time key="looked" at={condition.ending === 'none' ? null : condition.checked_at} as="ago" />],
        ['Like this since', <Time key="since" at={condition.ending === 'none' ? null : condition.since} as="ago" />],
      ]}
    />
  );
}

/** Nothing is reconciled: each change applies at once. */
function ServesHere({ factory, status }: { factory: Api<'Factory'>; status: Status }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        What is saved on these pages serves at once: there are no files to follow, and nothing to sync.
      </Text>
      <Facts
        facts={[
          ['Source', <SourceText key="source" source={factory.source} />],
          [
            'Serves',
            <RevisionText
              key="serves"
              factoryUid={factory.uid}
              revision={status.revision_applied}
              what="revision applied"
            />,
          ],
        ]}
      />
    </Stack>
  );
}
