/**
 * The gate of the accepting path: processor time of an answer beside a bare node:http server's in rounds side by side,
 * what a delivery writes and keeps, how long one takes at half load, and the memory of thousands of webhooks.
 */
import type { Backend, Bench, Server, Stage } from '../bench.ts';
import {
  accountOf,
  acceptedItems,
  refusedItems,
  measureItem,
  MinuteRates,
  type Account,
  type Driver,
  type Item,
  type MeasuredItem,
  newDriver,
  type OwnLoad,
  repeat,
} from './acceptance-rounds.ts';
import { stallsOf } from './acceptance-stalls.ts';
import { databaseUsage, growthOf, postmasterOf } from '../figures/database-usage.ts';
import { timed } from '../figures/figures.ts';
import { inAnotherOrder } from '../figures/orders.ts';
import { seedIdentities } from '../seeds/identity-seeds.ts';
import { deliverToAll, FACTORIES as FACTORIES_OF_MANY, mib, startWithWebhooks } from '../scale/many.ts';
import type { Aim, Cell, Report } from '../figures/report.ts';
import { seededService, type RunningService, type SeededService } from '../seeds/seeded-service.ts';
import { ACCEPTED_SENDERS, type AcceptedSender } from '../loads/senders.ts';

/** All senders together; the factories that their copies are made from come on top. */
const WEBHOOKS = 4_000;
const WEBHOOKS_EACH = 20;
/** Present while everything is measured; the token once more without. A quick run has none. */
const IDENTITIES = 5_000_000;
/** At the least; more rounds, steadier quartiles. */
const ROUNDS = { whole: 9, quick: 3 };
const HALF_LOADS = { whole: 3, quick: 1 };
/** Of each kind but large bodies, before the rounds. */
const WARM_LOADS = { whole: 4, quick: 0 };
/** A quick run sends one of so many requests. */
const QUICK_SHARE = 2;
/**
 * Deliveries that bytes are counted over, in loads of so many: the whole form has as many as two passes of the log by
 * webhook and six of the queue, so that copies are in it as often as they come.
 */
const STORED = { whole: { count: 32_000, loads: 3 }, quick: { count: 6_000, loads: 1 } };
/** Garbage of a start is collected by then; the memory that is judged is the one after all loads. */
const SETTLED_MS = { whole: 5_000, quick: 1_000 };

/** The most that each may be: own processor time ÷ bare's, unless said otherwise. */
const BOUNDS = {
  token: 2.4,
  signature: 2.7,
  withoutRun: 2,
  refused: 1.5,
  tooLarge: 2.5,
  postgresMicros: 45,
  bytesWritten: 8_192,
  bytesKept: 1_800,
  p99: 4,
  mib: 260,
  mibOfMany: 400,
} as const;
/** What the token is to come to once it is within its bound. */
const TOKEN_AIM = 2;

export const acceptance: Stage = { name: 'acceptance', run: async (bench) => [await run(bench)] };

type Part = Pick<Report, 'rows' | 'aims' | 'remarks'>;

async function run(bench: Bench): Promise<Report> {
  const backends: readonly Backend[] = bench.quick ? bench.backends.slice(0, 1) : bench.backends;
  const parts: Part[] = [];
  for (const backend of backends) {
    // What one database does not give is no reason to lose the other's figures.
    parts.push(await onOne(bench, backend).catch((error: unknown) => failed(backend, error)));
    await bench.endStage();
  }
  if (!bench.quick && backends.includes('SQLite'))
    parts.push(await ofMany(bench).catch((error: unknown) => failed('SQLite', error)));
  return {
    name: 'acceptance',
    title: `processor time of answers, one process, ${WEBHOOKS} webhooks`,
    columns: COLUMNS,
    rows: parts.flatMap(({ rows }) => rows),
    aims: parts.flatMap(({ aims }) => aims),
    remarks: [...EXPLANATION, ...parts.flatMap(({ remarks }) => remarks)],
  };
}

/** What every service on one database is measured with. */
interface Measuring {
  seeded: SeededService;
  bare: Server;
  rates: MinuteRates;
}

/** No figure, and a bound that is not met. */
function failed(what: string, error: unknown): Part {
  const aim: Aim = { what: `${what}: measured at all`, wanted: { atLeast: 1 }, value: 0 };
  return { rows: [], aims: [aim], remarks: [`${what} FAILED: ${(error as Error).message}`] };
}

const COLUMNS = [
  'database',
  'identities',
  'what',
  'µs',
  'bare µs',
  '× bare',
  'median ×',
  'postgres µs',
  'half: /s',
  'p99 ms',
  'bare p99 ms',
  '× bare p99',
];

const EXPLANATION = [
  '"µs": processor time of all threads of the server (schedstat) ÷ answers, lower quartile of the rounds; "× bare": ' +
    'lower quartile of own ÷ bare, each round of ours directly behind one of bare with the same kind of requests; ' +
    '"postgres": processor time of its whole family of processes ÷ answers, lower quartile',
  '1 KiB each; 256 connections, open before the clock starts, each sending on as soon as it is answered; bare reads ' +
    'every body, also those of 256 KiB and one byte that are answered 413; at half load each server gets half of its ' +
    'own rate at a fixed pace, and what waits for a connection counts (open loop); medians of the rounds',
];

async function onOne(bench: Bench, backend: Backend): Promise<Part> {
  const senders: readonly AcceptedSender[] = bench.quick ? ['token', 'github'] : ACCEPTED_SENDERS;
  const factories = WEBHOOKS / WEBHOOKS_EACH / senders.length;
  const seeded = await seededService(bench, { backend, senders, factories, webhooks: WEBHOOKS_EACH });
  if ('reason' in seeded) return { rows: [], aims: [], remarks: [`${backend} SKIPPED: ${seeded.reason}`] };
  const measuring = { seeded, bare: await bench.bare(), rates: new MinuteRates() };
  const without = bench.quick ? undefined : await withoutIdentities(bench, measuring);
  const filled = bench.quick ? undefined : await fill(seeded);
  const service = await seeded.start();
  await new Promise((resolve) => setTimeout(resolve, bench.quick ? SETTLED_MS.quick : SETTLED_MS.whole));
  const startedMib = mib(service);
  const driver = await driverOf(bench, measuring, service);
  const items = [...acceptedItems(seeded, senders), ...refusedItems(seeded)].map((item) => ({
    ...item,
    count: bench.quick ? item.count / QUICK_SHARE : item.count,
  }));
  const measured = await inRounds(bench, driver, items);
  const { count, loads } = bench.quick ? STORED.quick : STORED.whole;
  const [item] = items as [Item];
  const stored = await storedBy(driver, seeded, { ...item, count }, loads);
  const loadedMib = mib(service);
  await service.stop();
  const stalled = bench.quick ? [item] : items.filter(({ kind }) => kind === 'token' || kind === 'signature');
  const stalls = await stallsOf(bench, backend, { seeded, rates: measuring.rates, items: stalled }).catch(
    (error: unknown) => failed(`${backend}, stalls`, error),
  );
  const identities = bench.quick ? '0' : String(IDENTITIES);
  return {
    rows: [
      ...(without ?? []).map((one) => rowOf(backend, '0', one)),
      ...measured.map((one) => rowOf(backend, identities, one)),
    ],
    aims: [...aimsOf(backend, measured), ...storageAims(backend, stored, loadedMib), ...stalls.aims],
    remarks: [
      `${backend}: ${filled === undefined ? '' : `${IDENTITIES} identities were seeded in ${filled.toFixed(0)} s; `}` +
        `resident ${startedMib.toFixed(0)} MiB after the start, ${loadedMib.toFixed(0)} after all of this; bytes ` +
        `over ${count * loads} deliveries with a run each`,
      ...measured.flatMap(({ item: { name, status }, unwanted }) =>
        unwanted === undefined ? [] : [`${backend}, ${name}: beside ${status} there was ${unwanted}`],
      ),
      ...stalls.remarks,
    ],
  };
}

async function driverOf(bench: Bench, { seeded, bare, rates }: Measuring, service: RunningService): Promise<Driver> {
  const postmaster = seeded.databaseUrl === undefined ? undefined : await postmasterOf(seeded.databaseUrl);
  return newDriver({ generator: bench.generator(), service, bare, postmaster, rates });
}

/** The token alone, on a database that has accepted nothing yet. */
async function withoutIdentities(bench: Bench, measuring: Measuring): Promise<MeasuredItem[]> {
  const service = await measuring.seeded.start();
  const driver = await driverOf(bench, measuring, service);
  const measured = await inRounds(bench, driver, acceptedItems(measuring.seeded, ['token']).slice(0, 1));
  await service.stop();
  return measured;
}

/** Seconds that it took. */
async function fill(seeded: SeededService): Promise<number> {
  const database = await seeded.open();
  try {
    return (await timed(() => seedIdentities(database, IDENTITIES))) / 1_000;
  } finally {
    await database.close();
  }
}

/**
 * Every item in every round, and then the accepted ones at half load; a quick run asks only the first of them. What
 * comes before the rounds warms up: V8 compiles what a delivery goes through, and what a refusal does, for tens of
 * thousands of them.
 */
async function inRounds(bench: Bench, driver: Driver, items: readonly Item[]): Promise<MeasuredItem[]> {
  const accounts = new Map<Item, Account>(items.map((item) => [item, accountOf(item)]));
  const [rounds, halves] = bench.quick ? [ROUNDS.quick, HALF_LOADS.quick] : [ROUNDS.whole, HALF_LOADS.whole];
  // The first delivery to a webhook stores the snapshot of its run, once for each revision.
  for (const item of items)
    await driver.pair(item.status === '202' ? { ...item, count: Math.max(item.count, item.targets.length) } : item);
  for (let load = 0; load < (bench.quick ? WARM_LOADS.quick : WARM_LOADS.whole); load += 1)
    for (const item of items) if (item.kind !== 'tooLarge') await driver.own(item);
  for (let round = 0; round < rounds; round += 1)
    for (const [item, account] of inAnotherOrder(round, [...accounts])) account.pairs.push(await driver.pair(item));
  for (let round = 0; round < halves; round += 1)
    for (const [item, account] of accounts)
      if (bench.quick ? item === items[0] : item.status === '202')
        account.halves.push(await driver.half(item, account.pairs));
  return [...accounts.values()].map(measureItem);
}

interface Stored {
  written: number;
  writtenByPostgres: number;
  kept: number;
}

/** Bytes of a delivery: of pages written meanwhile, checkpoints included, and by which the database grew. */
async function storedBy(driver: Driver, seeded: SeededService, item: Item, loads: number): Promise<Stored> {
  const before = await databaseUsage(seeded);
  const driven = await repeat(loads, () => driver.own(item));
  const sumOf = (figure: (load: OwnLoad) => number): number => driven.reduce((sum, load) => sum + figure(load), 0);
  const requests = sumOf((load) => load.requests);
  return {
    written: sumOf(({ bytesWritten }) => bytesWritten) / requests,
    writtenByPostgres: sumOf(({ postgresBytesWritten }) => postgresBytesWritten) / requests,
    kept: growthOf(before, await databaseUsage(seeded)) / requests,
  };
}

function rowOf(backend: Backend, identities: string, { item, ...figures }: MeasuredItem): Cell[] {
  return [
    backend,
    identities,
    item.name,
    figures.micros,
    figures.bareMicros,
    figures.ratio,
    figures.medianRatio,
    backend === 'SQLite' ? '' : figures.postgresMicros,
    ...(figures.half === undefined
      ? ['', '', '', '']
      : [figures.half.perSecond, figures.half.p99Ms, figures.half.bareP99Ms, figures.half.ratio]),
  ];
}

function aimsOf(backend: Backend, measured: readonly MeasuredItem[]): Aim[] {
  return measured.flatMap(({ item, ratio, postgresMicros, half }): Aim[] => {
    const of = `${backend}, ${item.name}`;
    // What a refusal costs does not depend on the database, the entry of a 401 aside.
    if (item.kind === 'refused' || item.kind === 'tooLarge')
      return backend === 'SQLite'
        ? [{ what: `${of}: × bare`, wanted: { atMost: BOUNDS[item.kind] }, value: ratio }]
        : [];
    const aim = backend === 'SQLite' && item.name === 'token' ? ` (aim ${TOKEN_AIM})` : '';
    return [
      { what: `${of}: × bare${aim}`, wanted: { atMost: BOUNDS[item.kind] }, value: ratio },
      ...(half === undefined
        ? []
        : [{ what: `${of}: p99 at half load, × bare's`, wanted: { atMost: BOUNDS.p99 }, value: half.ratio }]),
      ...(backend === 'PostgreSQL' && item.kind === 'token'
        ? [{ what: `${of}: µs of postgres`, wanted: { atMost: BOUNDS.postgresMicros }, value: postgresMicros }]
        : []),
    ];
  });
}

function storageAims(backend: Backend, { written, writtenByPostgres, kept }: Stored, resident: number): Aim[] {
  return [
    {
      what: `${backend}, token: bytes written of a delivery (write_bytes of ${
        backend === 'SQLite' ? 'the service' : 'service and PostgreSQL'
      })`,
      wanted: { atMost: BOUNDS.bytesWritten },
      value: written + writtenByPostgres,
    },
    { what: `${backend}, token: bytes kept of a delivery`, wanted: { atMost: BOUNDS.bytesKept }, value: kept },
    { what: `${backend}: MiB with ${WEBHOOKS} webhooks, loaded`, wanted: { atMost: BOUNDS.mib }, value: resident },
  ];
}

/** Memory of a process with a large installation. */
async function ofMany(bench: Bench): Promise<Part> {
  const many = await startWithWebhooks(bench, FACTORIES_OF_MANY.many);
  const what = `SQLite: MiB with ${many.webhooks} webhooks`;
  const wanted = { atMost: BOUNDS.mibOfMany };
  const aims: Aim[] = [
    { what: `${what}, started`, wanted, value: many.startedMib },
    { what: `${what}, all of them delivered to`, wanted, value: await deliverToAll(bench, many) },
  ];
  return { rows: [], aims, remarks: [] };
}
