/**
 * Eighty thousand webhooks in one process: what they take of memory, how soon it is there, and whether a delivery
 * notices.
 */
import { acceptOrder, busyText } from '../acceptance/accept.ts';
import type { Bench, Stage } from '../bench.ts';
import { inTurn, middle, unwanted, type Contestant, type LoadOrder, type Measured } from '../loads/loads.ts';
import { memoryOf } from '../figures/process-memory.ts';
import type { Cell, Report } from '../figures/report.ts';
import {
  emptyService,
  inTurnOf,
  NO_TARGETS,
  type RunningService,
  type SeededService,
} from '../seeds/seeded-service.ts';
import type { Target } from '../loads/senders.ts';
import { seedWebhooks } from '../seeds/webhook-seeds.ts';

const WEBHOOKS = 20;
/**
 * The smallest takes at most 100 deliveries a second because of the rate limit: rates are compared with the one in the
 * middle.
 */
export const FACTORIES = { few: 5, some: 50, many: 4_000 };
/** Of the middle one's webhooks; below 60 in a minute over all rounds. */
const EACH_ROUND_MAX = 8;
/** Garbage of the start is collected by then. */
const WARM_UP_MS = 5_000;
/** A load that goes to every webhook: so many at a time, for as long at most. */
const EVERY = { count: 8_000, secondsMax: 30 };
const MEMORY_AIM_MIB = 400;
/** "No slower": what the machine does besides is not the webhooks' doing. */
const NO_SLOWER = 0.95;

export const many: Stage = { name: 'many', run: async (bench) => [await run(bench)] };

interface Started {
  seeded: SeededService;
  service: RunningService;
  webhooks: number;
  startedMib: number;
}

async function run(bench: Bench): Promise<Report> {
  const all: Started[] = [];
  for (const factories of Object.values(FACTORIES)) all.push(await startWithWebhooks(bench, factories));
  const [, some, most] = all as [Started, Started, Started];
  const drive = driver(bench, some.seeded.targets.token.length * EACH_ROUND_MAX);
  for (const one of [some, most]) await drive(one, 0); // warms them up
  const contestants = [some, most].map((one): Contestant => ({
    name: String(one.webhooks),
    measure: (round) => drive(one, round + 1),
  }));
  const full = await inTurn(contestants, 3);
  const pace = middle(full.get(String(some.webhooks))).perSecond / 2;
  const half = await inTurn(
    [some, most].map((one): Contestant => ({
      name: String(one.webhooks),
      measure: (round) => drive(one, round + 4, pace),
    })),
    bench.quick ? 1 : 2,
  );
  const at = (one: Started): Measured => middle(full.get(String(one.webhooks)));
  const p99 = (one: Started): number => middle(half.get(String(one.webhooks)), 'p99Ms').p99Ms;
  if (((await most.service.api('GET', '/agent/runs?limit=1')) as { runs: unknown[] }).runs.length === 0)
    throw new Error('the deliveries started no runs');
  const others = unwanted([...full.values(), ...half.values()].flat(), '202');
  return {
    name: 'many',
    title: 'webhooks in one process, SQLite',
    columns: [
      'webhooks',
      'ready s',
      'MiB started',
      'MiB loaded',
      '/s',
      'of fewer',
      'CPU µs',
      'busy',
      'half: p50 ms',
      'p99 ms',
    ],
    rows: all.map((one): Cell[] => {
      const begin = [one.webhooks, one.service.readyMs / 1_000, one.startedMib, mib(one.service)];
      if (!full.has(String(one.webhooks))) return [...begin, '', '', '', '', '', ''];
      const paced = middle(half.get(String(one.webhooks)), 'p99Ms');
      return [
        ...begin,
        at(one).perSecond,
        at(one).perSecond / at(some).perSecond,
        at(one).cpuMicros,
        busyText(at(one)),
        paced.p50Ms,
        paced.p99Ms,
      ];
    }),
    aims: [
      {
        what: `${most.webhooks} webhooks: MiB resident after the start`,
        wanted: { atMost: MEMORY_AIM_MIB },
        value: most.startedMib,
      },
      {
        what: `${most.webhooks} webhooks: accepted a second, of ${some.webhooks}`,
        wanted: { atLeast: NO_SLOWER },
        value: at(most).perSecond / at(some).perSecond,
      },
      {
        what: `${most.webhooks} webhooks: p99 at the same pace, of ${some.webhooks}`,
        wanted: { atMost: 1 / NO_SLOWER },
        value: p99(most) / p99(some),
      },
    ],
    remarks: [
      `${WEBHOOKS} webhooks in each factory, each with a secret, and an automation with a filter and a prompt ` +
        'of 1.8 KiB, of its own; factories without a source: nothing is reconciled; every delivery starts a run; ' +
        `deliveries of ${most.webhooks} go to all of them in turn; both are paced alike, at half of what ` +
        `${some.webhooks} take; "MiB started": resident ${WARM_UP_MS / 1_000} s after it was ready, of which ` +
        'about the first row is the program itself',
      ...(others === undefined ? [] : [`NOT ACCEPTED ${others}`]),
    ],
  };
}

/** A service with so many factories of 20 webhooks, and what it took of memory once it had started. */
export async function startWithWebhooks(bench: Bench, factories: number): Promise<Started> {
  const seeded = await seeding(bench, factories);
  const service = await seeded.start();
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  return { seeded, service, webhooks: seeded.targets.token.length, startedMib: mib(service) };
}

/** One delivery to every webhook, each with a run; what the service takes of memory behind them, MiB. */
export async function deliverToAll(bench: Bench, { seeded, service, webhooks }: Started): Promise<number> {
  const generator = bench.generator();
  for (let from = 0; from < webhooks; from += EVERY.count) {
    const count = Math.min(EVERY.count, webhooks - from);
    const order: LoadOrder = {
      ...acceptOrder(service, seeded, 'token')(),
      from,
      count,
      distinct: count,
      secondsMax: EVERY.secondsMax,
    };
    const { statuses } = await generator.drive(order, [service.pid]);
    if (statuses['202'] !== count) throw new Error(`${count} deliveries were answered ${JSON.stringify(statuses)}`);
  }
  return mib(service);
}

async function seeding(bench: Bench, factories: number): Promise<SeededService> {
  const empty = await emptyService(bench, 'SQLite');
  if ('reason' in empty) throw new Error(empty.reason);
  const database = await empty.open();
  try {
    const webhooks = await seedWebhooks(database, empty.masterKey, { factories, webhooksEach: WEBHOOKS });
    const byFactory = Array.from({ length: factories }, (_, n) =>
      webhooks
        .slice(n * WEBHOOKS, (n + 1) * WEBHOOKS)
        .map(({ uid, token }): Target => ({ path: `/webhooks/w/${uid}`, secret: token, members: matching(n) })),
    );
    return {
      ...empty,
      targets: { ...NO_TARGETS, token: inTurnOf(byFactory) },
      factoryUids: [],
      model: { uid: '', path: '' },
    };
  } finally {
    await database.close();
  }
}

/** What the filters of the seeded factory `n` ask for: every delivery starts a run. */
function matching(n: number): string {
  return (
    `"action":"opened","repository":{"full_name":"acme/service-${n}` +
    '","private":true},"labels":{"name":"bug"},"sender":{"type":"User"}'
  );
}

/** As many deliveries to each, every round to other webhooks where there are more of them. */
function driver(bench: Bench, count: number): (one: Started, round: number, perSecond?: number) => Promise<Measured> {
  const generator = bench.generator();
  return ({ seeded, service }, round, perSecond) => {
    const order: LoadOrder = {
      ...acceptOrder(service, seeded, 'token')(),
      from: round * count,
      count,
      distinct: count,
      secondsMax: bench.quick ? 1.5 : 3,
      perSecond,
    };
    return generator.drive(order, [service.pid]);
  };
}

/** Resident now. */
export function mib({ pid }: RunningService): number {
  return memoryOf(pid).residentBytes / 1_048_576;
}
