/** What stops when a held deletion is approved: the current usage. */
import { Text } from '@mantine/core';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { Time } from '../../../components/text/time.tsx';
import { useAutomations } from '../../../api/automations.ts';
import { useWebhooks } from '../../../api/webhooks.ts';
import type { Change } from '../queries.ts';
import { countOf } from '../../../components/text/count.ts';

export function UsageOfDeleted({ factoryUid, change: { kind, uid } }: { factoryUid: string; change: Change }) {
  if (kind === 'webhook') return <UseOfWebhook factoryUid={factoryUid} uid={uid} />;
  return kind === 'automation' ? <UseOfAutomation factoryUid={factoryUid} uid={uid} /> : null;
}

function UseOfWebhook({ factoryUid, uid }: { factoryUid: string; uid: string }) {
  const webhook = useWebhooks(factoryUid).data?.find((known) => known.uid === uid);
  const users = useAutomations(factoryUid).data?.filter(({ triggers }) =>
    triggers.some((trigger) => trigger.webhook_uids?.includes(uid)),
  );
  if (webhook === undefined || users === undefined) return null;
  return (
    <Text size="sm" component="div">
      Last delivery <Time at={webhook.last_delivery_at} as="ago" />.{' '}
      {users.length === 0 ? (
        'No automation selects it.'
      ) : (
        <>
          Stops firing for it:{' '}
          <UntrustedText>
            {users.map(({ name, enabled }) => `${name}${enabled ? '' : ' (disabled)'}`).join(', ')}
          </UntrustedText>
          .
        </>
      )}
    </Text>
  );
}

function UseOfAutomation({ factoryUid, uid }: { factoryUid: string; uid: string }) {
  const automation = useAutomations(factoryUid).data?.find((known) => known.uid === uid);
  if (automation === undefined) return null;
  return (
    <Text size="sm" component="div">
      Last fired <Time at={automation.last_fired_at} as="ago" />; {countOf(automation.recent_runs.total, 'run')} in the
      last 7 days.
    </Text>
  );
}
