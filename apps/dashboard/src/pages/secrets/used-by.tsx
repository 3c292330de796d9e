/** What would break without a secret, with the way there. */
import { Anchor, List, Text } from '@mantine/core';
import { Link } from 'react-router';
import { FactoryName } from '../../components/text/factory-name.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import type { SecretUser } from './queries.ts';

const KINDS: Readonly<Record<SecretUser['kind'], string>> = {
  webhook: 'Webhook',
  automation: 'Automation',
  environment: 'Environment',
  factory: 'Source or run defaults of the factory',
  schedule: 'Schedule',
  agent_identity: 'Agent identity',
};

const pagesOf = (base: string): Readonly<Record<SecretUser['kind'], string>> => ({
  webhook: `${base}/webhooks`,
  automation: `${base}/automations`,
  environment: `${base}/sync`,
  factory: `${base}/sync`,
  schedule: '/schedules',
  agent_identity: '/agent-identities',
});

export function UsedBy({ users, withFactory }: { users: readonly SecretUser[]; withFactory: boolean }) {
  if (users.length === 0)
    return (
      <Text size="sm" c="dimmed">
        nothing yet
      </Text>
    );
  return (
    <List size="sm" listStyleType="none" spacing={2}>
      {users.map((user) => (
        <List.Item key={`${user.factory_uid} ${user.kind} ${user.uid ?? user.slug}`}>
          <User user={user} withFactory={withFactory} />
        </List.Item>
      ))}
    </List>
  );
}

function User({
  user: { kind, factory_uid: factory, slug, webhook_uid: webhook },
  withFactory,
}: {
  user: SecretUser;
  withFactory: boolean;
}) {
  const base = `/factories/${factory}`;
  const to = kind === 'webhook' && webhook !== undefined ? `${base}/webhooks/${webhook}` : pagesOf(base)[kind];
  return (
    <>
      {KINDS[kind]}{' '}
      <Anchor component={Link} to={to} size="sm">
        <UntrustedText>{slug}</UntrustedText>
      </Anchor>
      {withFactory && kind !== 'factory' && (
        <>
          {' '}
          in <FactoryName uid={factory} />
        </>
      )}
    </>
  );
}
