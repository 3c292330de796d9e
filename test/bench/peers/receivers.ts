/**
 * Millwright beside programs that people receive webhooks with, and beside queues that others put behind a receiver of
 * their own: what each accepts, what that takes, and what is on the disk when it answers.
 */
import type { Backend, Bench, Stage } from '../bench.ts';
import { postmasterOf } from '../figures/database-usage.ts';
import type { Aim, Cell, Report } from '../figures/report.ts';
import { middle, unwanted, type Measured } from '../loads/loads.ts';
import { seededService, type SeededService } from '../seeds/seeded-service.ts';
import { DEBIAN, debianWebhook } from './debian-webhook.ts';
import { bullmqReceiver, postgresReceiver } from './durable-receivers.ts';
import { natsServer } from './nats-server.ts';
import { nodeRed } from './node-red.ts';
import { outpost } from './outpost.ts';
import { CONNECTIONS, ReceiverDriver, type DiskUse } from './receiver-rounds.ts';
import { PROOFS, proofsOf, REQUESTS_MAX, type Found, type Proof, type Receiver } from './receiver.ts';

const FACTORIES = { whole: 100, quick: 20 };
const WEBHOOKS = 20;
/** Rounds of full and of half load, unless the time is over before: on a busy machine one of each is all there is. */
const ROUNDS = { whole: { full: 3, half: 2 }, quick: { full: 1, half: 1 } };
const ROUNDS_SECONDS_MAX = 170;
/** One webhook takes 60 deliveries in any minute. */
const EACH_ROUND_MAX = 12;
const AIM = 3;

const nameOf = (backend: Backend): string => `Millwright, ${backend}`;
const BARE = 'bare node:http';

export const receivers: Stage = { name: 'receivers', run: async (bench) => [await run(bench)] };

/** A receiver and one kind of its senders. */
interface Entry {
  name: string;
  receiver: Receiver;
  proof: Proof;
}

interface Rounds {
  full: ReadonlyMap<string, Measured[]>;
  half: ReadonlyMap<string, Measured[]>;
  disk: ReadonlyMap<string, DiskUse>;
}

async function run(bench: Bench): Promise<Report> {
  const found = await foundOnes(bench);
  const running = found.filter((one) => typeof one !== 'string');
  const entries = running.flatMap((receiver) =>
    proofsOf(receiver)
      .filter((proof) => !bench.quick || proof === 'token')
      .map((proof): Entry => ({ name: `${receiver.name}, ${proof}`, receiver, proof })),
  );
  const driver = new ReceiverDriver(bench);
  const fooled: string[] = [];
  for (const { name, receiver, proof } of entries) {
    await driver.warmUp(receiver, proof);
    if (receiver.signatures === 'yes' && (await driver.isFooled(receiver, proof))) fooled.push(name);
  }
  const rounds = await measured(bench, driver, entries);
  return {
    name: 'receivers',
    title: 'beside other programs that receive webhooks',
    columns: COLUMNS,
    rows: entries.map((entry) => rowOf(entry, rounds)),
    aims: aimsOf(rounds.full),
    remarks: [
      `${CONNECTIONS} connections, 1 KiB each, medians of rounds in turn (${roundsOf(rounds.full)} of full load, ` +
        `${roundsOf(rounds.half)} of half); "/s" counts until everything that the ` +
        'answers began has ended; p99 at half of the own rate; CPU: of all processes of the receiver, its databases ' +
        'included, until they rest, for each answer',
      'syncs: calls of fsync and fdatasync for each delivery, one after the other and on all connections; bytes ' +
        'written: handed to files meanwhile, checkpoints later on aside; by strace (– where it cannot trace)',
      ...running.map(({ name, does }) => `${name}: ${does}`),
      ...found.filter((one) => typeof one === 'string'),
      ...fooled.map((name) => `${name}: ACCEPTED A FORGED DELIVERY`),
      ...entries.flatMap(({ name, receiver }) => {
        const all = [...(rounds.full.get(name) ?? []), ...(rounds.half.get(name) ?? [])];
        const others = unwanted(all, receiver.accepted ?? '202');
        return others === undefined ? [] : [`${name}: NOT ACCEPTED ${others}`];
      }),
    ],
  };
}

const roundsOf = (rounds: Rounds['full']): number => Math.max(...[...rounds.values()].map(({ length }) => length));

/** All that can be had here, the bare server first. */
async function foundOnes(bench: Bench): Promise<Found[]> {
  const sqlite = await seededOn(bench, 'SQLite');
  if ('reason' in sqlite) throw new Error(sqlite.reason);
  const postgres = await seededOn(bench, 'PostgreSQL');
  return [
    await bare(bench, sqlite),
    await ours(sqlite),
    'reason' in postgres ? `${nameOf('PostgreSQL')} SKIPPED: ${postgres.reason}` : await ours(postgres),
    await postgresReceiver(bench, sqlite),
    await bullmqReceiver(bench, sqlite),
    await outpost(bench),
    await natsServer(bench),
    await nodeRed(bench, sqlite),
    ...(await debianWebhook(bench, sqlite)).slice(0, bench.quick ? 1 : 2),
  ];
}

const seededOn = (bench: Bench, backend: Backend): ReturnType<typeof seededService> =>
  seededService(bench, {
    backend,
    senders: PROOFS,
    factories: FACTORIES[bench.quick ? 'quick' : 'whole'],
    webhooks: WEBHOOKS,
  });

async function bare(bench: Bench, { targets }: SeededService): Promise<Receiver> {
  return {
    name: BARE,
    server: await bench.bare(),
    databases: [],
    targets: { token: targets.token },
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    durable: 'nothing',
    duplicates: 'no',
    signatures: 'no',
    does: 'reads the body and answers 202',
  };
}

async function ours(seeded: SeededService): Promise<Receiver> {
  const { backend, databaseUrl, targets } = seeded;
  return {
    name: nameOf(backend),
    server: await seeded.start(),
    databases: databaseUrl === undefined ? [] : [await postmasterOf(databaseUrl)],
    targets,
    requestsMax: targets.token.length * EACH_ROUND_MAX,
    goesOn: false,
    durable: 'delivery, identity, run',
    duplicates: 'for good',
    signatures: 'yes',
    does: `${targets.token.length} webhooks of each kind, filters, rate, log and a run for each that nobody works on`,
  };
}

async function measured(bench: Bench, driver: ReceiverDriver, entries: readonly Entry[]): Promise<Rounds> {
  const { full: fullRounds, half: halfRounds } = ROUNDS[bench.quick ? 'quick' : 'whole'];
  const beganAtMs = performance.now();
  const isOver = (): boolean => performance.now() - beganAtMs > ROUNDS_SECONDS_MAX * 1_000;
  const rounds = async (count: number, pace: (name: string) => number | undefined): Promise<Rounds['full']> => {
    const all = new Map<string, Measured[]>(entries.map(({ name }) => [name, []]));
    for (let round = 0; round < count && (round === 0 || !isOver()); round += 1)
      for (const { name, receiver, proof } of entries)
        all.get(name)?.push(await driver.drive(receiver, proof, pace(name)));
    return all;
  };
  const full = await rounds(fullRounds, () => undefined);
  const half = await rounds(halfRounds, (name) => middle(full.get(name)).perSecond / 2);
  const disk = new Map<string, DiskUse>();
  for (const { name, receiver, proof } of entries) disk.set(name, await driver.diskUse(receiver, proof));
  return { full, half, disk };
}

const COLUMNS = [
  'receiver',
  'sender',
  '/s',
  'of bare',
  'half: p99 ms',
  'CPU µs',
  'syncs: alone',
  'together',
  'bytes written',
  'on disk when answered',
  'duplicates known',
  'proof checked',
];

const NOT_TRACED: DiskUse = { syncsAlone: Number.NaN, syncsTogether: Number.NaN, bytesTogether: Number.NaN };

function rowOf({ name, receiver, proof }: Entry, { full, half, disk }: Rounds): Cell[] {
  const { perSecond, cpuMicros } = middle(full.get(name));
  const { syncsAlone, syncsTogether, bytesTogether } = disk.get(name) ?? NOT_TRACED;
  return [
    receiver.name,
    proof,
    Math.round(perSecond),
    perSecond / middle(full.get(`${BARE}, token`)).perSecond,
    middle(half.get(name), 'p99Ms').p99Ms,
    Math.round(cpuMicros),
    syncsAlone,
    syncsTogether,
    Math.round(bytesTogether),
    receiver.durable,
    receiver.duplicates,
    receiver.signatures,
  ];
}

function aimsOf(full: ReadonlyMap<string, Measured[]>): Aim[] {
  const rate = (name: string, proof: Proof): number => middle(full.get(`${name}, ${proof}`)).perSecond;
  return PROOFS.filter((proof) => full.has(`${DEBIAN}, ${proof}`)).map((proof) => ({
    what: `${proof}: ${nameOf('SQLite')}, of ${DEBIAN}`,
    wanted: { atLeast: AIM },
    value: rate(nameOf('SQLite'), proof) / rate(DEBIAN, proof),
  }));
}
