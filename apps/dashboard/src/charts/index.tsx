/**
 * The charts: of everything that one may see, of one factory, one webhook or one automation. What draws them is loaded
 * when there is something to draw.
 */
import { lazy } from 'react';
import { durationText } from '../components/text/time.tsx';
import { useDeliveryStatistics, useRunStatistics, type DeliveryScope, type RunScope } from './queries.ts';
import { OUTCOME_COLORS, STATE_COLORS } from './colours.ts';
import { ChartFrame } from './frame.tsx';
import { countRows, countSummary, LATENCIES, latencyRows, latencySummary, seriesOf, sumOf } from './series.ts';
import { DAY, spanWords, timeTexts } from './spans.ts';
import { CountTable, LatencyTable } from './tables.tsx';

const Bars = lazy(() => import('./bars.tsx'));
const Lines = lazy(() => import('./lines.tsx'));

const DELIVERIES = 'Deliveries by outcome';
const RUNS = 'Runs by state';
const LATENCY = 'Start latency';

export function DeliveriesChart(scope: DeliveryScope) {
  const { data, error, refetch } = useDeliveryStatistics(scope);
  return (
    <Counts
      title={DELIVERIES}
      noun="delivery"
      hours={scope.hours}
      colors={OUTCOME_COLORS}
      counted={data && { ...data, buckets: data.buckets.map(({ from, outcomes }) => ({ from, counts: outcomes })) }}
      error={error}
      onRetry={() => void refetch()}
    />
  );
}

/** Each run is counted where it was created, by the state that it is in now. */
export function RunsChart(scope: RunScope) {
  const { data, error, refetch } = useRunStatistics(scope);
  return (
    <Counts
      title={RUNS}
      noun="run"
      hours={scope.hours}
      colors={STATE_COLORS}
      counted={data && { ...data, buckets: data.buckets.map(({ from, states }) => ({ from, counts: states })) }}
      error={error}
      onRetry={() => void refetch()}
    />
  );
}

/** From the creation of a run to its first start. */
export function StartLatencyChart(scope: RunScope) {
  const { hours = DAY.hours } = scope;
  const { data, error, refetch } = useRunStatistics(scope);
  const times = timeTexts(data?.bucket_seconds ?? 60, hours);
  const drawing = data && {
    rows: latencyRows(data.buckets),
    series: LATENCIES,
    times,
    isTruncated: data.truncated,
    isEmpty: data.start_latency.count === 0,
    summary: latencySummary(spanWords(hours), data.start_latency),
    table: <LatencyTable title={LATENCY} statistics={data} times={times} />,
  };
  const figure = (key: string): string | undefined => {
    const ms = data?.start_latency[key as (typeof LATENCIES)[number]['figure']];
    return data === undefined ? undefined : ms === undefined ? '–' : durationText(ms);
  };
  return (
    <ChartFrame
      title={LATENCY}
      empty={`No run has started in ${spanWords(hours)}.`}
      series={LATENCIES}
      figureOf={({ key }) => figure(key)}
      drawing={drawing}
      Drawn={Lines}
      error={error}
      onRetry={() => void refetch()}
    />
  );
}

interface CountsProps {
  title: string;
  noun: 'delivery' | 'run';
  hours: number | undefined;
  colors: Parameters<typeof seriesOf>[0];
  /** Undefined while it is asked for. */
  counted:
    | {
        bucket_seconds: number;
        buckets: { from: string; counts: Record<string, number> }[];
        totals: Record<string, number>;
        truncated: boolean;
      }
    | undefined;
  error: unknown;
  onRetry: () => void;
}

function Counts({ title, noun, hours = DAY.hours, colors, counted, error, onRetry }: CountsProps) {
  const series = seriesOf(colors, counted?.totals);
  const times = timeTexts(counted?.bucket_seconds ?? 60, hours);
  const rows = countRows(series, counted?.buckets ?? []);
  const drawing = counted && {
    rows,
    series: series.filter(({ label }) => (counted.totals[label] ?? 0) > 0),
    times,
    isTruncated: counted.truncated,
    isEmpty: sumOf(counted.totals) === 0,
    summary: countSummary(title, spanWords(hours), counted.totals),
    table: <CountTable title={title} rows={rows} series={series} totals={counted.totals} times={times} />,
  };
  return (
    <ChartFrame
      title={title}
      empty={`No ${noun} in ${spanWords(hours)}.`}
      series={series}
      figureOf={({ label }) => counted && (counted.totals[label] ?? 0).toLocaleString()}
      drawing={drawing}
      Drawn={Bars}
      error={error}
      onRetry={onRetry}
    />
  );
}
