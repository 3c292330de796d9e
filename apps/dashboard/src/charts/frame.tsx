/**
 * What stands around every chart: its name, its totals, and the same numbers as a table. It is as high before there is
 * anything to draw as afterwards.
 */
import { Alert, Box, Button, Center, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useId, type ComponentType, type ReactNode } from 'react';
import { ProblemAlert } from '../components/feedback/problem-alert.tsx';
import { HEIGHT } from './drawing.ts';
import type { Row, Series } from './series.ts';
import type { TimeTexts } from './spans.ts';

export interface DrawnProps {
  rows: readonly Row[];
  series: readonly Series[];
  times: TimeTexts;
}

interface Drawing extends DrawnProps {
  /** The whole chart in words. */
  summary: string;
  isEmpty: boolean;
  isTruncated: boolean;
  table: ReactNode;
}

interface ChartFrameProps {
  title: string;
  /** Said where there is nothing to draw. */
  empty: string;
  series: readonly Series[];
  /** What stands beside a name in the legend; undefined while nobody knows. */
  figureOf: (series: Series) => string | undefined;
  /** Undefined while it is asked for. */
  drawing: Drawing | undefined;
  Drawn: ComponentType<DrawnProps>;
  error: unknown;
  onRetry: () => void;
}

/** The line below the drawing that says when it begins and ends. */
const ENDS_PX = 20;

export function ChartFrame({ title, empty, series, figureOf, drawing, Drawn, error, onRetry }: ChartFrameProps) {
  const [isTable, table] = useDisclosure();
  const id = useId();
  return (
    <Paper component="section" withBorder p="md" aria-labelledby={`${id}-title`}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h5" id={`${id}-title`}>
          {title}
        </Title>
        <Button
          size="compact-sm"
          variant="default"
          onClick={table.toggle}
          aria-expanded={isTable}
          aria-controls={`${id}-table`}
          disabled={drawing === undefined || drawing.isEmpty}
          aria-label={`${isTable ? 'Hide the table' : 'Show as table'}: ${title}`}
        >
          {isTable ? 'Hide the table' : 'Show as table'}
        </Button>
      </Group>
      <Legend title={title} series={series} figureOf={figureOf} />
      <Box mih={HEIGHT + ENDS_PX} mt="sm">
        {drawing !== undefined && <Picture drawing={drawing} Drawn={Drawn} empty={empty} />}
        {drawing === undefined && (error === null ? <Waiting /> : <ProblemAlert error={error} onRetry={onRetry} />)}
      </Box>
      {drawing?.isTruncated === true && (
        <Alert color="orange" mt="sm" title="Incomplete">
          There are more than one request may count: the oldest times show too few. Choose a shorter time.
        </Alert>
      )}
      <div id={`${id}-table`}>{isTable && drawing !== undefined && drawing.table}</div>
    </Paper>
  );
}

function Picture({
  drawing: { rows, series, times, summary, isEmpty },
  Drawn,
  empty,
}: {
  drawing: Drawing;
  Drawn: ComponentType<DrawnProps>;
  empty: string;
}) {
  if (isEmpty)
    return (
      <Center h={HEIGHT}>
        <Text size="sm" c="dimmed" ta="center">
          {empty}
        </Text>
      </Center>
    );
  const ends = times.ends?.(rows[0]?.from ?? '', rows.at(-1)?.from ?? '');
  return (
    <div role="img" aria-label={summary}>
      <Suspense fallback={<Waiting />}>
        <Drawn rows={rows} series={series} times={times} />
      </Suspense>
      {ends !== undefined && (
        <Group justify="space-between">
          {ends.map((end) => (
            <Text key={end} size="xs" c="dimmed">
              {end}
            </Text>
          ))}
        </Group>
      )}
    </div>
  );
}

function Waiting() {
  return <Skeleton h={HEIGHT} aria-hidden="true" />;
}

/** A line of it: there may be nothing to name. */
const LEGEND_PX = 22;

/** What there was none of is left out. */
function Legend({
  title,
  series,
  figureOf,
}: {
  title: string;
  series: readonly Series[];
  figureOf: (series: Series) => string | undefined;
}) {
  return (
    <Group
      component="ul"
      gap="md"
      m={0}
      p={0}
      aria-label={`Totals: ${title}`}
      mih={LEGEND_PX}
      style={{ listStyle: 'none', rowGap: 4 }}
    >
      {series
        .filter((one) => figureOf(one) !== '0')
        .map((one) => (
          <Group key={one.key} component="li" gap={6} wrap="nowrap">
            <Swatch {...one} />
            <Text span size="sm">
              {one.label} <strong>{figureOf(one) ?? '…'}</strong>
            </Text>
          </Group>
        ))}
    </Group>
  );
}

function Swatch({ color, dashes }: Series) {
  return (
    <svg
      width={dashes === undefined ? 12 : 20}
      height={12}
      aria-hidden="true"
      focusable="false"
      style={{ flex: 'none' }}
    >
      {dashes === undefined ? (
        <rect width={12} height={12} rx={2} fill={color} />
      ) : (
        <line x1={0} x2={20} y1={6} y2={6} stroke={color} strokeWidth={3} strokeDasharray={dashes} />
      )}
    </svg>
  );
}

/** The scrolling box of a chart's table. */
export function NumbersBox({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack
      className="scroll-x"
      tabIndex={0}
      role="region"
      aria-label={label}
      mt="sm"
      mah={360}
      style={{ overflow: 'auto' }}
    >
      {children}
    </Stack>
  );
}
