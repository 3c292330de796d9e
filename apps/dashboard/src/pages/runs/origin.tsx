/** Who or what started a run: back to the commit, the delivery and the filter. */
import { Alert, Anchor, Badge, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { MergedPullRequests } from '../../components/text/merged-pull-requests.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { OutcomeBadge } from '../../components/feedback/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { sourceText, type Run } from './run.ts';
import { Verbatim } from './verbatim.tsx';

type Explanation = Api<'Explanation'>;
type Fired = Api<'ExplainedAutomation'>;

export function Origin({ run, explanation }: { run: Run; explanation: Explanation }) {
  const { delivery, webhook, revision, factory_uid: factoryUid } = explanation;
  const fired = explanation.automations.find(({ run_id: id }) => id === run.run_id);
  const merged = explanation.pull_requests.filter((each) => each.revision === revision);
  const base = `/factories/${factoryUid ?? ''}`;
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [
            'Started by',
            <>
              {sourceText(run.source)}
              {delivery === null && (
                <>
                  {' '}
                  · <UntrustedText>{run.creator.display_name}</UntrustedText>
                </>
              )}
            </>,
          ],
          factoryUid !== null && [
            'Factory',
            <Anchor key="f" component={Link} to={base} size="sm">
              <UntrustedText>{explanation.factory_slug ?? factoryUid}</UntrustedText>
            </Anchor>,
          ],
          fired !== undefined && [
            'Automation',
            <Defined key="a" definition={fired} to={`${base}/automations/${fired.uid}`} />,
          ],
          webhook !== null && [
            'Webhook',
            <Defined key="w" definition={webhook} to={`${base}/webhooks/${webhook.uid}`} />,
          ],
          delivery !== null &&
            webhook !== null && [
              'Delivery',
              <Anchor
                key="d"
                component={Link}
                to={`${base}/webhooks/${webhook.uid}/deliveries/${delivery.entry_id}`}
                size="sm"
              >
                <UntrustedText>{delivery.delivery_id}</UntrustedText>
              </Anchor>,
            ],
          delivery !== null && [
            'Received',
            <>
              <Time at={delivery.received_at} /> <OutcomeBadge outcome={delivery.outcome} />
            </>,
          ],
          revision !== null &&
            factoryUid !== null && [
              'Commit of the definitions',
              <RevisionText key="r" factoryUid={factoryUid} revision={revision} what="the commit" />,
            ],
          merged.length > 0 && ['Came with', <MergedPullRequests key="p" merged={merged} />],
          run.schedule !== undefined && [
            'Schedule',
            <UntrustedText key="s">{scheduleText(run.schedule)}</UntrustedText>,
          ],
          run.trigger_url !== undefined && ['About', <UntrustedText key="t">{run.trigger_url}</UntrustedText>],
        ]}
      />
      {delivery === null && run.metadata['delivery_id'] !== undefined && (
        <Alert color="gray" title="The delivery is not in the log any more">
          Its identity was{' '}
          <span className="mono">
            <UntrustedText>{run.metadata['delivery_id']}</UntrustedText>
          </span>
          .
        </Alert>
      )}
      {fired?.trigger != null && <Trigger trigger={fired.trigger} />}
    </Stack>
  );
}

function scheduleText(schedule: NonNullable<Run['schedule']>): string {
  return `${schedule.schedule_name ?? schedule.schedule_id} ${schedule.cron_schedule}`;
}

function Defined({
  definition: { slug, file, standing, changed_at: at },
  to,
}: {
  definition: Pick<Fired, 'slug' | 'file' | 'standing' | 'changed_at'>;
  to: string;
}) {
  return (
    <>
      {standing === 'deleted' ? (
        <UntrustedText>{slug}</UntrustedText>
      ) : (
        <Anchor component={Link} to={to} size="sm">
          <UntrustedText>{slug}</UntrustedText>
        </Anchor>
      )}
      {file !== null && (
        <Text size="xs" c="dimmed" className="mono">
          <UntrustedText>{file}</UntrustedText>
        </Text>
      )}
      {standing !== 'unchanged' && (
        <Text size="xs" component="div">
          <Badge color="orange" size="sm">
            {standing} since
          </Badge>{' '}
          <Time at={at} never="" />
        </Text>
      )}
    </>
  );
}

function Trigger({ trigger }: { trigger: NonNullable<Fired['trigger']> }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        Trigger {trigger.position}
        {trigger.provider === 'schedule' ? ': schedule' : ''}
      </Text>
      {!trigger.as_decided && (
        <Alert color="orange" my={6}>
          The automation has changed since: this is its text now, another one may have decided.
        </Alert>
      )}
      {trigger.cron !== undefined && (
        <Text size="sm" className="mono foreign">
          {trigger.cron}
        </Text>
      )}
      {trigger.provider === 'webhook' &&
        (trigger.filter === undefined ? (
          <Text size="sm">No payload filter: every delivery starts it.</Text>
        ) : (
          <>
            <Text size="sm" c="dimmed">
              Filter that matched
            </Text>
            <Verbatim text={JSON.stringify(trigger.filter, undefined, 2)} label="Filter that matched" />
          </>
        ))}
    </div>
  );
}
