/** What starts an automation, a line each. */
import { Anchor, Stack, Text } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { scheduleInWords } from './schedule-words.ts';

interface TriggersInWordsProps {
  factoryUid: string;
  triggers: readonly Api<'AutomationTrigger'>[];
  nameOf: (webhookUid: string) => string | undefined;
}

export function TriggersInWords({ triggers, ...rest }: TriggersInWordsProps) {
  return (
    <Stack gap={2}>
      {triggers.map((trigger, index) => (
        <Text key={index} size="sm" component="div">
          <TriggerInWords trigger={trigger} {...rest} />
        </Text>
      ))}
    </Stack>
  );
}

function TriggerInWords({
  trigger,
  factoryUid,
  nameOf,
}: Omit<TriggersInWordsProps, 'triggers'> & { trigger: Api<'AutomationTrigger'> }) {
  const { provider, webhook_uids: webhookUids = [], payload, name, cron = '', declared_provider: declared } = trigger;
  if (provider === 'schedule') return <ScheduleInWords name={name} cron={cron} />;
  if (provider === 'inactive')
    return (
      <>
        Provider <UntrustedText>{declared ?? ''}</UntrustedText>, which is not served here
      </>
    );
  return (
    <>
      On deliveries of <WebhookLinks factoryUid={factoryUid} uids={webhookUids} nameOf={nameOf} />
      {payload !== undefined && Object.keys(payload).length > 0 && ' that pass its filter'}
    </>
  );
}

export function WebhookLinks({
  factoryUid,
  uids,
  nameOf,
}: {
  factoryUid: string;
  uids: readonly string[];
  nameOf: (webhookUid: string) => string | undefined;
}) {
  return (
    <>
      {uids.map((uid, index) => {
        const name = nameOf(uid);
        return (
          <Fragment key={uid}>
            {index > 0 && ', '}
            {name === undefined ? (
              <span className="mono">{uid} (deleted: never fires)</span>
            ) : (
              <Anchor component={Link} to={`/factories/${factoryUid}/webhooks/${uid}`} inherit underline="always">
                <UntrustedText>{name}</UntrustedText>
              </Anchor>
            )}
          </Fragment>
        );
      })}
    </>
  );
}

export function ScheduleInWords({ name, cron }: { name?: string; cron: string }) {
  const words = scheduleInWords(cron);
  return (
    <>
      {name !== undefined && (
        <>
          <UntrustedText>{name}</UntrustedText>:{' '}
        </>
      )}
      {words === undefined ? (
        <>
          at{' '}
          <span className="mono">
            <UntrustedText>{cron}</UntrustedText>
          </span>{' '}
          (UTC)
        </>
      ) : (
        <span title={cron}>{words}</span>
      )}
    </>
  );
}
