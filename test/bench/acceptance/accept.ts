/**
 * Accepted deliveries a second by how senders prove themselves, on both databases, beside a bare node:http server; and
 * how long one takes at half of that.
 */
import type { Backend, Bench, Server, Stage } from '../bench.ts';
import {
  inTurn,
  LoadGenerator,
  middle,
  unwanted,
  type Contestant,
  type LoadOrder,
  type Measured,
} from '../loads/loads.ts';
import type { Aim, Cell, Report } from '../figures/report.ts';
import { seededService, type RunningService, type SeededService } from '../seeds/seeded-service.ts';
import { ACCEPTED_SENDERS, type AcceptedSender } from '../loads/senders.ts';

/** In flight at once. */
export const CONNECTIONS = 256;
/** Of each sender. */
const FACTORIES = 200;
const WEBHOOKS = 20;
/** One webhook takes 60 deliveries in any minute: three rounds, warming up and the half loads together stay below. */
const EACH_ROUND_MAX = 12;
/** A load above this is a bare server's. */
const BARE_REQUESTS_MAX = 1_000_000;
/** It looks at none of them. */
const BARE_REQUESTS_DISTINCT = 256;
const AIMS: Readonly<Record<Backend, number>> = { SQLite: 0.5, PostgreSQL: 0.35 };
const P99_AIM = 5;

export const accept: Stage = { name: 'accept', run: async (bench) => [await run(bench)] };

async function run(bench: Bench): Promise<Report> {
  const rows: (readonly Cell[])[] = [];
  const aims: Aim[] = [];
  const remarks = [
    `every delivery: 1 KiB, ${FACTORIES * WEBHOOKS} webhooks of each sender, one run started by each; ` +
      `${CONNECTIONS} connections; "of bare": median of rounds in turn; at half load requests are due at a fixed ` +
      'pace, and wait in the count when no connection is free (open loop)',
    'CPU: processor time of the server for each answer, which other programs change less than rates; "by CPU": ' +
      'what the ratio to bare would be if nothing but that counted; busy: share of one core, of the server / of ' +
      'the load generator',
  ];
  for (const backend of bench.backends) {
    const seeded = await seededService(bench, {
      backend,
      senders: sendersOf(bench),
      factories: FACTORIES,
      webhooks: WEBHOOKS,
    });
    if ('reason' in seeded) {
      remarks.push(`${backend} SKIPPED: ${seeded.reason}`);
      continue;
    }
    const part = await measured(bench, seeded);
    rows.push(...part.rows);
    aims.push(...part.aims);
    remarks.push(...part.remarks);
    await bench.endStage();
  }
  return { name: 'accept', title: 'accepted deliveries, one process', columns: COLUMNS, rows, aims, remarks };
}

const COLUMNS = [
  'database',
  'sender',
  '/s',
  'of bare',
  'CPU µs',
  'by CPU',
  'busy',
  'p50 ms',
  'p99 ms',
  'half: /s',
  'p50 ms',
  'p99 ms',
  '× bare p99',
];

const sendersOf = ({ quick }: Bench): readonly AcceptedSender[] => (quick ? ['token', 'github'] : ACCEPTED_SENDERS);

async function measured(bench: Bench, seeded: SeededService): Promise<Pick<Report, 'rows' | 'aims' | 'remarks'>> {
  const generator = bench.generator();
  const bare = await bench.bare();
  const service = await seeded.start();
  const seconds = bench.quick ? 1 : 2;
  const contestants = [
    { name: 'bare', load: loadOf(generator, bare, bareOrder(bare, seeded), seconds) },
    ...sendersOf(bench).map((sender) => ({
      name: sender,
      load: loadOf(generator, service, acceptOrder(service, seeded, sender), seconds),
    })),
  ];
  for (const { load } of contestants) await load(); // warms it up
  const full = await inTurn(
    contestants.map(({ name, load }): Contestant => ({ name, measure: () => load() })),
    bench.quick ? 2 : 3,
  );
  const half = await inTurn(
    contestants.map(({ name, load }): Contestant => ({
      name,
      measure: () => load(middle(full.get(name)).perSecond / 2),
    })),
    bench.quick ? 1 : 2,
  );
  return reportOf(seeded.backend, full, half);
}

/** Drives one server; at a pace, if one is given. */
function loadOf(
  generator: LoadGenerator,
  server: Server,
  order: () => LoadOrder,
  seconds: number,
): (perSecond?: number) => Promise<Measured> {
  return (perSecond) => {
    const { count, ...rest } = order();
    return generator.drive(
      {
        ...rest,
        secondsMax: seconds,
        perSecond,
        count: perSecond === undefined ? count : Math.min(count, Math.ceil(perSecond * seconds)),
      },
      [server.pid],
    );
  };
}

/** Deliveries of a sender to all of its webhooks, each time beginning where the last load ended. */
export function acceptOrder(
  service: Pick<RunningService, 'port'>,
  { targets }: SeededService,
  sender: AcceptedSender,
  eachMax = EACH_ROUND_MAX,
): () => LoadOrder {
  const own = targets[sender];
  const count = own.length * eachMax;
  return () => ({
    port: service.port,
    sender,
    targets: own,
    from: 0,
    connections: CONNECTIONS,
    count,
    secondsMax: 0,
    addresses: 1,
    distinct: count,
  });
}

/** The same requests to a server that accepts everything. */
function bareOrder(bare: Server, { targets }: SeededService): () => LoadOrder {
  return () => ({
    port: bare.port,
    sender: 'token',
    targets: targets.token,
    from: 0,
    connections: CONNECTIONS,
    count: BARE_REQUESTS_MAX,
    secondsMax: 0,
    addresses: 1,
    distinct: BARE_REQUESTS_DISTINCT,
  });
}

function reportOf(
  backend: Backend,
  full: ReadonlyMap<string, Measured[]>,
  half: ReadonlyMap<string, Measured[]>,
): Pick<Report, 'rows' | 'aims' | 'remarks'> {
  const bare = { full: middle(full.get('bare')), half: middle(half.get('bare'), 'p99Ms') };
  const ratio = (name: string): number => middle(full.get(name)).perSecond / bare.full.perSecond;
  const p99Ratio = (name: string): number => middle(half.get(name), 'p99Ms').p99Ms / bare.half.p99Ms;
  const rows = [...full.keys()].map((name): Cell[] => {
    const [at, paced] = [middle(full.get(name)), middle(half.get(name), 'p99Ms')];
    return [
      backend,
      name,
      at.perSecond,
      ratio(name),
      at.cpuMicros,
      bare.full.cpuMicros / at.cpuMicros,
      busyText(at),
      at.p50Ms,
      at.p99Ms,
      paced.perSecond,
      paced.p50Ms,
      paced.p99Ms,
      p99Ratio(name),
    ];
  });
  const remarks = [...full.entries()].flatMap(([name, rounds]) => {
    const others = unwanted([...rounds, ...(half.get(name) ?? [])], '202');
    return others === undefined ? [] : [`${backend}, ${name}: NOT ACCEPTED ${others}`];
  });
  return {
    rows,
    aims: [
      {
        what: `${backend}, token: accepted a second, of bare`,
        wanted: { atLeast: AIMS[backend] },
        value: ratio('token'),
      },
      {
        what: `${backend}, token: p99 at half load, of bare's at its half`,
        wanted: { atMost: P99_AIM },
        value: p99Ratio('token'),
      },
    ],
    remarks,
  };
}

/** Shares of one core: the server's and the generator's. */
export function busyText({ busy, generatorBusy }: Measured): string {
  return `${busy.toFixed(2)} / ${generatorBusy.toFixed(2)}`;
}
