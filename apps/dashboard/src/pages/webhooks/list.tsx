/** The webhooks of a factory. */
import { Alert, Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { useMay } from '../../api/session.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { EnabledBadge } from '../../components/feedback/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { useUsers } from '../../api/automations.ts';
import { useWebhooks, WEBHOOKS_MAX, type Webhook } from '../../api/webhooks.ts';
import { SecretUnsetBadge } from './unset-badge.tsx';
import { modeLabel } from './labels.ts';
import { sourceKindOf } from '../../api/source-kinds.ts';

export function WebhookListPage() {
  const factory = useFactory();
  const query = useWebhooks(factory.uid);
  const mayManage = useMay('manager');
  const count = query.data?.length ?? 0;
  return (
    <>
      <PageTitle actions={mayManage && count > 0 && <CreateButton isFull={count >= WEBHOOKS_MAX} />}>
        Webhooks
      </PageTitle>
      {factory.definitions_managed && <WhereTheFilesAre factory={factory} />}
      <QueryView query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <NoWebhooks factory={factory} mayManage={mayManage} />
          ) : (
            <Webhooks webhooks={webhooks} factoryUid={factory.uid} />
          )
        }
      </QueryView>
    </>
  );
}

function CreateButton({ isFull }: { isFull: boolean }) {
  return (
    <Group gap="xs">
      {isFull && (
        <Text size="sm" c="dimmed">
          {WEBHOOKS_MAX} of {WEBHOOKS_MAX}: delete one to create another.
        </Text>
      )}
      {isFull ? (
        <Button disabled>Create webhook</Button>
      ) : (
        <Button component={Link} to="new">
          Create webhook
        </Button>
      )}
    </Group>
  );
}

function WhereTheFilesAre({ factory: { source } }: { factory: Api<'Factory'> }) {
  const place = sourceKindOf(source).placeOf(source);
  return (
    <Alert color="blue" mb="md" title="Managed in files">
      These webhooks are the files <span className="mono">webhooks/&lt;name&gt;.yaml</span> of{' '}
      <span className="mono">
        <UntrustedText>{place ?? ''}</UntrustedText>
      </span>
      , and are changed there. Every change that is tried here says which file to edit, with the text.
    </Alert>
  );
}

function NoWebhooks({ factory, mayManage }: { factory: Api<'Factory'>; mayManage: boolean }) {
  return (
    <Empty title="No webhooks yet">
      <Stack align="center" gap="sm">
        <span>A webhook is an address that takes JSON from another system. Automations that select it start runs.</span>
        {mayManage && (
          <Button component={Link} to="new">
            {factory.definitions_managed ? 'Write the file of the first one' : 'Create the first webhook'}
          </Button>
        )}
        {!mayManage && <span>A manager of the factory can create one.</span>}
      </Stack>
    </Empty>
  );
}

/** A phone shows the state beside the name; everything else is one step further. */
const COLUMNS: readonly { label: string; from?: 'sm' }[] = [
  { label: 'Name' },
  { label: 'Authentication', from: 'sm' },
  { label: 'State' },
  { label: 'Last delivery' },
  { label: 'Used by', from: 'sm' },
];

function Webhooks({ webhooks, factoryUid }: { webhooks: readonly Webhook[]; factoryUid: string }) {
  const users = useUsers(factoryUid).data;
  return (
    <section className="scroll-x" tabIndex={0} aria-label="Webhooks of the factory">
      <Table verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            {COLUMNS.map(({ label, from }) => (
              <Table.Th key={label} scope="col" visibleFrom={from}>
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map((webhook) => (
            <Table.Tr key={webhook.uid}>
              <Table.Th scope="row" maw={280}>
                <ListedName to={webhook.uid}>{webhook.name}</ListedName>
                {webhook.description !== null && (
                  <Text size="xs" c="dimmed" component="div" lineClamp={1} fw={400}>
                    <UntrustedText>{webhook.description}</UntrustedText>
                  </Text>
                )}
                <Text size="xs" fw={400} hiddenFrom="sm">
                  {modeLabel(webhook)}
                </Text>
              </Table.Th>
              <Table.Td visibleFrom="sm">{modeLabel(webhook)}</Table.Td>
              <Table.Td>
                <Group gap={4}>
                  <EnabledBadge enabled={webhook.enabled} />
                  {!webhook.secret_set && <SecretUnsetBadge />}
                </Group>
              </Table.Td>
              <Table.Td>
                <Time at={webhook.last_delivery_at} as="ago" />
              </Table.Td>
              <Table.Td maw={260} visibleFrom="sm">
                {users === undefined ? '…' : <UsedBy automations={users.get(webhook.uid) ?? []} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function UsedBy({ automations }: { automations: readonly Api<'Automation'>[] }) {
  if (automations.length === 0)
    return (
      <Text size="sm" c="dimmed">
        no automation
      </Text>
    );
  return (
    <Group gap="xs">
      {automations.map(({ uid, name, enabled }) => (
        <Anchor key={uid} component={Link} to={`../automations/${uid}`} relative="path" size="sm">
          <UntrustedText>{name}</UntrustedText>
          {enabled ? '' : ' (disabled)'}
        </Anchor>
      ))}
    </Group>
  );
}
