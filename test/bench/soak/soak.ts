/** A service under constant mixed load for half an hour: whether its memory, its handles or its latency drift. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptOrder } from '../acceptance/accept.ts';
import type { Backend, Bench, Stage } from '../bench.ts';
import { quantile, slopeAnHour, thirdsOf, type Sample } from '../figures/figures.ts';
import { middle } from '../loads/loads.ts';
import type { Aim, Cell, Report } from '../figures/report.ts';
import { seededService } from '../seeds/seeded-service.ts';
import type { MemorySample } from './soak-sampler.ts';
import { Traffic } from './soak-traffic.ts';

const MINUTES = 30;
/** A shorter one shows that it works; its slopes are noise. */
const MINUTES_TO_JUDGE = 20;
const FACTORIES = 400;
const WEBHOOKS = 20;
const SHARE = 0.3;
/** Of the 60 in a minute that each webhook takes; the other parts of the load take some as well. */
const EACH_A_MINUTE_MAX = 40;
const MIB = 1_048_576;
/** The filter of identities grows by 16 bits for each delivery, which is known for good (decision 38): no leak. */
const FILTER_BYTES = 2;
/** `level`: the last third of the time, of the first. */
const AIMS = { residentMibAnHour: 20, heapMibAnHour: 10, descriptorsAnHour: 10, level: 1.1, ofRate: 0.95 };

export const soak: Stage = {
  name: 'soak',
  async run(bench) {
    const reports: Report[] = [];
    for (const backend of bench.backends) {
      reports.push(await onOne(bench, backend));
      await bench.endStage();
    }
    return reports;
  },
};

async function onOne(bench: Bench, backend: Backend): Promise<Report> {
  const minutes = bench.soakMinutes || MINUTES;
  const seeded = await seededService(bench, {
    backend,
    senders: ['token'],
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded)
    return {
      name: 'soak',
      title: backend,
      columns: [],
      rows: [],
      aims: [],
      remarks: [`SKIPPED: ${seeded.reason}`],
    };
  const samplesFile = join(bench.folder('soak'), 'samples');
  const sampler = `--import=${new URL('soak-sampler.js', import.meta.url).href}`;
  const service = await seeded.start({
    NODE_OPTIONS: sampler,
    BENCH_SAMPLES: samplesFile,
    MILLWRIGHT_RUN_CONCURRENCY: '2',
    MILLWRIGHT_RUN_COMMAND: '["/bin/true"]',
  });
  const [accepted, starting, refused] = [bench.generator(), bench.generator(), bench.generator()];
  const maximum = middle(
    await rounds(3, () =>
      accepted.drive({ ...acceptOrder(service, seeded, 'token', 4)(), secondsMax: 2, reportOf: 'passed' }, [
        service.pid,
      ]),
    ),
  ).perSecond;
  const perSecond = Math.max(
    1,
    Math.floor(Math.min(bench.soakRate ?? maximum * SHARE, (seeded.targets.token.length * EACH_A_MINUTE_MAX) / 60)),
  );
  const beganAtMs = Date.now();
  const traffic = new Traffic(service, seeded, perSecond, minutes);
  await traffic.flow({ accepted, starting, refused });
  return told(traffic, insideOf(samplesFile, beganAtMs), { backend, minutes, maximum, perSecond });
}

async function rounds<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let round = 0; round < count; round += 1) done.push(await work());
  return done;
}

function insideOf(file: string, beganAtMs: number): MemorySample[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as MemorySample)
    .filter(({ atMs }) => atMs >= beganAtMs)
    .map((sample) => ({ ...sample, atMs: sample.atMs - beganAtMs }));
}

function told(
  traffic: Traffic,
  inside: readonly MemorySample[],
  { backend, minutes, maximum, perSecond }: { backend: Backend; minutes: number; maximum: number; perSecond: number },
): Report {
  const { samples, counts, errors } = traffic;
  const outside = (value: (sample: (typeof samples)[number]) => number): Sample[] =>
    samples.map((sample) => ({ atSeconds: sample.atSeconds, value: value(sample) }));
  const within = (value: (sample: MemorySample) => number, only = inside): Sample[] =>
    only.map((sample) => ({ atSeconds: sample.atMs / 1_000, value: value(sample) }));
  const collected = inside.filter(({ isCollected }) => isCollected);
  const drifts = {
    resident: drift(
      'resident MiB',
      outside(({ residentBytes }) => residentBytes / MIB),
    ),
    residentBesideFilters: drift(
      'the same without the filters of identities',
      outside(({ residentBytes, accepted }) => (residentBytes - accepted * FILTER_BYTES) / MIB),
    ),
    heap: drift(
      'heap that is held, MiB',
      within(({ heapUsed }) => heapUsed / MIB, collected),
    ),
    external: drift(
      'outside of the heap, MiB',
      within(({ external }) => external / MIB, collected),
    ),
    descriptors: drift(
      'file descriptors',
      outside(({ fileDescriptors }) => fileDescriptors),
    ),
    resources: drift(
      'timers, sockets, requests',
      within(({ resources }) => resources),
    ),
    p50: drift(
      'accepted, p50 ms',
      outside(({ acceptP50Ms }) => acceptP50Ms),
    ),
    p99: drift(
      'accepted, p99 ms',
      outside(({ acceptP99Ms }) => acceptP99Ms),
    ),
    reads: drift(
      'reads over the API, p99 ms',
      outside(({ readMs }) => quantile(readMs, 0.99)).filter(({ value }) => !Number.isNaN(value)),
    ),
    database: bytesOfDeliveries(traffic),
  };
  const mistakes = [...errors.values()].reduce((sum, times) => sum + times, 0);
  const rate = counts.accepted / (samples.at(-1)?.atSeconds ?? Number.NaN);
  const { resident, residentBesideFilters, heap, descriptors, database } = drifts;
  const aims: Aim[] = [
    { what: 'errors', wanted: { atMost: 0 }, value: mistakes },
    { what: 'accepted a second, of what was asked for', wanted: { atLeast: AIMS.ofRate }, value: rate / perSecond },
    ...(minutes < MINUTES_TO_JUDGE
      ? []
      : [
          {
            what: 'resident MiB more an hour, the filters of identities aside',
            wanted: { atMost: AIMS.residentMibAnHour },
            value: residentBesideFilters.anHour,
          },
          { what: 'held heap MiB more an hour', wanted: { atMost: AIMS.heapMibAnHour }, value: heap.anHour },
          {
            what: 'file descriptors more an hour',
            wanted: { atMost: AIMS.descriptorsAnHour },
            value: descriptors.anHour,
          },
          ...[resident, heap, descriptors, database].map(({ what, first, last }) => ({
            what: `${what}: last third of first`,
            wanted: { atMost: AIMS.level },
            value: last / first,
          })),
        ]),
  ];
  return {
    name: 'soak',
    title: `${minutes} minutes of constant load, one process, ${backend}`,
    columns: ['figure', 'first third', 'last third', 'last of first', 'more an hour'],
    rows: Object.values(drifts).map(({ what, first, last, anHour }): Cell[] => [
      what,
      first,
      last,
      last / first,
      anHour,
    ]),
    aims,
    remarks: [
      `${perSecond} deliveries a second asked for (${((100 * perSecond) / maximum).toFixed(0)} % of ` +
        `${maximum.toFixed(0)}), ${rate.toFixed(0)} accepted; in all ${counts.accepted} accepted, ${counts.refused} ` +
        `refused, ${counts.reads} reads, ${counts.runs} ` +
        `runs by /bin/true followed by two each, ${counts.passes} passes that changed something`,
      'a sample every 10 s, medians of thirds; "more an hour": least squares over the second half; what the heap ' +
        'holds is looked at every 20 s, after a collection',
      ...(minutes < MINUTES_TO_JUDGE ? [`a quick look: below ${MINUTES_TO_JUDGE} minutes slopes are not judged`] : []),
      ...[...errors].map(([what, times]) => `ERROR ${times} × ${what}`),
    ],
  };
}

interface Drift {
  what: string;
  /** Medians of thirds. */
  first: number;
  last: number;
  anHour: number;
}

function drift(what: string, samples: readonly Sample[]): Drift {
  const half = samples.slice(Math.floor(samples.length / 2));
  return { what, ...thirdsOf(samples), anHour: slopeAnHour(half) };
}

/** By how much the database grew for each delivery that was accepted: in the thirds, and from sample to sample. */
function bytesOfDeliveries({ samples }: Traffic): Drift {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const between = (from: number, to: number): number => {
    const [begin, end] = [samples.at(from), samples.at(to)];
    if (begin === undefined || end === undefined) return Number.NaN;
    return (end.databaseBytes - begin.databaseBytes) / Math.max(1, end.accepted - begin.accepted);
  };
  const each = samples.slice(1).map(({ atSeconds }, at): Sample => ({ atSeconds, value: between(at, at + 1) }));
  return {
    ...drift('database bytes of a delivery', each),
    first: between(0, third),
    last: between(-1 - third, -1),
  };
}
