/** What several processes on one PostgreSQL accept together, beside one of them. */
import { cpus } from 'node:os';
import { acceptOrder, busyText, CONNECTIONS } from '../acceptance/accept.ts';
import type { Bench, Stage } from '../bench.ts';
import { inTurn, middle, unwanted, type Measured } from '../loads/loads.ts';
import type { Cell, Report } from '../figures/report.ts';
import { seededService, type RunningService, type SeededService } from '../seeds/seeded-service.ts';

const COUNTS = [1, 2, 4, 8, 16];
const FACTORIES = 300;
const WEBHOOKS = 20;
/** Below 60 in a minute over all rounds of one webhook. */
const EACH_ROUND_MAX = 6;
/** Two processes beside one, where cores allow: they, the database and the generators each want one. */
const TWO_AIM = 1.6;
const CORES_FOR_TWO = 6;

export const replicas: Stage = { name: 'replicas', run: async (bench) => [await run(bench)] };

async function run(bench: Bench): Promise<Report> {
  const title = 'accepted deliveries, several processes on one PostgreSQL';
  const cores = cpus().length;
  const counts = COUNTS.filter((count) => count <= cores);
  const seeded = await seededService(bench, {
    backend: 'PostgreSQL',
    senders: ['token'],
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded)
    return { name: 'replicas', title, columns: [], rows: [], aims: [], remarks: [`SKIPPED: ${seeded.reason}`] };
  const services: RunningService[] = [];
  for (let at = 0; at < (counts.at(-1) ?? 1); at += 1) services.push(await seeded.start());
  const together = driver(bench, seeded, services);
  await together(services.length); // warms them up
  const measured = await inTurn(
    counts.map((count) => ({ name: String(count), measure: () => together(count) })),
    bench.quick ? 2 : 3,
  );
  const one = middle(measured.get('1')).perSecond;
  const ratio = (count: number): number => middle(measured.get(String(count))).perSecond / one;
  const others = unwanted([...measured.values()].flat(), '202');
  return {
    name: 'replicas',
    title,
    columns: ['processes', '/s together', 'of one', 'CPU µs', 'busy', 'p50 ms', 'p99 ms'],
    rows: counts.map((count): Cell[] => {
      const at = middle(measured.get(String(count)));
      return [count, at.perSecond, ratio(count), at.cpuMicros, busyText(at), at.p50Ms, at.p99Ms];
    }),
    aims:
      counts.includes(2) && cores >= CORES_FOR_TWO
        ? [{ what: 'two processes, of one', wanted: { atLeast: TWO_AIM }, value: ratio(2) }]
        : [],
    remarks: [
      'every process has a load generator of its own, all drive the same webhooks; busy: cores of all servers / ' +
        'of all generators',
      ...(cores < CORES_FOR_TWO
        ? [
            `this machine has ${cores} cores: ` +
              `${(counts.at(-1) ?? 1) < 16 ? 'no more processes were tried than there are cores, and ' : ''}the ` +
              `processes share them with the database and the generators, so that two cannot be ${TWO_AIM} × one ` +
              `here; the aim needs ${CORES_FOR_TWO} cores (two for the processes, two for the generators, two ` +
              'for the database)',
          ]
        : []),
      ...(others === undefined ? [] : [`NOT ACCEPTED ${others}`]),
    ],
  };
}

/** Drives the first few of them at once, each by a generator of its own, and puts the results together. */
function driver(
  bench: Bench,
  seeded: SeededService,
  services: readonly RunningService[],
): (count: number) => Promise<Measured> {
  const generators = services.map(() => bench.generator());
  const targets = seeded.targets.token;
  return async (count) => {
    const parts = await Promise.all(
      services.slice(0, count).map((service, at) => {
        const order = acceptOrder(service, seeded, 'token', EACH_ROUND_MAX)();
        return (generators[at] as (typeof generators)[number]).drive(
          {
            ...order,
            count: Math.floor(order.count / count),
            from: Math.floor((targets.length * at) / count),
            connections: Math.max(1, Math.floor(CONNECTIONS / count)),
            secondsMax: bench.quick ? 1 : 3,
          },
          [service.pid],
        );
      }),
    );
    return sum(parts);
  };
}

/** Rates add up; of latencies the worst counts. */
function sum(parts: readonly Measured[]): Measured {
  const total = (of: (part: Measured) => number): number => parts.reduce((all, part) => all + of(part), 0);
  const worst = (of: (part: Measured) => number): number => Math.max(...parts.map(of));
  const statuses: Record<string, number> = {};
  for (const [status, count] of parts.flatMap((part) => Object.entries(part.statuses)))
    statuses[status] = (statuses[status] ?? 0) + count;
  const requests = total((part) => part.requests);
  return {
    requests,
    statuses,
    seconds: worst((part) => part.seconds),
    perSecond: total((part) => part.perSecond),
    p50Ms: worst((part) => part.p50Ms),
    p99Ms: worst((part) => part.p99Ms),
    maxMs: worst((part) => part.maxMs),
    busy: total((part) => part.busy),
    generatorBusy: total((part) => part.generatorBusy),
    cpuMicros: total((part) => part.cpuMicros * part.requests) / Math.max(1, requests),
  };
}
