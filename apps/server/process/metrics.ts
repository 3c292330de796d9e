/**
 * Figures of this process for Prometheus: counted and measured where it happens, or read when somebody asks. What there
 * is stands in one table. contract §1.7 (Metrics).
 */
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { knownCombinations, METRICS, type MetricName, type MetricRow, seriesMaxOf } from './metric-table.ts';

export type MetricLabels = Readonly<Record<string, string>>;

/** A trace that shows one of the values of a bucket. */
export interface Exemplar {
  traceId: string;
  value: number;
  atMs: number;
}

/** A value that is read when somebody asks for the figures. */
export interface MetricReading {
  labels?: MetricLabels;
  value: number;
}

/** The same of a histogram: counts of each bucket by itself, the last one of what is beyond all bounds. */
export interface HistogramReading {
  labels: MetricLabels;
  bounds: readonly number[];
  counts: readonly number[];
  exemplars: readonly (Exemplar | undefined)[];
  sum: number;
  count: number;
}

type Readings = readonly MetricReading[] | readonly HistogramReading[];
type Read = () => Readings | Promise<Readings>;

/** A metric at one moment, as a registry of prom-client writes it. */
type Figure = Awaited<ReturnType<Counter['get']>>;
type FigureValue = Figure['values'][number] & { metricName?: string; exemplar?: object };

/** `openmetrics`: with exemplars, for whoever asks for that. */
export type MetricsFormat = 'text' | 'openmetrics';

/** What each label says of the combinations beyond. */
const OTHER = 'other';
/** A collector gives up after ten seconds; what a database that hangs does not answer is left out. */
const READ_MS_MAX = 2_000;
/** Gauges of prom-client that are called like counters, and are the sums of others. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Of node and of the process: there is one of each, however many services a test has in it. */
let ofProcess: Registry | undefined;

function processRegistry(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

@Injectable()
export class Metrics {
  private readonly counters = new Map<MetricName, Counter>();
  private readonly gauges = new Map<MetricName, Gauge>();
  private readonly histograms = new Map<MetricName, Histogram>();
  private readonly reads = new Map<MetricName, Read>();
  private readonly seen = new Map<MetricName, Set<string>>();

  constructor() {
    for (const [name, row] of Object.entries(METRICS) as [MetricName, MetricRow][]) this.create(name, row);
  }

  /** Counts one, or `by` that many. */
  count(name: MetricName, labels: MetricLabels = {}, by = 1): void {
    this.counters.get(name)?.inc(this.bounded(name, labels), by);
  }

  /** Sets a gauge. */
  set(name: MetricName, value: number, labels: MetricLabels = {}): void {
    this.gauges.get(name)?.set(this.bounded(name, labels), value);
  }

  /** Measures: a duration in seconds, a size. */
  observe(name: MetricName, value: number, labels: MetricLabels = {}, traceId?: string): void {
    const exemplarLabels = traceId === undefined ? {} : { trace_id: traceId };
    this.histograms.get(name)?.observe({ labels: this.bounded(name, labels), value, exemplarLabels });
  }

  /**
   * `read` is asked whenever somebody asks for the figures; what it throws leaves the metric out of them. Called again
   * for a name, the last one counts.
   */
  read(name: MetricName, read: Read): void {
    this.reads.set(name, read);
  }

  /** All figures. */
  async text(format: MetricsFormat = 'text'): Promise<string> {
    const registry = new Registry();
    registry.setContentType(METRICS_CONTENT_TYPES[format] as Registry['contentType']);
    for (const figure of await this.figures()) {
      const name = format === 'openmetrics' && isCounter(figure) ? figure.name.replace(/_total$/, '') : figure.name;
      // All that a registry asks of a metric; its own classes would change their names with the format.
      const written = { name, type: figure.type, get: async () => ({ ...figure, name }) };
      registry.registerMetric(written as unknown as Counter);
    }
    return registry.metrics();
  }

  private async figures(): Promise<Figure[]> {
    const own = await Promise.all((Object.keys(METRICS) as MetricName[]).map((name) => this.figureOf(name)));
    return [...(await processRegistry().getMetricsAsJSON()), ...own] as Figure[];
  }

  private async figureOf(name: MetricName): Promise<Figure> {
    const read = this.reads.get(name);
    if (read !== undefined) return readFigure(name, await this.readingsOf(read));
    const made = this.counters.get(name) ?? this.gauges.get(name) ?? this.histograms.get(name);
    return (await made?.get()) as Figure;
  }

  private async readingsOf(read: Read): Promise<Readings> {
    try {
      return await withinTime(read());
    } catch {
      this.count('millwright_metrics_read_failures_total');
      return [];
    }
  }

  private create(name: MetricName, row: MetricRow): void {
    const { type, help, buckets = [] } = row;
    const options = { name, help, labelNames: Object.keys(row.labels), registers: [] };
    const known = knownCombinations(row);
    if (type === 'counter') {
      const made = madeOnce(this.counters, name, () => new Counter(options));
      for (const labels of known) made.inc(labels, 0);
    } else if (type === 'gauge') madeOnce(this.gauges, name, () => new Gauge(options));
    else {
      const of = { ...options, buckets: [...buckets], enableExemplars: true };
      const made = madeOnce(this.histograms, name, () => new Histogram(of));
      for (const labels of known) made.zero(labels);
    }
  }

  private bounded(name: MetricName, labels: MetricLabels): MetricLabels {
    return boundedBy(
      madeOnce(this.seen, name, () => new Set<string>()),
      name,
      labels,
    );
  }
}

export const METRICS_CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/** The same labels, or `other` for each that has had as many values as it may; for all, where there are too many. */
function boundedBy(seen: Set<string>, name: MetricName, labels: MetricLabels): MetricLabels {
  const key = JSON.stringify(Object.values(labels));
  if (seen.has(key)) return labels;
  if (seen.size >= combinationsMaxOf(name)) return Object.fromEntries(Object.keys(labels).map((each) => [each, OTHER]));
  seen.add(key);
  return labels;
}

/** Beside those of `other`, which there are none of where all values are known. */
function combinationsMaxOf(name: MetricName): number {
  const row: MetricRow = METRICS[name];
  const known = knownCombinations(row).length;
  return known > 0 ? known : seriesMaxOf({ ...row, type: 'gauge' }) - 1;
}

function readFigure(name: MetricName, readings: Readings): Figure {
  const { type, help } = METRICS[name];
  const values = type === 'histogram' ? bucketsOf(name, readings as HistogramReading[]) : valuesOf(name, readings);
  return { name, help, type, values, aggregator: 'sum' } as unknown as Figure;
}

/** What goes beyond the bound is summed up. */
function valuesOf(name: MetricName, readings: Readings): FigureValue[] {
  const [seen, values] = [new Set<string>(), new Map<string, FigureValue>()];
  for (const { labels = {}, value } of readings as MetricReading[]) {
    const shown = boundedBy(seen, name, labels);
    const key = JSON.stringify(shown);
    values.set(key, { labels: shown, value: (values.get(key)?.value ?? 0) + value });
  }
  return [...values.values()];
}

function bucketsOf(name: MetricName, readings: readonly HistogramReading[]): FigureValue[] {
  return readings.flatMap(({ labels, bounds, counts, exemplars, sum, count }) => {
    let below = 0;
    const buckets = counts.map((inBucket, at): FigureValue => {
      below += inBucket;
      const le = bounds[at] === undefined ? '+Inf' : bounds[at];
      const exemplar = exemplars[at] && toExemplar(exemplars[at]);
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below, exemplar };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: { ...labels }, value: sum },
      { metricName: `${name}_count`, labels: { ...labels }, value: count },
    ];
  });
}

function toExemplar({ traceId, value, atMs }: Exemplar): object {
  return { labelSet: { trace_id: traceId }, value, timestamp: atMs / 1_000 };
}

/** Rejects when the time is over. */
async function withinTime(answer: Readings | Promise<Readings>): Promise<Readings> {
  if (!(answer instanceof Promise)) return answer;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), READ_MS_MAX);
  });
  return Promise.race([answer, over]).finally(() => clearTimeout(timer));
}

function isCounter({ type }: Figure): boolean {
  return String(type) === 'counter';
}

function madeOnce<K, V>(made: Map<K, V>, key: K, make: () => V): V {
  const found = made.get(key);
  if (found !== undefined) return found;
  const value = make();
  made.set(key, value);
  return value;
}
