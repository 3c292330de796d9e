/** What a webhook is. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { Copyable } from '../../components/text/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { Time } from '../../components/text/time.tsx';
import type { Webhook } from '../../api/webhooks.ts';
import { modeLabel, overlapLabel, protectionLabel } from './labels.ts';

export function WebhookFacts({
  factory,
  webhook,
  mayManage,
}: {
  factory: Api<'Factory'>;
  webhook: Webhook;
  mayManage: boolean;
}) {
  const { file } = webhook;
  return (
    <Facts
      facts={[
        ['Name', <Copyable key="name" value={webhook.name} what="the name" mono={false} />],
        ['Ingress URL', <Copyable key="url" value={webhook.ingress_url} what="the ingress URL" />],
        ['UID', <Copyable key="uid" value={webhook.uid} what="the UID" />],
        ['Authentication', modeLabel(webhook)],
        [
          'Secret',
          <span key="secret">
            <span className="mono">
              <UntrustedText>{webhook.secret_name}</UntrustedText>
            </span>
            {webhook.secret_set ? ', set' : ', not set'}
          </span>,
        ],
        [
          'Delivery ID header',
          webhook.delivery_id_header === null ? (
            'the default'
          ) : (
            <span key="header" className="mono">
              <UntrustedText>{webhook.delivery_id_header}</UntrustedText>
            </span>
          ),
        ],
        typeof webhook.secret_overlap_minutes === 'number' && ['Secret overlap', overlapLabel(webhook)],
        typeof webhook.previous_secret_until === 'string' && [
          'Secret of before accepted until',
          <Time key="overlap" at={webhook.previous_secret_until} />,
        ],
        webhook.auth_mode === 'signature' && ['Replays', protectionLabel(webhook.replay_protection)],
        [
          'Used by automations',
          <Users
            key="users"
            automations={webhook.used_by_automations ?? []}
            newFor={mayManage ? webhook.uid : undefined}
          />,
        ],
        ['Last delivery', <Time key="last" at={webhook.last_delivery_at} as="ago" />],
        ['Created', <Time key="created" at={webhook.created_at} />],
        ['Updated', <Time key="updated" at={webhook.updated_at} />],
        ['Version', `${webhook.version}`],
        ['Revision', <RevisionText key="revision" factoryUid={factory.uid} revision={webhook.revision} />],
        file !== null && ['File', <Copyable key="file" value={file} what="the path of the file" />],
      ]}
    />
  );
}

/** `newFor`: the webhook that an automation may be created for. */
function Users({ automations, newFor }: { automations: readonly Api<'AutomationReference'>[]; newFor?: string }) {
  if (automations.length === 0)
    return (
      <>
        none: its deliveries start nothing
        {newFor !== undefined && (
          <>
            .{' '}
            <Anchor component={Link} to={`../../automations/new?webhook=${newFor}`} relative="path" size="sm">
              Create automation
            </Anchor>
          </>
        )}
      </>
    );
  return (
    <Group gap="xs">
      {automations.map(({ uid, name, enabled }) => (
        <span key={uid}>
          <Anchor component={Link} to={`../../automations/${uid}`} relative="path" size="sm">
            <UntrustedText>{name}</UntrustedText>
          </Anchor>
          {!enabled && (
            <Text span size="sm" c="dimmed">
              {' '}
              (disabled)
            </Text>
          )}
        </span>
      ))}
    </Group>
  );
}
