/** Federated credentials: whose tokens are exchanged for keys of ten minutes, and what these may do. */
import { ActionIcon, Button, Menu, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../api/session.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { FactoryName } from '../../components/text/factory-name.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { Time } from '../../components/text/time.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { claimLines } from './draft.ts';
import { useFederatedCredentials, type FederatedCredential } from './queries.ts';
import { SaveDialog } from './save-dialog.tsx';

type Opened = { what: 'edit' | 'delete'; credential: FederatedCredential } | { what: 'create' } | undefined;

export function FederatedCredentialsPage() {
  const query = useFederatedCredentials();
  const mayManage = useMay('admin');
  const [opened, open] = useState<Opened>();
  return (
    <>
      <PageTitle actions={mayManage && <Button onClick={() => open({ what: 'create' })}>Trust an issuer</Button>}>
        Federated credentials
      </PageTitle>
      <Text size="sm" c="dimmed" mb="md">
        Build servers need no stored key: a token that its issuer signs is exchanged for a key of ten minutes.
      </Text>
      <QueryView query={query}>
        {(credentials) =>
          credentials.length === 0 ? (
            <Empty title="No issuer is trusted">
              <Text size="sm">Trust the one of your build server, and its jobs need no key of their own.</Text>
            </Empty>
          ) : (
            <Credentials credentials={credentials} onOpen={open} />
          )
        }
      </QueryView>
      {opened?.what === 'create' && <SaveDialog onClose={() => open(undefined)} />}
      {opened?.what === 'edit' && <SaveDialog credential={opened.credential} onClose={() => open(undefined)} />}
      {opened?.what === 'delete' && <DeleteDialog credential={opened.credential} onClose={() => open(undefined)} />}
    </>
  );
}

const HEADS = ['Name', 'Issuer and audience', 'Claims', 'Role', 'Factories', 'Last used'];

interface CredentialsProps {
  credentials: readonly FederatedCredential[];
  onOpen: (opened: Opened) => void;
}

function Credentials({ credentials, onOpen }: CredentialsProps) {
  return (
    <section className="scroll-x" tabIndex={0} aria-label="List of federated credentials">
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
          {credentials.map((credential) => (
            <Row key={credential.id} credential={credential} onOpen={onOpen} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Row({ credential, onOpen }: { credential: FederatedCredential; onOpen: (opened: Opened) => void }) {
  const { name, issuer, audience, claims, role, factories, created_at: createdAt } = credential;
  return (
    <Table.Tr>
      <Table.Th scope="row" maw={200}>
        <ListedName>{name}</ListedName>
        <Text size="xs" c="dimmed" fw={400} component="div">
          made <Time at={createdAt} as="ago" />
        </Text>
      </Table.Th>
      <Table.Td maw={280}>
        <UntrustedText>{issuer}</UntrustedText>
        <Text size="xs" c="dimmed" component="div">
          for <UntrustedText>{audience}</UntrustedText>
        </Text>
      </Table.Td>
      <Table.Td maw={280}>
        <Stack gap={2}>
          {claimLines(claims).map((line) => (
            <span key={line} className="mono">
              <UntrustedText>{line}</UntrustedText>
            </span>
          ))}
        </Stack>
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
        <Time at={credential.last_used_at} as="ago" />
      </Table.Td>
      <Table.Td>
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon variant="subtle" aria-label={`Actions of ${name}`}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onOpen({ what: 'edit', credential })}>Edit</Menu.Item>
            <Menu.Item color="red" onClick={() => onOpen({ what: 'delete', credential })}>
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}
