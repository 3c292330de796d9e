/** The API keys: who may do what, until when. */
import { ActionIcon, Badge, Button, Group, Menu, Stack, Switch, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { useMay, useSession } from '../../api/session.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { FactoryName } from '../../components/text/factory-name.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Icon } from '../../components/icon.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { Time } from '../../components/text/time.tsx';
import { hasRunOut, useApiKeys, type ApiKey } from './queries.ts';
import { CreateDialog } from './create-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';

type Opened = { what: 'edit' | 'revoke'; apiKey: ApiKey } | { what: 'create' } | undefined;

export function ApiKeysPage() {
  const [params, setParams] = useSearchParams();
  const isWithRevoked = params.get('include_revoked') === 'true';
  const query = useApiKeys(isWithRevoked);
  const mayManage = useMay('admin');
  const [opened, open] = useState<Opened>();
  const keys = query.data?.pages.flatMap((page) => page.api_keys) ?? [];
  return (
    <>
      <PageTitle actions={mayManage && <Button onClick={() => open({ what: 'create' })}>Create API key</Button>}>
        API keys
      </PageTitle>
      <Switch
        label="Revoked ones too"
        mb="md"
        checked={isWithRevoked}
        onChange={(event) =>
          setParams(event.currentTarget.checked ? { include_revoked: 'true' } : {}, { replace: true })
        }
      />
      <QueryView query={query}>{() => <Keys keys={keys} onOpen={open} />}</QueryView>
      <ShowMore pages={query} what="API keys" />
      {opened?.what === 'create' && <CreateDialog known={keys} onClose={() => open(undefined)} />}
      {opened?.what === 'edit' && <EditDialog apiKey={opened.apiKey} onClose={() => open(undefined)} />}
      {opened?.what === 'revoke' && <RevokeDialog apiKey={opened.apiKey} onClose={() => open(undefined)} />}
    </>
  );
}

const HEADS = ['Name', 'Whose', 'Role', 'Factories', 'Created', 'Runs out', 'Last used'];

function Keys({ keys, onOpen }: { keys: readonly ApiKey[]; onOpen: (opened: Opened) => void }) {
  const own = useSession().key.id;
  return (
    <section className="scroll-x" tabIndex={0} aria-label="List of API keys">
      <Table verticalSpacing="sm" miw={860}>
        <Table.Thead>
          <Table.Tr>
            {HEADS.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Row key={key.id} apiKey={key} isOwn={key.id === own} onOpen={onOpen} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Row({ apiKey, isOwn, onOpen }: { apiKey: ApiKey; isOwn: boolean; onOpen: (opened: Opened) => void }) {
  const { name, hint, role, factories, principal } = apiKey;
  return (
    <Table.Tr>
      <Table.Th scope="row" maw={240}>
        <ListedName>{name}</ListedName>
        <Group gap={6}>
          <Text span size="xs" c="dimmed" fw={400} className="mono">
            {hint}
          </Text>
          {isOwn && <Badge size="sm">signed in with it</Badge>}
          <Ended apiKey={apiKey} />
        </Group>
      </Table.Th>
      <Table.Td maw={200}>
        <UntrustedText>{principal.display_name}</UntrustedText>
        {principal.type === 'service_account' && (
          <Text size="xs" c="dimmed">
            a program
          </Text>
        )}
        {principal.email !== null && (
          <Text size="xs" c="dimmed" component="div">
            <UntrustedText>{principal.email}</UntrustedText>
          </Text>
        )}
      </Table.Td>
      <Table.Td>{role}</Table.Td>
      <Table.Td maw={180}>
        {factories === null ? (
          'all'
        ) : (
          <Stack gap={2}>
            {factories.map((uid) => (
              <FactoryName key={uid} uid={uid} />
            ))}
          </Stack>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={apiKey.created_at} as="ago" />
      </Table.Td>
      <Table.Td>
        <Time at={apiKey.expires_at} />
      </Table.Td>
      <Table.Td>
        <Time at={apiKey.last_used_at} as="ago" />
      </Table.Td>
      <Table.Td>{apiKey.revoked_at === null && <Actions apiKey={apiKey} onOpen={onOpen} />}</Table.Td>
    </Table.Tr>
  );
}

function Ended({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.revoked_at !== null)
    return (
      <Badge size="sm" color="red">
        Revoked <Time at={apiKey.revoked_at} as="ago" />
      </Badge>
    );
  return hasRunOut(apiKey) ? (
    <Badge size="sm" color="orange">
      Has run out
    </Badge>
  ) : null;
}

function Actions({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: (opened: Opened) => void }) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions of ${apiKey.name}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onOpen({ what: 'edit', apiKey })}>Edit</Menu.Item>
        <Menu.Item color="red" onClick={() => onOpen({ what: 'revoke', apiKey })}>
          Revoke
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
