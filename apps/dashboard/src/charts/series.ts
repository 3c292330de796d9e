/** What charts count, in the order in which it is stacked, and in which colour. */
import { durationText } from '../components/text/time.tsx';
import { LATENCY_COLORS, type Colors } from './colours.ts';
import type { DeliveryStatistics, RunStatistics } from './queries.ts';

export interface Series {
  /** Name among the numbers of a row. */
  key: string;
  label: string;
  color: string;
  /** Of a line, so that its colour is not all that tells it apart. */
  dashes?: string;
}

/** One moment of a chart; what there is none of is absent. */
export interface Row {
  /** RFC 3339; begin of the bucket. */
  from: string;
  [key: string]: string | number;
}
const OTHER: Colors = ['#6c757d', '#868e96'];

function colorOf([light, dark]: Colors = OTHER): string {
  return `light-dark(${light}, ${dark})`;
}

/** The words that are known, and whatever else was counted. */
export function seriesOf(
  colors: Readonly<Record<string, Colors>>,
  totals: Readonly<Record<string, number>> = {},
): Series[] {
  const words = [...Object.keys(colors), ...Object.keys(totals).filter((word) => !(word in colors))];
  return words.map((label, at) => ({ key: `s${at}`, label, color: colorOf(colors[label]) }));
}

export const LATENCIES: readonly (Series & { figure: 'p50_ms' | 'p90_ms' | 'p99_ms' })[] = [
  {
    key: 'p50_ms',
    figure: 'p50_ms',
    label: 'Half within (p50)',
    color: colorOf(LATENCY_COLORS['p50']),
    dashes: '20 0',
  },
  {
    key: 'p90_ms',
    figure: 'p90_ms',
    label: '9 of 10 within (p90)',
    color: colorOf(LATENCY_COLORS['p90']),
    dashes: '7 4',
  },
  {
    key: 'p99_ms',
    figure: 'p99_ms',
    label: '99 of 100 within (p99)',
    color: colorOf(LATENCY_COLORS['p99']),
    dashes: '2 3',
  },
];

export function countRows(
  series: readonly Series[],
  buckets: readonly { from: string; counts: Readonly<Record<string, number>> }[],
): Row[] {
  return buckets.map(({ from, counts }) => ({
    from,
    ...Object.fromEntries(
      series.flatMap(({ key, label }) => ((counts[label] ?? 0) > 0 ? [[key, counts[label] ?? 0]] : [])),
    ),
  }));
}

export function latencyRows(buckets: RunStatistics['buckets']): Row[] {
  return buckets.map(({ from, start_latency: { count, ...figures } }) => ({ from, count, ...figures }));
}

export function sumOf(totals: DeliveryStatistics['totals']): number {
  return Object.values(totals).reduce((sum, count) => sum + count, 0);
}

/** “Runs by state in the last hour: 3 in all. SUCCEEDED 2, FAILED 1.” */
export function countSummary(title: string, span: string, totals: Readonly<Record<string, number>>): string {
  const parts = Object.entries(totals).map(([word, count]) => `${word} ${count.toLocaleString()}`);
  return parts.length === 0
    ? `${title} in ${span}: none.`
    : `${title} in ${span}: ${sumOf(totals).toLocaleString()} in all. ${parts.join(', ')}.`;
}

export function latencySummary(
  span: string,
  { count, p50_ms: p50 = 0, p90_ms: p90 = 0, p99_ms: p99 = 0 }: RunStatistics['start_latency'],
): string {
  if (count === 0) return `Start latency in ${span}: no run has started.`;
  return (
    `Start latency in ${span}: of ${count.toLocaleString()} runs, half started within ${durationText(p50)}, nine ` +
    `of ten within ${durationText(p90)}, ninety-nine of a hundred within ${durationText(p99)}.`
  );
}
