/**
 * What the metrics cost the ingress: processor time of a delivery with and without them, of two services that are
 * driven in turn, so that whatever else the machine does falls on both alike. contract §1.7.
 */
import type { Bench, Stage } from '../bench.ts';
import { quantile } from '../figures/figures.ts';
import type { Report } from '../figures/report.ts';
import type { LoadOrder, Measured } from '../loads/loads.ts';
import { seededService, type SeededService } from '../seeds/seeded-service.ts';

const FACTORIES = 20;
const WEBHOOKS = 20;
const CONNECTIONS = 32;
/** Deliveries of a round, below what the webhooks take together in a minute of all rounds. */
const COUNT = 1_500;
const ROUNDS = { whole: 24, quick: 8 };
/** Of each, before it is measured: until then much of it is interpreted. */
const WARM_ROUNDS = 3;
/** Processor time of a delivery, of what it is without metrics. */
const COST_AIM = 1.02;
const MINUTE_MS = 60_000;
const EACH_A_MINUTE_MAX = 55;

export const metricsCost: Stage = {
  name: 'metrics',
  run: async (bench) => [await report(bench)],
};

interface Measurable {
  drive(): Promise<Measured>;
}

async function report(bench: Bench): Promise<Report> {
  const title = 'Processor time of a delivery with and without metrics, SQLite';
  const preload = new URL('./without-metrics.js', import.meta.url).href;
  const [seeded, bare] = [await seededOn(bench), await seededOn(bench)];
  if (seeded === undefined || bare === undefined)
    return { name: 'metrics', title, columns: [], rows: [], aims: [], remarks: ['SKIPPED: no database'] };
  const measured = await measurable(bench, seeded, {});
  const without = await measurable(bench, bare, { NODE_OPTIONS: `--import=${preload}` });
  const pairs: [number, number][] = [];
  const rounds = bench.quick ? ROUNDS.quick : ROUNDS.whole;
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    // Whoever comes first is another one each time.
    const first = await (round % 2 === 0 ? measured : without).drive();
    const second = await (round % 2 === 0 ? without : measured).drive();
    const pair = round % 2 === 0 ? [first, second] : [second, first];
    if (round >= 0) pairs.push([pair[0]?.cpuMicros ?? 0, pair[1]?.cpuMicros ?? 0]);
  }
  const median = (of: (pair: [number, number]) => number): number => quantile(pairs.map(of), 0.5);
  return {
    name: 'metrics',
    title,
    columns: ['metrics', 'µs/delivery (median)'],
    rows: [
      ['with', median(([on]) => on)],
      ['without', median(([, off]) => off)],
    ],
    aims: [
      {
        what: 'processor time of a delivery, of that without metrics',
        wanted: { atMost: COST_AIM },
        value: median(([on, off]) => on / off),
      },
    ],
    remarks: [`the median of ${rounds} pairs of ${COUNT} deliveries each; one after the other, each first in turn`],
  };
}

async function seededOn(bench: Bench): Promise<SeededService | undefined> {
  const wanted = { backend: 'SQLite', senders: ['token'], factories: FACTORIES, webhooks: WEBHOOKS } as const;
  const seeded = await seededService(bench, wanted);
  return 'reason' in seeded ? undefined : seeded;
}

async function measurable(
  bench: Bench,
  seeded: SeededService,
  environment: Readonly<Record<string, string>>,
): Promise<Measurable> {
  const [service, generator] = [await seeded.start(environment), bench.generator()];
  const targets = seeded.targets.token;
  let [from, sentInMinute, minuteBeganAtMs] = [0, 0, performance.now()];
  return {
    async drive() {
      if (sentInMinute + COUNT > targets.length * EACH_A_MINUTE_MAX) {
        const rest = minuteBeganAtMs + MINUTE_MS - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
        [sentInMinute, minuteBeganAtMs] = [0, performance.now()];
      }
      sentInMinute += COUNT;
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
    },
  };
}
