/**
 * Ten upgrades under load: on one machine with SQLite by `millwright upgrade`, and of three replicas on PostgreSQL
 * behind
 * haproxy, one after the other. Counts what senders met, and what is in the database afterwards. contract §1.8.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { row } from '../../../apps/server/store/database/transactions.ts';
import { freePort } from '../../support/network/ports.ts';
import type { Backend, Bench, Stage } from '../bench.ts';
import { quantile } from '../figures/figures.ts';
import type { Aim, Cell, Report } from '../figures/report.ts';
import type { LoadOrder, Measured } from '../loads/loads.ts';
import { seededService, type RunningService, type SeededService } from '../seeds/seeded-service.ts';
import { BALANCED_HOST, hasHaproxy, haproxyOver } from './haproxy.ts';
import { nextBuild, type NextBuild } from './next-build.ts';

const FACTORIES = 100;
const WEBHOOKS = 20;
const PER_SECOND = 500;
/** Connections of senders. */
const CONNECTIONS = 64;
const REPLICAS = 3;
/** How long deliveries come without an upgrade, for comparison; and how often there is one. Seconds. */
const NORMAL_SECONDS = 20;
const EVERY_SECONDS = { whole: 30, quick: 15 };
const UPGRADES = { whole: 10, quick: 2 };
/** p99 beside upgrades, of normal. */
const P99_AIM = 3;
/** For how long connections may wait in the kernel, milliseconds. */
const PAUSE_AIM = 2_000;

export const upgrades: Stage = {
  name: 'upgrades',
  async run(bench) {
    const next = nextBuild();
    bench.atEnd(async () => next.remove());
    return [await report(bench, 'SQLite', next), await report(bench, 'PostgreSQL', next)];
  },
};

/** A service that is driven, and one more upgrade of it: milliseconds for which connections waited. */
interface Upgraded {
  port: number;
  upgrade(): Promise<number>;
  stop(): Promise<void>;
}

async function report(bench: Bench, backend: Backend, next: NextBuild): Promise<Report> {
  const title = `${PER_SECOND} deliveries a second beside upgrades, ${backend}`;
  const skipped = (reason: string): Report => ({
    name: 'upgrades',
    title,
    columns: [],
    rows: [],
    aims: [],
    remarks: [`SKIPPED: ${reason}`],
  });
  if (backend === 'PostgreSQL' && !hasHaproxy()) return skipped('haproxy is not installed (Debian package haproxy)');
  const seeded = await seededService(bench, { backend, senders: ['token'], factories: FACTORIES, webhooks: WEBHOOKS });
  if ('reason' in seeded) return skipped(seeded.reason);
  const service = backend === 'SQLite' ? await supervised(seeded, next) : await replicas(bench, seeded, next);
  const generator = bench.generator();
  const count = bench.quick ? UPGRADES.quick : UPGRADES.whole;
  const every = bench.quick ? EVERY_SECONDS.quick : EVERY_SECONDS.whole;
  const normal = await generator.drive(orderOf(seeded, service.port, NORMAL_SECONDS), []);
  const driven = generator.drive(orderOf(seeded, service.port, count * every), []);
  const paused: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const due = sleep(every * 1_000);
    paused.push(await service.upgrade());
    if (at < count - 1) await due;
  }
  const beside = await driven;
  await service.stop();
  const { all, ids } = await storedIn(seeded);
  return {
    name: 'upgrades',
    title,
    columns: ['beside', 'answers', '/s', 'p50 ms', 'p99 ms', 'max ms', 'not 202'],
    rows: [rowOf('nothing', normal), rowOf(`${count} upgrades`, beside)],
    aims: aimsOf({ normal, beside, paused, all, ids }),
    remarks: [
      `one upgrade each ${every} s` +
        (backend === 'SQLite'
          ? `; connections waited ${paused.join(', ')} ms in the kernel`
          : `; ${REPLICAS} replicas behind haproxy, each replaced in turn`),
      'the load generator, the services and the database share the cores of this machine',
    ],
  };
}

interface Outcome {
  normal: Measured;
  beside: Measured;
  paused: readonly number[];
  /** Rows of accepted deliveries, and how many different identities they have. */
  all: number;
  ids: number;
}

function aimsOf({ normal, beside, paused, all, ids }: Outcome): Aim[] {
  const accepted = (normal.statuses['202'] ?? 0) + (beside.statuses['202'] ?? 0);
  return [
    { what: 'answers other than 202', wanted: { atMost: 0 }, value: othersOf(normal) + othersOf(beside) },
    { what: 'deliveries answered 202 and not stored', wanted: { atMost: 0 }, value: Math.max(0, accepted - ids) },
    { what: 'deliveries stored twice', wanted: { atMost: 0 }, value: all - ids },
    { what: 'p99 beside upgrades, of normal', wanted: { atMost: P99_AIM }, value: beside.p99Ms / normal.p99Ms },
    { what: 'longest wait in the kernel, ms', wanted: { atMost: PAUSE_AIM }, value: quantile(paused, 1) },
  ];
}

const othersOf = ({ statuses }: Measured): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => (status === '202' ? sum : sum + count), 0);

function rowOf(name: string, measured: Measured): Cell[] {
  const { requests, perSecond, p50Ms, p99Ms, maxMs } = measured;
  return [name, requests, perSecond, p50Ms, p99Ms, maxMs, othersOf(measured)];
}

let from = 0;

/** Other webhooks than before, so that none comes to its limit; each request is another delivery. */
function orderOf({ targets }: SeededService, port: number, seconds: number): LoadOrder {
  const count = seconds * PER_SECOND;
  from += 997;
  return {
    port,
    sender: 'token',
    targets: targets.token,
    from,
    connections: CONNECTIONS,
    count,
    distinct: count,
    secondsMax: seconds + 60,
    perSecond: PER_SECOND,
    addresses: 1,
  };
}

/** One process after the other below a supervisor. */
async function supervised(seeded: SeededService, next: NextBuild): Promise<Upgraded> {
  const service = await seeded.start({}, { argv: ['--supervised'] });
  return {
    port: service.port,
    async upgrade() {
      const env = { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: seeded.dataDir };
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', next.command, 'upgrade', '--format', 'json'],
        { env },
      );
      return (JSON.parse(stdout) as { pausedMs: number }).pausedMs;
    },
    stop: () => service.stop(),
  };
}

/** Each of them is replaced by one on another port, which is there before it goes. */
async function replicas(bench: Bench, seeded: SeededService, next: NextBuild): Promise<Upgraded> {
  const ports: number[] = [];
  while (ports.length < 2 * REPLICAS) ports.push(await freePort());
  const running: (RunningService | undefined)[] = ports.map(() => undefined);
  const startAt = async (at: number, command?: string): Promise<void> => {
    const environment = {
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
      MILLWRIGHT_ALLOW_HTTP: 'true',
      MILLWRIGHT_INGRESS_URL: `http://${BALANCED_HOST}`,
    };
    running[at] = await seeded.start(environment, { port: ports[at], command });
  };
  for (let at = 0; at < REPLICAS; at += 1) await startAt(at);
  const { port } = await haproxyOver(bench, ports);
  let side = 0;
  return {
    port,
    async upgrade() {
      const [olds, news] = [side, REPLICAS - side];
      for (let at = 0; at < REPLICAS; at += 1) {
        await startAt(news + at, next.command);
        await sleep(1_000); // until the balancer knows
        await running[olds + at]?.stop();
        running[olds + at] = undefined;
      }
      side = news;
      return 0;
    },
    async stop() {
      for (const replica of running) await replica?.stop();
    },
  };
}

async function storedIn(seeded: SeededService): Promise<{ all: number; ids: number }> {
  const database = await seeded.open();
  try {
    const counts = await database.read(() =>
      row("SELECT count(*) AS total, count(DISTINCT delivery_id) AS ids FROM delivery WHERE outcome = 'accepted'"),
    );
    return { all: Number(counts?.['total']), ids: Number(counts?.['ids']) };
  } finally {
    await database.close();
  }
}
