/**
 * Figures of this process for Prometheus. A metric is made where it is first measured: one line there is all there is
 * of it. contract §1.1 (/metrics).
 */
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Units as Prometheus has them: `…_total` counts, `…_seconds` and `…_bytes` measure. */
export type MetricName = `millwright_${string}`;

/** Values are of small fixed sets: states, roles, resources; never UIDs, paths or anything that a stranger wrote. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Combinations of labels of one metric; a defect that labels by what is unbounded must not fill the memory. */
const SERIES_MAX = 200;

/** What each label says of the combinations beyond. */
const OTHER = 'other';

/** From a hundredth of a second to five minutes: a pass of an unchanged folder, a large repository from far away. */
const SECONDS_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** Of node and of the process: there is one of each, however many services a test has in it. */
let ofProcess: Registry | undefined;

function processRegistry(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
}

@Injectable()
export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly registry = new Registry();
  private readonly process = processRegistry();
  private readonly counters = new Map<MetricName, Counter>();
  private readonly histograms = new Map<MetricName, Histogram>();
  private readonly series = new Map<MetricName, Set<string>>();

  /** Counts one. The names of labels are those of the first time. */
  count(name: MetricName, help: string, labels: MetricLabels = {}): void {
    const make = (): Counter =>
      new Counter({ name, help, labelNames: Object.keys(labels), registers: [this.registry] });
    madeOnce(this.counters, name, make).inc(this.bounded(name, labels));
  }

  /** Counts that somebody keeps, by the values of one label; asked whenever somebody asks for the figures. */
  counter(name: MetricName, help: string, label: string, read: () => ReadonlyMap<string, number>): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect: (): void => {
        counter.reset();
        for (const [value, count] of read()) counter.inc(this.bounded(name, { [label]: value }), count);
      },
    });
  }

  /** Measures a duration in seconds. */
  observe(name: MetricName, help: string, seconds: number, labels: MetricLabels = {}): void {
    const [labelNames, buckets, registers] = [Object.keys(labels), SECONDS_BUCKETS, [this.registry]];
    const make = (): Histogram => new Histogram({ name, help, labelNames, buckets, registers });
    madeOnce(this.histograms, name, make).observe(this.bounded(name, labels), seconds);
  }

  /** `read` is asked whenever somebody asks for the figures, and must not throw. Called once for each name. */
  gauge(name: MetricName, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: async (): Promise<void> => gauge.set(await read()),
    });
  }

  /** All figures in the text format of Prometheus. */
  text(): Promise<string> {
    return Registry.merge([this.process, this.registry]).metrics();
  }

  private bounded(name: MetricName, labels: MetricLabels): MetricLabels {
    const seen = madeOnce(this.series, name, () => new Set<string>());
    const key = JSON.stringify(Object.values(labels));
    if (seen.has(key)) return labels;
    if (seen.size >= SERIES_MAX) return Object.fromEntries(Object.keys(labels).map((label) => [label, OTHER]));
    seen.add(key);
    return labels;
  }
}

function madeOnce<K, V>(made: Map<K, V>, key: K, make: () => V): V {
  const found = made.get(key);
  if (found !== undefined) return found;
  const value = make();
  made.set(key, value);
  return value;
}
