/**
 * The rows of a delivery log: only those in sight are laid out, and what one reads stays where it is when others come.
 */
import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Link } from 'react-router';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { Loading } from '../../components/lists/empty.tsx';
import { LongTable, useLongRows, type RowPlace } from '../../components/lists/long-table.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { OutcomeBadge } from '../../components/feedback/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { pathTo, useLog, type Delivery, type LogQuery } from './queries.ts';
import { Count, deliveredSize, Marks, Resent } from './marks.tsx';

const ROW_PX = 52;

export function DeliveryTable({ query, empty }: { query: LogQuery; empty: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const { pages, news, rows } = useLog(query);
  const list = useLongRows({ box, rows, keyOf: ({ entry_id: id }) => id, rowPx: ROW_PX, pages });
  const above = useStableScroll(box, rows);

  if (pages.data === undefined)
    return pages.error === null ? (
      <Loading />
    ) : (
      <ProblemAlert error={pages.error} onRetry={() => void pages.refetch()} />
    );
  const aside =
    above > 0 ? (
      <Button size="compact-sm" style={{ flexShrink: 0 }} onClick={() => box.current?.scrollTo({ top: 0 })}>
        {above.toLocaleString()} new above: show
      </Button>
    ) : undefined;
  return (
    <>
      <span className="visually-hidden" role="status">
        {newsText(news.data?.arrived ?? [])}
      </span>
      {news.error !== null && <ProblemAlert error={news.error} mb="xs" />}
      {rows.length === 0 ? (
        empty
      ) : (
        <LongTable
          box={box}
          pages={pages}
          list={list}
          label="List of deliveries"
          noun={['entry', 'entries']}
          whole=": all that are kept"
          aside={aside}
          head={<Head />}
          maxHeight="max(20rem, 62dvh)"
        >
          {(row, place) => <Row key={row.entry_id} row={row} place={place} query={query} />}
        </LongTable>
      )}
    </>
  );
}

function newsText(arrived: readonly Delivery[]): string {
  const [newest] = arrived;
  if (newest === undefined) return '';
  const said = `${newest.outcome}, ${withHiddenNamed(newest.delivery_id)}`;
  return arrived.length === 1 ? `A new delivery: ${said}` : `${arrived.length} new deliveries, the newest: ${said}`;
}

/**
 * Scrolls by as much as came on top while somebody reads further down, or points at a row. Answers how many came since
 * the top was seen.
 */
function useStableScroll(box: RefObject<HTMLDivElement | null>, rows: readonly Delivery[]): number {
  const first = useRef<string>(undefined);
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    const came = first.current === undefined ? 0 : rows.findIndex(({ entry_id: id }) => id === first.current);
    first.current = rows[0]?.entry_id;
    if (element === null || came <= 0 || !(element.scrollTop > 0 || element.matches(':hover, :focus-within'))) return;
    element.scrollTo({ top: element.scrollTop + came * ROW_PX });
    if (element.scrollTop > 0) setAbove((count) => count + came);
  }, [box, rows]);
  useEffect(() => {
    const element = box.current;
    if (element === null || above === 0) return undefined;
    const look = (): void => {
      if (element.scrollTop < ROW_PX / 2) setAbove(0);
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box, above]);
  return above;
}

function Head() {
  return (
    <Table.Tr>
      <Table.Th scope="col" w={205} visibleFrom="sm">
        Outcome
      </Table.Th>
      <Table.Th scope="col">Delivery ID</Table.Th>
      <Table.Th scope="col" w={150} visibleFrom="md">
        Size
      </Table.Th>
      <Table.Th scope="col" w={130} visibleFrom="sm">
        Received
      </Table.Th>
      <Table.Th scope="col" w={70} visibleFrom="sm">
        Runs
      </Table.Th>
    </Table.Tr>
  );
}

function Row({ row, place, query }: { row: Delivery; place: RowPlace; query: LogQuery }) {
  const runs = row.started?.length;
  return (
    <Table.Tr h={ROW_PX} {...place}>
      <Table.Td visibleFrom="sm">
        <OutcomeBadge outcome={row.outcome} />
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <Anchor
            component={Link}
            to={pathTo({ ...query, entryId: row.entry_id })}
            size="sm"
            lineClamp={1}
            className="mono"
          >
            <UntrustedText>{row.delivery_id}</UntrustedText>
          </Anchor>
          <Group gap={4} wrap="nowrap" visibleFrom="sm" style={{ flexShrink: 0 }}>
            <Count delivery={row} />
            <Resent delivery={row} />
          </Group>
        </Group>
        <Group gap={4} hiddenFrom="sm" wrap="nowrap">
          <Marks delivery={row} />
          <Text span size="xs" c="dimmed" truncate>
            <Time at={row.received_at} as="ago" />
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Text size="sm">{deliveredSize(row)}</Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm">
          <Time at={row.received_at} as="ago" />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm">{runs ?? '—'}</Text>
      </Table.Td>
    </Table.Tr>
  );
}
