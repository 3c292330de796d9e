/** The automations of a factory: what starts them, and how they did lately. */
import { Button, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { useMay } from '../../api/session.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { countOf } from '../../components/text/count.ts';
import { Empty } from '../../components/lists/empty.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { EnabledBadge } from '../../components/feedback/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { useAutomations, useWebhookNames } from '../../api/automations.ts';
import { RecentRuns } from './recent-runs.tsx';
import { TriggersInWords } from './triggers-in-words.tsx';

/** Rows that are shown before somebody asks for more. */
const SHOWN_AT_FIRST = 100;
/** From so many on, a list wants to be searched. */
const SEARCHED_FROM = 10;
const HEADS = ['Name', 'State', 'Starts', 'Last fired', 'Runs of the last 7 days'];

export function AutomationListPage() {
  const factory = useFactory();
  const mayEdit = useMay('manager');
  const query = useAutomations(factory.uid);
  return (
    <>
      <PageTitle
        actions={
          mayEdit && (
            <Button component={Link} to="new">
              Create automation
            </Button>
          )
        }
      >
        Automations
      </PageTitle>
      <QueryView query={query}>
        {(automations) =>
          automations.length === 0 ? (
            <NoAutomations factory={factory} />
          ) : (
            <Automations factory={factory} automations={automations} />
          )
        }
      </QueryView>
    </>
  );
}

function NoAutomations({ factory }: { factory: Api<'Factory'> }) {
  return (
    <Empty title="No automations yet">
      An automation starts a run when a delivery arrives at one of its webhooks, or when the clock says so.
      {factory.definitions_managed && (
        <>
          {' '}
          Add <span className="mono">automations/&lt;name&gt;/automation.md</span> to the factory repository.
        </>
      )}
    </Empty>
  );
}

function Automations({ factory, automations }: { factory: Api<'Factory'>; automations: readonly Api<'Automation'>[] }) {
  const [wanted, setWanted] = useState('');
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const text = wanted.trim().toLowerCase();
  const found = automations.filter(({ name, slug, description = '' }) =>
    [name, slug, description].some((one) => one.toLowerCase().includes(text)),
  );
  return (
    <Stack>
      {automations.length >= SEARCHED_FROM && (
        <TextInput
          label="Find by name"
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
          maw={320}
        />
      )}
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Automations">
        <Table verticalSpacing="sm" miw={780}>
          <Table.Thead>
            <Table.Tr>
              {[...HEADS, ...(factory.definitions_managed ? ['File'] : [])].map((head) => (
                <Table.Th key={head} scope="col">
                  {head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.slice(0, shown).map((automation) => (
              <Row key={automation.uid} factory={factory} automation={automation} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Text size="sm" c="dimmed" role="status">
        {found.length === automations.length
          ? countOf(found.length, 'automation')
          : `${found.length} of ${countOf(automations.length, 'automation')}`}
      </Text>
      {found.length > shown && (
        <Button variant="default" w="max-content" onClick={() => setShown(shown + SHOWN_AT_FIRST)}>
          Show more
        </Button>
      )}
    </Stack>
  );
}

function Row({ factory, automation }: { factory: Api<'Factory'>; automation: Api<'Automation'> }) {
  const nameOf = useWebhookNames(factory.uid);
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} maw={320}>
        <ListedName to={automation.uid}>{automation.name}</ListedName>
        {automation.description !== undefined && (
          <Text size="xs" c="dimmed" component="div" lineClamp={2}>
            <UntrustedText>{automation.description}</UntrustedText>
          </Text>
        )}
      </Table.Th>
      <Table.Td>
        <EnabledBadge enabled={automation.enabled} />
      </Table.Td>
      <Table.Td>
        <TriggersInWords factoryUid={factory.uid} triggers={automation.triggers} nameOf={nameOf} />
      </Table.Td>
      <Table.Td>
        <Time at={automation.last_fired_at} as="ago" />
      </Table.Td>
      <Table.Td>
        <RecentRuns factoryUid={factory.uid} automation={automation} />
      </Table.Td>
      {factory.definitions_managed && (
        <Table.Td className="mono">
          <UntrustedText>{automation.file ?? ''}</UntrustedText>
        </Table.Td>
      )}
    </Table.Tr>
  );
}
