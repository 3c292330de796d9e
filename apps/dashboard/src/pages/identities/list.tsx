/** Agent identities: named defaults that runs and schedules have. */
import { ActionIcon, Menu, Table, Text } from '@mantine/core';
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
import { useIdentities, type AgentIdentity } from './queries.ts';

const HEADS = ['Name', 'Agent', 'Environment', 'Skill', 'Secrets', 'Factory', 'Changed'];

export function AgentIdentitiesPage() {
  const query = useIdentities();
  const [doomed, setDoomed] = useState<AgentIdentity>();
  return (
    <>
      <PageTitle>Agent identities</PageTitle>
      <Text size="sm" c="dimmed" mb="md">
        Named defaults: a run or a schedule that names one takes from it what it does not say itself.
      </Text>
      <QueryView query={query}>
        {(identities) =>
          identities.length === 0 ? (
            <Empty title="No agent identities yet">
              Make one with <span className="mono">millwright identities create</span>.
            </Empty>
          ) : (
            <Identities identities={identities} onDelete={setDoomed} />
          )
        }
      </QueryView>
      {doomed !== undefined && <DeleteDialog identity={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

interface IdentitiesProps {
  identities: readonly AgentIdentity[];
  onDelete: (identity: AgentIdentity) => void;
}

function Identities({ identities, onDelete }: IdentitiesProps) {
  return (
    <section className="scroll-x" tabIndex={0} aria-label="List of agent identities">
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
          {identities.map((identity) => (
            <Row key={identity.uid} identity={identity} onDelete={() => onDelete(identity)} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Row({ identity, onDelete }: { identity: AgentIdentity; onDelete: () => void }) {
  const { name, description, harness, base_model: model, environment_id: environment, skills, secrets } = identity;
  const { factory_uid: factoryUid, updated_at: updatedAt } = identity;
  const mayChange = useMay('operator');
  return (
    <Table.Tr>
      <Table.Th scope="row" maw={260}>
        <ListedName>{name}</ListedName>
        {description !== undefined && (
          <Text size="xs" c="dimmed" fw={400} lineClamp={2} component="div">
            <UntrustedText>{description}</UntrustedText>
          </Text>
        )}
      </Table.Th>
      <Table.Td>
        <Words texts={[harness?.type, model ?? harness?.model_id]} />
      </Table.Td>
      <Table.Td>
        <Words texts={[environment]} />
      </Table.Td>
      <Table.Td maw={220}>
        <Words texts={skills} />
      </Table.Td>
      <Table.Td maw={220}>
        <Words texts={secrets.map((secret) => secret.name)} />
      </Table.Td>
      <Table.Td>{factoryUid === undefined ? 'any' : <FactoryName uid={factoryUid} />}</Table.Td>
      <Table.Td>
        <Time at={updatedAt} as="ago" />
      </Table.Td>
      <Table.Td>
        {mayChange && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon variant="subtle" aria-label={`Actions of ${name}`}>
                <Icon name="more" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item color="red" onClick={onDelete}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Words({ texts }: { texts: readonly (string | undefined)[] }) {
  const said = texts.filter((text) => text !== undefined && text !== '');
  return said.length === 0 ? <>–</> : <UntrustedText>{said.join(', ')}</UntrustedText>;
}
