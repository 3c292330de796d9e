/** A virtualised table: only visible rows are rendered, pages are prefetched, and the scroll offset is restored. */
import { Group, Loader, Table, Text } from '@mantine/core';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useEffect, type ReactNode, type RefObject } from 'react';
import { countOf } from '../text/count.ts';
import { useStoredOffset } from './stored-offset.ts';
import { ProblemAlert } from '../feedback/problem-alert.tsx';
import type { Paged } from './show-more.tsx';

/** So many rows before the end the next page is asked for. */
const AHEAD_ROWS = 20;

interface LongRowsOptions<Row> {
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Height of a row; of rows that differ, a guess. */
  rowPx: number;
  pages: Paged;
}

interface LongRows<Row> {
  rows: readonly Row[];
  inSight: readonly VirtualItem[];
  /** Pixels of the rows behind those in sight. */
  behindPx: number;
  measure: (row: HTMLElement | null) => void;
}

export function useLongRows<Row>({ box, rows, keyOf, rowPx, pages }: LongRowsOptions<Row>): LongRows<Row> {
  const getItemKey = (index: number): string | number => {
    const row = rows[index];
    return row === undefined ? index : keyOf(row);
  };
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 8,
    getItemKey,
    useFlushSync: false,
  });
  const inSight = virtual.getVirtualItems();
  const last = inSight.at(-1);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  const isNearEnd = (last?.index ?? -1) >= rows.length - AHEAD_ROWS;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError && isNearEnd) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, isNearEnd, rows.length]);
  useStoredOffset(box, rows.length > 0);
  return { rows, inSight, behindPx: virtual.getTotalSize() - (last?.end ?? 0), measure: virtual.measureElement };
}

/** What a row's element carries. */
export interface RowPlace {
  'aria-rowindex': number;
  'data-index': number;
  ref: ((row: HTMLElement | null) => void) | undefined;
}

interface LongTableProps<Row> extends Pick<LongRowsOptions<Row>, 'box' | 'pages'> {
  list: LongRows<Row>;
  /** Names what scrolls. */
  label: string;
  noun: readonly [one: string, many: string];
  /** Said behind the count when that is all. */
  whole?: string;
  /** Beside the count. */
  aside?: ReactNode;
  head: ReactNode;
  maxHeight?: string;
  /** Pixels below which the table scrolls sideways. */
  minWidth?: number;
  /** Whether rows differ in height. */
  isMeasured?: boolean;
  children: (row: Row, place: RowPlace) => ReactNode;
}

export function LongTable<Row>({
  box,
  pages,
  list,
  label,
  noun,
  whole = '',
  aside,
  head,
  maxHeight = 'max(22rem, calc(100dvh - 19rem))',
  minWidth,
  isMeasured = false,
  children,
}: LongTableProps<Row>) {
  const { rows, inSight, behindPx, measure } = list;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" h={34} mb={4}>
        <Text
          size="sm"
          c="dimmed"
          role="status"
          truncate
        >{`${countOf(rows.length, ...noun)}${hasNextPage ? ' so far, more below' : whole}`}</Text>
        {aside}
      </Group>
      <div
        ref={box}
        className="scroll-x"
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ maxHeight, overflow: 'auto', overflowAnchor: 'none' }}
      >
        <Table
          layout="fixed"
          stickyHeader
          miw={minWidth}
          verticalSpacing={4}
          aria-rowcount={hasNextPage ? -1 : rows.length + 1}
        >
          <Table.Thead>{head}</Table.Thead>
          <Table.Tbody>
            <Space height={inSight[0]?.start ?? 0} />
            {inSight.map(({ index }) => {
              const row = rows[index];
              return (
                row !== undefined &&
                children(row, {
                  'aria-rowindex': index + 2,
                  'data-index': index,
                  ref: isMeasured ? measure : undefined,
                })
              );
            })}
            <Space height={behindPx} />
          </Table.Tbody>
        </Table>
        {isFetchingNextPage && (
          <Group justify="center" p="xs">
            <Loader size="sm" aria-label={`Loading more ${noun[1]}`} />
          </Group>
        )}
      </div>
      {isFetchNextPageError && <ProblemAlert mt="sm" error={error} onRetry={() => void fetchNextPage()} />}
    </>
  );
}

/** Stands for the rows that are out of sight. */
function Space({ height }: { height: number }) {
  return height <= 0 ? null : <tr aria-hidden="true" style={{ height }} />;
}
