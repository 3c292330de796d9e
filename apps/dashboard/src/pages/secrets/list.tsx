/** Secrets of one owner: what they are called and who uses them, never what they say. */
import { ActionIcon, Badge, Button, Group, Menu, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { FactoryName } from '../../components/text/factory-name.tsx';
import { Icon } from '../../components/icon.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { Time } from '../../components/text/time.tsx';
import { useSecrets, type Owner, type Secret } from './queries.ts';
import { CreateDialog } from './create-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { GrantsDialog } from './grants-dialog.tsx';
import { USES } from './grants-fields.tsx';
import { UsedBy } from './used-by.tsx';
import { ValueDialog } from './value-dialog.tsx';

const DIALOGS = { value: ValueDialog, grants: GrantsDialog, delete: DeleteDialog } as const;
type Opened = { what: keyof typeof DIALOGS; secret: Secret } | { what: 'create' } | undefined;

interface SecretListProps {
  title: string;
  owner: Owner;
  /** What such secrets are for. */
  hint: string;
  mayManage: boolean;
  /** Said where there are none. */
  empty?: string;
}

export function SecretList({ title, owner, hint, mayManage, empty = 'No secrets yet' }: SecretListProps) {
  const query = useSecrets(owner);
  const [opened, open] = useState<Opened>();
  const close = (): void => open(undefined);
  const secrets = query.data?.pages.flatMap((page) => page.secrets);
  const create = <Button onClick={() => open({ what: 'create' })}>Create secret</Button>;
  return (
    <>
      <PageTitle actions={mayManage && secrets !== undefined && secrets.length > 0 && create}>{title}</PageTitle>
      <Text size="sm" c="dimmed" mb="md">
        {hint}
      </Text>
      {secrets === undefined && <QueryView query={query}>{() => null}</QueryView>}
      {secrets?.length === 0 && (
        <Empty title={empty}>
          <Stack align="center" gap="sm">
            <span>A secret is set once and never shown; webhooks, runs and repositories use it by its name.</span>
            {mayManage && create}
          </Stack>
        </Empty>
      )}
      {secrets !== undefined && secrets.length > 0 && (
        <Secrets secrets={secrets} isTeam={owner === undefined} onOpen={open} />
      )}
      <ShowMore pages={query} what="secrets" />
      {opened !== undefined && <Dialog opened={opened} owner={owner} onClose={close} />}
    </>
  );
}

function Dialog({ opened, owner, onClose }: { opened: NonNullable<Opened>; owner: Owner; onClose: () => void }) {
  if (opened.what === 'create') return <CreateDialog owner={owner} onClose={onClose} />;
  const Chosen = DIALOGS[opened.what];
  return <Chosen owner={owner} secret={opened.secret} onClose={onClose} />;
}

interface SecretsProps {
  secrets: readonly Secret[];
  isTeam: boolean;
  onOpen: (opened: Opened) => void;
}

function Secrets({ secrets, isTeam, onOpen }: SecretsProps) {
  const heads = ['Name', 'State', 'Used for', ...(isTeam ? ['Factories'] : []), 'Used by', 'Updated'];
  return (
    <section className="scroll-x" tabIndex={0} aria-label="Secrets">
      <Table verticalSpacing="sm" miw={760}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {secrets.map((secret) => (
            <Table.Tr key={secret.name}>
              <Table.Th scope="row" className="mono" maw={260}>
                <ListedName>{secret.name}</ListedName>
              </Table.Th>
              <Table.Td>
                <State secret={secret} />
              </Table.Td>
              <Table.Td>
                {secret.grants.uses.length === 0
                  ? 'nothing'
                  : USES.filter(({ use }) => secret.grants.uses.includes(use))
                      .map(({ label }) => label)
                      .join(', ')}
              </Table.Td>
              {isTeam && (
                <Table.Td maw={200}>
                  <Factories factories={secret.grants.factories} />
                </Table.Td>
              )}
              <Table.Td maw={280}>
                <UsedBy users={secret.used_by} withFactory={isTeam} />
              </Table.Td>
              <Table.Td>
                <Time at={secret.updated_at} as="ago" />
              </Table.Td>
              <Table.Td>
                <Actions secret={secret} onOpen={onOpen} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

export function State({ secret: { set: isSet, version, url_safe: isUrlSafe } }: { secret: Secret }) {
  if (!isSet)
    return (
      <Badge color="orange" miw="max-content">
        Not set
      </Badge>
    );
  return (
    <Stack gap={2} align="flex-start">
      <Badge color="teal" miw="max-content">
        Set, version {version}
      </Badge>
      {isUrlSafe && (
        <Text size="xs" c="dimmed">
          fit for URLs
        </Text>
      )}
    </Stack>
  );
}

function Factories({ factories }: { factories: Secret['grants']['factories'] }) {
  if (factories === '*') return <>all</>;
  if (factories.length === 0) return <>none</>;
  return (
    <Group gap={6}>
      {factories.map((uid) => (
        <Badge key={uid} color="gray">
          <FactoryName uid={uid} />
        </Badge>
      ))}
    </Group>
  );
}

function Actions({ secret, onOpen }: { secret: Secret; onOpen: (opened: Opened) => void }) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions of ${secret.name}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onOpen({ what: 'value', secret })}>
          {secret.set ? 'Rotate' : 'Set the value'}
        </Menu.Item>
        <Menu.Item onClick={() => onOpen({ what: 'grants', secret })}>Change grants</Menu.Item>
        <Menu.Item color="red" onClick={() => onOpen({ what: 'delete', secret })}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
