/**
 * How figures of a benchmark are put together and shown: medians, the 99th of a hundred, and lines with a counterpart
 * beside them.
 */
import { cpus, loadavg, totalmem } from 'node:os';

/** One measured thing beside what it is compared with. */
export interface Figure {
  what: string;
  unit: string;
  median: number;
  p99: number;
  count: number;
  beside?: { what: string; median: number; p99: number };
  /** Median over the counterpart's median, and the most that it may be. */
  ratio?: number;
  aim?: number;
  /** The most that the 99th of a hundred may be, in the figure's unit. */
  p99Max?: number;
}

/** A figure of many measurements; `beside`: those of the counterpart, made in turn with them. */
export function figureOf(
  what: string,
  measured: readonly number[],
  beside?: { what: string; measured: readonly number[] },
  aim?: number,
  unit = 'ms',
): Figure {
  const median = quantile(measured, 0.5);
  const figure = { what, unit, median, p99: quantile(measured, 0.99), count: measured.length };
  if (beside === undefined) return figure;
  const other = { what: beside.what, median: quantile(beside.measured, 0.5), p99: quantile(beside.measured, 0.99) };
  return { ...figure, beside: other, ratio: median / other.median, aim };
}

/** The measurement that `share` of all are below: 0.5 the median, 0.99 the 99th of a hundred. NaN of none. */
export function quantile(measured: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(measured).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** What was measured at a time, in seconds from any beginning. */
export interface Sample {
  atSeconds: number;
  value: number;
}

/** How much the value grows in an hour, by least squares through all samples. 0 of fewer than two. */
export function slopeAnHour(samples: readonly Sample[]): number {
  const meanAt = samples.reduce((sum, { atSeconds }) => sum + atSeconds, 0) / samples.length;
  const meanValue = samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
  const spread = samples.reduce((sum, { atSeconds }) => sum + (atSeconds - meanAt) ** 2, 0);
  const together = samples.reduce((sum, { atSeconds, value }) => sum + (atSeconds - meanAt) * (value - meanValue), 0);
  return samples.length < 2 || spread === 0 ? 0 : (together / spread) * 3_600;
}

/** Medians of the first and the last third of the time. NaN of none. */
export function thirdsOf(samples: readonly Sample[]): { first: number; last: number } {
  const count = Math.ceil(samples.length / 3);
  const median = (of: readonly Sample[]): number =>
    quantile(
      of.map(({ value }) => value),
      0.5,
    );
  return { first: median(samples.slice(0, count)), last: median(samples.slice(samples.length - count)) };
}

/** One line of the table. */
export function lineOf({ what, unit, median, p99, count, beside, ratio, aim, p99Max }: Figure): string {
  const bound = p99Max === undefined ? '' : ` (p99 at most ${p99Max}: ${p99 <= p99Max ? 'met' : 'MISSED'})`;
  const amounts = `${number(median)} ${number(p99)} ${unit.padEnd(4)}`;
  const own = `${what.padEnd(58)}${amounts} n=${String(count).padEnd(5)}${bound}`;
  if (beside === undefined) return own;
  const verdict = aim === undefined ? '' : ` (aim ${aim}: ${(ratio ?? 0) <= aim ? 'met' : 'MISSED'})`;
  return (
    `${own} ${beside.what}: ${number(beside.median).trim()} / ${number(beside.p99).trim()}   ` +
    `ratio ${(ratio ?? 0).toFixed(2)}${verdict}`
  );
}

/** The machine that figures belong to. */
export function machine(): Record<string, unknown> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load_before: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

function number(value: number): string {
  return (value >= 100 ? value.toFixed(0) : value.toFixed(1)).padStart(8);
}
