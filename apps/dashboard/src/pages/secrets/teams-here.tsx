/** Secrets of the team that a factory uses: admins see them as they are, others as far as webhooks name them. */
import { Anchor, Badge, List, Table, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { useMay } from '../../api/session.tsx';
import { useWebhooks } from '../../api/webhooks.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { useSecrets } from './queries.ts';
import { State } from './list.tsx';
import { UsedBy } from './used-by.tsx';

export function TeamsHere({ factoryUid }: { factoryUid: string }) {
  const isAdmin = useMay('admin');
  return (
    <section aria-labelledby="teams-here">
      <Title order={2} size="h4" mt="xl" mb="xs" id="teams-here">
        Team secrets that it uses
      </Title>
      {isAdmin ? <ForAdmins factoryUid={factoryUid} /> : <NamedByWebhooks factoryUid={factoryUid} />}
    </section>
  );
}

function ForAdmins({ factoryUid }: { factoryUid: string }) {
  const query = useSecrets(undefined);
  const secrets = (query.data?.pages ?? [])
    .flatMap((page) => page.secrets)
    .map((secret) => ({ secret, users: secret.used_by.filter((user) => user.factory_uid === factoryUid) }))
    .filter(({ users }) => users.length > 0);
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {secrets.length === 0 ? 'None. ' : ''}Those that are granted to it can be used by their names; they are changed
        at{' '}
        <Anchor component={Link} to="/secrets" size="sm" underline="always">
          Team secrets
        </Anchor>
        .
      </Text>
      {secrets.length > 0 && (
        <div className="scroll-x" role="region" tabIndex={0} aria-label="Team secrets that it uses">
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                {['Name', 'State', 'Used by'].map((head) => (
                  <Table.Th key={head} scope="col">
                    {head}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {secrets.map(({ secret, users }) => (
                <Table.Tr key={secret.name}>
                  <Table.Th scope="row" className="mono">
                    <UntrustedText>{secret.name}</UntrustedText>
                  </Table.Th>
                  <Table.Td>
                    <State secret={secret} />
                  </Table.Td>
                  <Table.Td>
                    <UsedBy users={users} withFactory={false} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      <ShowMore pages={query} what="team secrets" />
    </>
  );
}

/** A secret that serves a webhook and is not the factory's own is the team's. */
function NamedByWebhooks({ factoryUid }: { factoryUid: string }) {
  const own = useSecrets(factoryUid);
  const webhooks = useWebhooks(factoryUid).data ?? [];
  const names = new Set(own.data?.pages.flatMap((page) => page.secrets.map(({ name }) => name)));
  const isWhole = own.data !== undefined && !own.hasNextPage;
  const others = isWhole
    ? webhooks.filter(({ secret_set: isSet, secret_name: name }) => isSet && !names.has(name))
    : [];
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        Secrets of the team that are granted to this factory can be used by their names. Admins see and change them;
        these are known by the webhooks that use them{others.length === 0 ? ': none' : ':'}
      </Text>
      <List size="sm" listStyleType="none" spacing={2}>
        {others.map(({ uid, name, secret_name: secretName }) => (
          <List.Item key={uid}>
            <span className="mono">
              <UntrustedText>{secretName}</UntrustedText>
            </span>{' '}
            <Badge color="teal">Set</Badge> Webhook{' '}
            <Anchor component={Link} to={`/factories/${factoryUid}/webhooks/${uid}`} size="sm">
              <UntrustedText>{name}</UntrustedText>
            </Anchor>
          </List.Item>
        ))}
      </List>
    </>
  );
}
