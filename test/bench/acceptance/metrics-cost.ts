/**
 * What the metrics cost the ingress: processor time of a delivery with and without them, in turn within one service.
 * Two services differ by more than that: each compiles and lays out its memory in its own way. And the time within
 * them, which a busy machine blurs less: what they cost but for the garbage that they leave. contract §1.7.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Stage } from '../bench.ts';
import { quantile } from '../figures/figures.ts';
import type { Report } from '../figures/report.ts';
import { unwanted, type LoadOrder, type Measured } from '../loads/loads.ts';
import { seededService, type SeededService } from '../seeds/seeded-service.ts';
import { MinuteRates } from './acceptance-rounds.ts';

const FACTORIES = 200;
const WEBHOOKS = 20;
const CONNECTIONS = 64;
/** Deliveries of a half of a pair: short, so that what else the machine does falls on both alike. */
const COUNT = 1_000;
const PAIRS = { whole: 300, quick: 20 };
/** Of each, before it is measured: until then much of it is interpreted. */
const WARM_PAIRS = { whole: 30, quick: 6 };
/** Processor time of a delivery, of what it is without metrics. */
const COST_AIM = 1.02;
/** Between two looks whether a signal was heard. */
const LOOK_MS = 2;

export const metricsCost: Stage = {
  name: 'metrics',
  run: async (bench) => [await report(bench)],
};

/** The same load with and without metrics. */
interface Pair {
  on: Measured;
  off: Measured;
  /** Microseconds of a delivery. */
  within: number;
}

async function report(bench: Bench): Promise<Report> {
  const title = 'Processor time of a delivery with and without metrics, SQLite';
  const seeded = await seededService(bench, {
    backend: 'SQLite',
    senders: ['token'],
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded)
    return { name: 'metrics', title, columns: [], rows: [], aims: [], remarks: [`SKIPPED: ${seeded.reason}`] };
  const extent = bench.quick ? 'quick' : 'whole';
  const pairs = await measure(bench, seeded, { warm: WARM_PAIRS[extent], count: PAIRS[extent] });
  const ratios = pairs.map(({ on, off }) => on.cpuMicros / off.cpuMicros);
  const of = (half: 'on' | 'off', share: number): number =>
    quantile(
      pairs.map((pair) => pair[half].cpuMicros),
      share,
    );
  const within = pairs.map((pair) => pair.within);
  const others = unwanted(
    pairs.flatMap(({ on, off }) => [on, off]),
    '202',
  );
  return {
    name: 'metrics',
    title,
    columns: ['metrics', 'µs/delivery (lower quartile)', '(median)'],
    rows: [
      ['with', of('on', 0.25), of('on', 0.5)],
      ['without', of('off', 0.25), of('off', 0.5)],
      ['time within them', quantile(within, 0.25), quantile(within, 0.5)],
    ],
    aims: [
      {
        what: 'processor time of a delivery, of that without metrics (median of pairs)',
        wanted: { atMost: COST_AIM },
        value: quantile(ratios, 0.5),
      },
      {
        what: 'the same with the time within them alone (median of pairs)',
        wanted: { atMost: COST_AIM },
        value: quantile(
          pairs.map((pair) => 1 + pair.within / pair.off.cpuMicros),
          0.5,
        ),
      },
    ],
    remarks: [
      `${pairs.length} pairs of ${COUNT} deliveries each, each half first in turn, in one process; the median's ` +
        `standard error is about ${(100 * standardErrorOfMedian(ratios)).toFixed(1)} %`,
      ...(others === undefined ? [] : [`other answers: ${others}`]),
    ],
  };
}

async function measure(
  bench: Bench,
  seeded: SeededService,
  { warm, count }: { warm: number; count: number },
): Promise<Pair[]> {
  const preload = new URL('./switchable-metrics.js', import.meta.url).href;
  const file = join(seeded.folder, 'within');
  const environment = { NODE_OPTIONS: `--import=${preload}`, BENCH_METRICS_WITHIN_FILE: file };
  const [service, generator] = [await seeded.start(environment), bench.generator()];
  const [targets, rates] = [seeded.targets.token, new MinuteRates()];
  let from = 0;
  /** Milliseconds within them so far. */
  const switchOver = async (): Promise<number> => {
    rmSync(file, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    return Number(readFileSync(file, 'utf8'));
  };
  const drive = async (): Promise<Measured> => {
    from += COUNT;
    const order: LoadOrder = {
      port: service.port,
      sender: 'token',
      targets,
      from,
      connections: CONNECTIONS,
      count: COUNT,
      distinct: COUNT,
      secondsMax: 60,
      addresses: 1,
    };
    return generator.drive(order, [service.pid]);
  };
  const measureOff = async (): Promise<Measured> => {
    await switchOver();
    const off = await drive();
    await switchOver();
    return off;
  };
  /** With what they took. */
  const measureOn = async (): Promise<Pick<Pair, 'on' | 'within'>> => {
    const beforeMs = await twice(switchOver);
    const on = await drive();
    return { on, within: (1_000 * ((await twice(switchOver)) - beforeMs)) / COUNT };
  };
  const pairs: Pair[] = [];
  for (let at = -warm; at < count; at += 1) {
    await rates.wait(targets, 2 * COUNT);
    let off = at % 2 === 0 ? await measureOff() : undefined;
    const on = await measureOn();
    off ??= await measureOff();
    if (at >= 0) pairs.push({ ...on, off });
  }
  return pairs;
}

async function twice<T>(act: () => Promise<T>): Promise<T> {
  await act();
  return act();
}

/** Of values that are spread about normally: 1.25 times that of the mean, by the quartiles, which bear outliers. */
function standardErrorOfMedian(values: readonly number[]): number {
  const deviation = (quantile(values, 0.75) - quantile(values, 0.25)) / 1.349;
  return (1.25 * deviation) / Math.sqrt(values.length);
}
