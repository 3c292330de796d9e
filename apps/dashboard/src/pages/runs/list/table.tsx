/** The virtualised table of runs. */
import { Anchor, Button, Group, Loader, Table, Text } from '@mantine/core';
import { useMemo, useRef } from 'react';
import { Link } from 'react-router';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { LongTable, useLongRows, type RowPlace } from '../../../components/lists/long-table.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { RunStateBadge } from '../../../components/feedback/states.tsx';
import { durationText, Time } from '../../../components/text/time.tsx';
import type { RunQuery } from './filters.ts';
import type { RunRow } from './rows.ts';
import { useFactoryName } from '../../../api/factories.ts';
import { between, hasEnded, sourceText } from '../run.ts';
import { useRunRows, useSeenPage } from './use-rows.ts';

const ROW_PX = 56;

interface RunTableProps {
  query: RunQuery;
  /** Whether the factory of each run is shown. */
  withFactory: boolean;
  /** Stands there when there is none. */
  empty: React.ReactNode;
}

export function RunTable({ query, withFactory, empty }: RunTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const {
    query: pages,
    head,
    news,
    showNewest,
  } = useRunRows(
    query,
    () => box.current !== null && (box.current.scrollTop > 0 || box.current.matches(':hover, :focus-within')),
  );
  const rows = useMemo(() => pages.data?.pages.flatMap((page) => page.rows) ?? [], [pages.data]);
  const list = useLongRows({ box, rows, keyOf: ({ run_id: id }) => id, rowPx: ROW_PX, pages });
  useSeenPage(
    query,
    (pages.data?.pageParams ?? []) as (string | undefined)[],
    pageAt(pages.data?.pages.map((page) => page.rows.length) ?? [], list.inSight[0]?.index ?? 0),
  );

  if (head.error !== null && rows.length === 0)
    return <ProblemAlert error={head.error} onRetry={() => void head.refetch()} />;
  if (rows.length === 0) return pages.hasNextPage || pages.data === undefined ? <Searching /> : <>{empty}</>;
  const toNewest = (): void => {
    showNewest();
    box.current?.scrollTo({ top: 0 });
  };
  const aside = news.isOther ? (
    <Button size="compact-sm" style={{ flexShrink: 0 }} onClick={toNewest}>
      {newsText(news.unknown)}
    </Button>
  ) : undefined;
  return (
    <LongTable
      box={box}
      pages={pages}
      list={list}
      label="List of runs"
      noun={['run', 'runs']}
      aside={aside}
      head={<Head withFactory={withFactory} />}
    >
      {(row, place) => <Row key={row.run_id} row={row} place={place} withFactory={withFactory} />}
    </LongTable>
  );
}

function Searching() {
  return (
    <Group justify="center" p="xl">
      <Loader aria-label="Loading runs" />
    </Group>
  );
}

function newsText(unknown: number): string {
  if (unknown === 0) return 'The order has changed: show it';
  return `${unknown === 50 ? '50 or more' : unknown} new ${unknown === 1 ? 'run' : 'runs'}: show`;
}

function Head({ withFactory }: { withFactory: boolean }) {
  return (
    <Table.Tr>
      <Table.Th scope="col" w={120} visibleFrom="sm">
        State
      </Table.Th>
      <Table.Th scope="col">Run</Table.Th>
      {withFactory && (
        <Table.Th scope="col" w={140} visibleFrom="md">
          Factory
        </Table.Th>
      )}
      <Table.Th scope="col" w={160} visibleFrom="sm">
        Started by
      </Table.Th>
      <Table.Th scope="col" w={120} visibleFrom="sm">
        Created
      </Table.Th>
      <Table.Th scope="col" w={100} visibleFrom="lg">
        Took
      </Table.Th>
    </Table.Tr>
  );
}

function Row({ row, place, withFactory }: { row: RunRow; place: RowPlace; withFactory: boolean }) {
  const factory = useFactoryName(row.factory_uid);
  const took = between(row.started_at, hasEnded(row.state) ? row.finished_at : undefined);
  return (
    <Table.Tr h={ROW_PX} {...place}>
      <Table.Td visibleFrom="sm">
        <RunStateBadge state={row.state} />
      </Table.Td>
      <Table.Td>
        <Anchor component={Link} to={`/runs/${row.run_id}`} size="sm" fw={500} truncate display="block">
          <UntrustedText>{row.title}</UntrustedText>
        </Anchor>
        <Group gap={6} wrap="nowrap">
          <Group hiddenFrom="sm" gap={6} wrap="nowrap" style={{ flexShrink: 0 }}>
            <RunStateBadge state={row.state} />
            <Text span size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
              <Time at={row.created_at} as="ago" />
            </Text>
          </Group>
          <Text span size="xs" c="dimmed" truncate>
            <UntrustedText>{row.message ?? row.config ?? ''}</UntrustedText>
          </Text>
        </Group>
      </Table.Td>
      {withFactory && (
        <Table.Td visibleFrom="md">
          <Text size="sm" truncate>
            <UntrustedText>{factory ?? '—'}</UntrustedText>
          </Text>
        </Table.Td>
      )}
      <Table.Td visibleFrom="sm">
        <Text size="sm" truncate>
          {sourceText(row.source)}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          <UntrustedText>{row.creator}</UntrustedText>
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm">
          <Time at={row.created_at} as="ago" />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text size="sm">{took === undefined ? '—' : durationText(took)}</Text>
      </Table.Td>
    </Table.Tr>
  );
}

/** Which of the pages holds the row of this number. */
function pageAt(sizes: readonly number[], row: number): number {
  let end = 0;
  const page = sizes.findIndex((size) => (end += size) > row);
  return Math.max(0, page);
}
