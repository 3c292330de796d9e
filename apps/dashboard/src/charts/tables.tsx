/** The numbers of charts, for those who would rather read. Times with nothing in them are left out. */
import { Table } from '@mantine/core';
import { durationText } from '../components/text/time.tsx';
import type { RunStatistics } from './queries.ts';
import { NumbersBox } from './frame.tsx';
import { LATENCIES, sumOf, type Row, type Series } from './series.ts';
import type { TimeTexts } from './spans.ts';

interface CountTableProps {
  title: string;
  rows: readonly Row[];
  series: readonly Series[];
  totals: Readonly<Record<string, number>>;
  times: TimeTexts;
}

export function CountTable({ title, rows, series, totals, times }: CountTableProps) {
  const counted = series.filter(({ label }) => (totals[label] ?? 0) > 0);
  const countIn = (row: Row, { key }: Series): number => Number(row[key] ?? 0);
  const sum = (row: Row): number => counted.reduce((all, one) => all + countIn(row, one), 0);
  const cellsOf = (row: Row): string[] =>
    [...counted.map((one) => countIn(row, one)), sum(row)].map((count) => count.toLocaleString());
  return (
    <NumbersBox label={`Table: ${title}`}>
      <Table aria-label={title} verticalSpacing={2} miw={counted.length * 90 + 260}>
        <Heads names={['Time', ...counted.map(({ label }) => label), 'All']} />
        <Table.Tbody>
          {rows
            .filter((row) => sum(row) > 0)
            .map((row) => (
              <Numbers key={row.from} name={times.whole(row.from)} cells={cellsOf(row)} />
            ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Numbers
            name="In all"
            cells={[...counted.map(({ label }) => totals[label] ?? 0), sumOf(totals)].map((count) =>
              count.toLocaleString(),
            )}
          />
        </Table.Tfoot>
      </Table>
    </NumbersBox>
  );
}

interface LatencyTableProps {
  title: string;
  statistics: RunStatistics;
  times: TimeTexts;
}

export function LatencyTable({ title, statistics: { buckets, start_latency: all }, times }: LatencyTableProps) {
  const cellsOf = (latency: RunStatistics['start_latency']): string[] => [
    latency.count.toLocaleString(),
    ...LATENCIES.map(({ figure }) => durationText(latency[figure] ?? 0)),
  ];
  return (
    <NumbersBox label={`Table: ${title}`}>
      <Table aria-label={title} verticalSpacing={2} miw={640}>
        <Heads names={['Time', 'Runs', ...LATENCIES.map(({ label }) => label)]} />
        <Table.Tbody>
          {buckets
            .filter(({ start_latency: { count } }) => count > 0)
            .map(({ from, start_latency: latency }) => (
              <Numbers key={from} name={times.whole(from)} cells={cellsOf(latency)} />
            ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Numbers name="In all" cells={cellsOf(all)} />
        </Table.Tfoot>
      </Table>
    </NumbersBox>
  );
}

function Heads({ names }: { names: readonly string[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {names.map((name, at) => (
          <Table.Th key={name} scope="col" ta={at === 0 ? undefined : 'right'}>
            {name}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function Numbers({ name, cells }: { name: string; cells: readonly string[] }) {
  // Cells have no other name than where they stand.
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {name}
      </Table.Th>
      {cells.map((cell, at) => (
        <Table.Td key={at} ta="right">
          {cell}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
