/** All passes of a factory that brought something new. */
import { Anchor, Group, Table, Text } from '@mantine/core';
import { Link } from 'react-router';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { Empty } from '../../../components/lists/empty.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { ShowMore } from '../../../components/lists/show-more.tsx';
import { durationText, Time } from '../../../components/text/time.tsx';
import { useFactory } from '../../factories/frame.tsx';
import { EndingBadge, triggerText } from './pass-view.tsx';
import { useSyncs, type Sync } from '../queries.ts';
import { RevisionText } from '../../../components/text/revision-text.tsx';

const COLUMNS = ['When', 'Ending', 'Revision', 'Changes', 'Problems', 'Asked for by', 'Took'];

export function SyncHistoryPage() {
  const { uid } = useFactory();
  const query = useSyncs(uid);
  return (
    <>
      <PageTitle above={[{ label: 'Sync', to: `/factories/${uid}/sync` }]}>History of passes</PageTitle>
      <QueryView query={query}>
        {({ pages }) => {
          const syncs = pages.flatMap((page) => page.syncs);
          return syncs.length === 0 ? (
            <Empty title="No passes yet">
              A pass that brought something new stands here; looks that find nothing new are not recorded.
            </Empty>
          ) : (
            <Passes factoryUid={uid} syncs={syncs} />
          );
        }}
      </QueryView>
      <ShowMore pages={query} what="passes" />
    </>
  );
}

function Passes({ factoryUid, syncs }: { factoryUid: string; syncs: readonly Sync[] }) {
  return (
    <section className="scroll-x" tabIndex={0} aria-label="Passes, newest first">
      <Table verticalSpacing="sm" miw={860}>
        <Table.Thead>
          <Table.Tr>
            {COLUMNS.map((label) => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {syncs.map((sync) => (
            <Row key={sync.id} factoryUid={factoryUid} sync={sync} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Row({ factoryUid, sync }: { factoryUid: string; sync: Sync }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <Anchor component={Link} to={`/factories/${factoryUid}/sync/passes/${sync.id}`} size="sm">
          <Time at={sync.finished_at} as="ago" />
        </Anchor>
      </Table.Th>
      <Table.Td>
        <Group gap={6}>
          <EndingBadge ending={sync.ending} />
          {sync.reason !== null && (
            <Text span size="sm">
              {sync.reason}
            </Text>
          )}
        </Group>
      </Table.Td>
      <Table.Td maw={260}>
        <RevisionText factoryUid={factoryUid} revision={sync.revision} none="none" />
      </Table.Td>
      <Table.Td>
        {sync.changes.length}
        {sync.held.length > 0 && `, ${sync.held.length} held`}
      </Table.Td>
      <Table.Td>{sync.problems.length}</Table.Td>
      <Table.Td>{triggerText(sync.triggers)}</Table.Td>
      <Table.Td>{durationText(sync.timings['total_ms'] ?? 0)}</Table.Td>
    </Table.Tr>
  );
}
