/** A million stored deliveries and a million runs: what is slower with them than without. */
import { randomUUID } from 'node:crypto';
import { RunStore } from '../../../apps/server/store/runs/runs.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import { deliverySweep } from '../../../apps/server/store/retention/delivery-sweeps.ts';
import { acceptOrder } from '../acceptance/accept.ts';
import type { Backend, Bench, Stage } from '../bench.ts';
import { seedDeliveries } from '../seeds/delivery-seeds.ts';
import { quantile, timed } from '../figures/figures.ts';
import { inTurn, middle, unwanted, type Contestant, type LoadGenerator } from '../loads/loads.ts';
import type { Cell, Report } from '../figures/report.ts';
import { seedRuns } from '../seeds/run-seeds.ts';
import { seededService, type RunningService, type SeededService } from '../seeds/seeded-service.ts';

const COUNT = { whole: 1_000_000, quick: 50_000 };
const FACTORIES = 200;
const WEBHOOKS = 20;
const EACH_ROUND_MAX = 12;
const LEASE_MS = 60_000;
const PAGE = 20;
/** What is named among the remarks as slower. */
const SLOWER = 1.5;

export const million: Stage = {
  name: 'million',
  async run(bench) {
    const reports: Report[] = [];
    for (const backend of bench.backends) {
      reports.push(await onOne(bench, backend));
      await bench.endStage();
    }
    return reports;
  },
};

/** Times of one thing in both stores, or rates. */
interface Compared {
  what: string;
  unit: string;
  empty: number[];
  filled: number[];
  /** One figure of each: a rate, where more is better, or a cost. */
  single?: 'rate' | 'cost';
}

async function onOne(bench: Bench, backend: Backend): Promise<Report> {
  const count = bench.quick ? COUNT.quick : COUNT.whole;
  const title = `${count} stored deliveries and ${count} runs, ${backend}`;
  const wanted = { backend, senders: ['token'], factories: FACTORIES, webhooks: WEBHOOKS } as const;
  const [empty, filled] = [await seededService(bench, wanted), await seededService(bench, wanted)];
  if ('reason' in empty || 'reason' in filled)
    return {
      name: 'million',
      title,
      columns: [],
      rows: [],
      aims: [],
      remarks: [`SKIPPED: ${'reason' in empty ? empty.reason : ''}`],
    };
  const calls = bench.quick ? 30 : 100;
  const { seconds, compared } = await inStores(empty, filled, count, calls);
  const [one, other] = [await empty.start(), await filled.start()];
  const generator = bench.generator();
  const { rates, others } = await accepted(bench, generator, [empty, one], [filled, other]);
  const all = [...rates, ...compared, ...(await overHttp([empty, one], [filled, other], calls))];
  const slower = all.filter((each) => ratioOf(each) > SLOWER);
  return {
    name: 'million',
    title,
    columns: ['what', 'unit', 'nearly empty', 'p99', 'filled', 'p99', 'slower by'],
    rows: all.map((each): Cell[] => [
      each.what,
      each.unit,
      quantile(each.empty, 0.5),
      tailOf(each, each.empty),
      quantile(each.filled, 0.5),
      tailOf(each, each.filled),
      ratioOf(each),
    ]),
    aims: [],
    remarks: [
      `filled in ${seconds.toFixed(0)} s, the log over ten days; in turn on both; the store's own steps were ` +
        'timed in this process before the services were started; the nearly empty log has nothing to remove, so ' +
        'that its sweep only shows what a look costs',
      slower.length === 0
        ? `nothing is slower by more than ${SLOWER}`
        : `slower by more than ${SLOWER}: ${slower.map(({ what }) => what).join(', ')}`,
      ...(others === undefined ? [] : [`NOT ACCEPTED ${others}`]),
    ],
  };
}

function ratioOf({ empty, filled, single }: Compared): number {
  const ratio = quantile(filled, 0.5) / quantile(empty, 0.5);
  return single === 'rate' ? 1 / ratio : ratio;
}

function tailOf({ single }: Compared, measured: readonly number[]): Cell {
  return single === undefined ? quantile(measured, 0.99) : '';
}

/** Fills one of them, and times what no request does: a claim, and a step of what removes old deliveries. */
async function inStores(
  empty: SeededService,
  filled: SeededService,
  count: number,
  calls: number,
): Promise<{ seconds: number; compared: Compared[] }> {
  const [small, large] = [await empty.open(), await filled.open()];
  try {
    const seconds =
      (await timed(async () => {
        await seedDeliveries(large, count, FACTORIES * WEBHOOKS);
        await seedRuns(large, count);
        // As many that wait, and as many webhooks whose log is old.
        await seedRuns(small, calls * 20);
      })) / 1_000;
    const claims: Compared = { what: 'claim of a run', unit: 'ms', empty: [], filled: [] };
    const sweeps: Compared = { what: 'look and step of the sweep', unit: 'ms', empty: [], filled: [] };
    const runs = { empty: new RunStore(small), filled: new RunStore(large) };
    const sweep = { empty: sweeper(small), filled: sweeper(large) };
    for (let call = 0; call < calls; call += 1) {
      for (const which of ['empty', 'filled'] as const) {
        claims[which].push(await timed(() => runs[which].claim('bench', LEASE_MS, 1, [randomUUID()])));
        sweeps[which].push(await timed(sweep[which]));
      }
    }
    return { seconds, compared: [claims, sweeps] };
  } finally {
    await Promise.all([small.close(), large.close()]);
  }
}

/** Entries that go in one transaction. */
const REMOVED_AT_ONCE = 100;

/** One look and one removal after the other, from the beginning on. */
function sweeper(database: Database): () => Promise<void> {
  const sweep = deliverySweep();
  let place = '';
  return async () => {
    const found = await database.longRead(() => sweep.scan(place, Date.now()));
    place = found.place;
    const targets = found.targets.slice(0, REMOVED_AT_ONCE).map(({ target }) => target);
    if (targets.length > 0) await database.run(() => sweep.remove(targets, Date.now()));
  };
}

type Pair = readonly [SeededService, RunningService];

async function accepted(
  bench: Bench,
  generator: LoadGenerator,
  empty: Pair,
  filled: Pair,
): Promise<{ rates: Compared[]; others: string | undefined }> {
  const of = (name: string, [seeded, service]: Pair): Contestant => ({
    name,
    measure: () =>
      generator.drive(
        { ...acceptOrder(service, seeded, 'token', EACH_ROUND_MAX)(), secondsMax: bench.quick ? 1 : 2.5 },
        [service.pid],
      ),
  });
  const contestants = [of('empty', empty), of('filled', filled)];
  for (const { measure } of contestants) await measure(0); // warms them up
  const measured = await inTurn(contestants, 3);
  const each = (figure: 'perSecond' | 'cpuMicros'): Pick<Compared, 'empty' | 'filled'> => ({
    empty: [middle(measured.get('empty'))[figure]],
    filled: [middle(measured.get('filled'))[figure]],
  });
  return {
    rates: [
      { what: 'accepted deliveries', unit: '/s', single: 'rate', ...each('perSecond') },
      { what: 'CPU of an accepted delivery', unit: 'µs', single: 'cost', ...each('cpuMicros') },
    ],
    others: unwanted([...measured.values()].flat(), '202'),
  };
}

/** What people look at. */
async function overHttp(empty: Pair, filled: Pair, calls: number): Promise<Compared[]> {
  const [small, large] = [await requestsOf(empty), await requestsOf(filled)];
  const compared = small.map(({ what }): Compared => ({ what, unit: 'ms', empty: [], filled: [] }));
  for (let call = 0; call < calls; call += 1) {
    for (const [at, one] of compared.entries()) {
      one.empty.push(await timed(() => small[at]?.call() ?? Promise.reject(new Error('nothing to call'))));
      one.filled.push(await timed(() => large[at]?.call() ?? Promise.reject(new Error('nothing to call'))));
    }
  }
  return compared;
}

async function requestsOf([seeded, service]: Pair): Promise<{ what: string; call(): Promise<unknown> }[]> {
  const webhookUid = seeded.targets.token[0]?.path.split('/').at(-1);
  const log = `/factory/${seeded.factoryUids[0]}/webhooks/${webhookUid}/deliveries`;
  const { runs } = (await service.api('GET', `/agent/runs?limit=${PAGE}`)) as { runs: { run_id: string }[] };
  const { deliveries } = (await service.api('GET', `${log}?limit=${PAGE}`)) as { deliveries: { entry_id: string }[] };
  const of = (what: string, path: string): { what: string; call(): Promise<unknown> } => ({
    what,
    call: () => service.api('GET', path),
  });
  return [
    of('list of runs', `/agent/runs?limit=${PAGE}`),
    of('list of runs that have failed', `/agent/runs?limit=${PAGE}&state=FAILED`),
    of('one run', `/agent/runs/${runs[0]?.run_id}`),
    of('list of deliveries', `${log}?limit=${PAGE}`),
    of('one delivery', `${log}/${deliveries[0]?.entry_id}`),
  ];
}
