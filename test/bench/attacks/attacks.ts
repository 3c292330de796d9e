/**
 * What deliveries take beside attacks of one or many connections: requests by the megabyte whose answers nobody reads,
 * bodies that are begun and not ended, connections that say nothing, deliveries that a thousand filters look through.
 * The senders have their connections before an attack begins; all of it is measured, its first wave as well.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench, Server, Stage } from '../bench.ts';
import type { Cell, Report } from '../figures/report.ts';
import { inTurn, middle, unwanted, type Contestant, type LoadOrder } from '../loads/loads.ts';
import { wideCheck } from './wide-check.ts';
import { seededService, type RunningService } from '../seeds/seeded-service.ts';

/** What the attacking process is told. */
export interface AttackOrder {
  kind: 'pipelining' | 'half bodies' | 'silence' | 'wide deliveries';
  port: number;
  connections: number;
  /** How many addresses of loopback they come from. */
  addresses: number;
  /** Milliseconds until one that was cut off comes again. */
  againMs: number;
  /** What each of them writes. */
  request: string;
}

interface Attack extends Omit<AttackOrder, 'port'> {
  name: string;
  /** Whether its p99 has an aim: a flood that keeps coming back takes the processor, whatever is done with it. */
  hasAim: boolean;
}

const FACTORIES = 100;
const WEBHOOKS = 20;
/** Deliveries that are due in a second, on so many connections: a small share of what one process takes. */
const PER_SECOND = 200;
const CONNECTIONS = 32;
/** p99 beside an attack, of that without. */
const AIM = 3;
/** As many as there may be on one webhook, nearly. */
const WIDE_AUTOMATIONS = 20;
const WIDE_TRIGGERS = 50;
const WIDE_SECRET = 'bench-wide-deliveries';
/** How long deliveries go on before an attack begins. */
const BEFORE_MS = 500;
/** … and altogether: those who were cut off come back within it. Seconds. */
const SECONDS = { whole: 20, quick: 10 };
/** An attack is over for the service when probes have been answered at once for a while. */
const CALM = { probes: 40, everyMs: 50, answeredMs: 25, waitMsMax: 60_000 };

export const attacks: Stage = { name: 'attacks', run: async (bench) => [await run(bench)] };

async function run(bench: Bench): Promise<Report> {
  const seeded = await seededService(bench, {
    backend: 'SQLite',
    senders: ['token', 'github'],
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded) throw new Error(seeded.reason);
  const [generator, service] = [bench.generator(), await seeded.start()];
  const { token, github } = seeded.targets;
  const wide = await wideWebhook(service, join(seeded.folder, 'wide'));
  const all = attacksOf(service.port, github[0]?.path ?? '', wide);
  let from = 0;
  const drive = () => {
    const order: LoadOrder = {
      port: service.port,
      sender: 'token',
      targets: token,
      from: (from += 997), // other webhooks than before, so that none comes to its limit
      connections: CONNECTIONS,
      count: 100_000,
      secondsMax: bench.quick ? SECONDS.quick : SECONDS.whole,
      perSecond: PER_SECOND,
      addresses: 1,
      distinct: 2_000,
    };
    return generator.drive(order, [service.pid]);
  };
  const recoveries: Recovery[] = [];
  const contestants: Contestant[] = [
    { name: ALONE, measure: drive },
    ...all.map((attack) => ({
      name: attack.name,
      measure: async () => {
        const measured = await beside(service, attack, drive);
        recoveries.push({ name: attack.name, ms: await recoveryOf(service) });
        return measured;
      },
    })),
  ];
  await drive(); // warms up
  const measured = await inTurn(contestants, bench.quick ? 3 : 5);
  const ratio = (name: string): number =>
    middle(measured.get(name), 'p99Ms').p99Ms / middle(measured.get(ALONE), 'p99Ms').p99Ms;
  return {
    name: 'attacks',
    title: `${PER_SECOND} deliveries a second beside attacks, one process, SQLite`,
    columns: ['beside', '/s', 'p50 ms', 'p99 ms', 'max ms', 'p99 × alone', 'busy'],
    rows: contestants.map(({ name }): Cell[] => {
      const { perSecond, p50Ms, p99Ms, maxMs, busy } = middle(measured.get(name), 'p99Ms');
      return [name, perSecond, p50Ms, p99Ms, maxMs, ratio(name), busy];
    }),
    aims: all
      .filter(({ hasAim }) => hasAim)
      .map(({ name }) => ({
        what: `p99 beside ${name}, of alone`,
        wanted: { atMost: AIM },
        value: ratio(name),
      })),
    remarks: [
      wideCheck(middle(measured.get(ALONE)).cpuMicros),
      `over it after, at most: ${all.map(({ name }) => `${name} ${longest(recoveries, name)} ms`).join(', ')}`,
      'the attacker, the load generator and the service share the cores of this machine',
      ...contestants.flatMap(({ name }) => {
        const others = unwanted(measured.get(name) ?? [], '202');
        return others === undefined ? [] : [`${name}: beside 202 there was ${others}`];
      }),
    ],
  };
}

const ALONE = 'nothing';

/** What the service needed behind an attack until it answered as before. */
interface Recovery {
  name: string;
  ms: number;
}

function longest(recoveries: readonly Recovery[], name: string): string {
  return Math.max(...recoveries.filter((recovery) => recovery.name === name).map(({ ms }) => ms)).toFixed(0);
}

/** One connection that is there again at once. */
const ONE = { connections: 1, addresses: 1, againMs: 200, hasAim: true };
const MANY = { connections: 3_000, addresses: 200, againMs: 5_000, hasAim: true }; // they come again as they are told

/** Measures, and attacks meanwhile. The attacker has the lowest priority: elsewhere it has cores of its own. */
async function beside<Result>(
  { port }: Server,
  { kind, connections, addresses, againMs, request }: Attack,
  measure: () => Promise<Result>,
): Promise<Result> {
  const attacker = fork(fileURLToPath(new URL('attack-process.js', import.meta.url)));
  const gone = once(attacker, 'close');
  setPriority(attacker.pid ?? 0, constants.priority.PRIORITY_LOW);
  const order: AttackOrder = { kind, port, connections, addresses, againMs, request };
  const beginning = setTimeout(() => attacker.send(order), BEFORE_MS);
  try {
    return await measure();
  } finally {
    clearTimeout(beginning);
    attacker.kill('SIGKILL');
    await gone;
  }
}

/**
 * Waits until the service is as before: what came last of an attack is still in the kernel's buffers, and what is
 * measured next would pay for it. Milliseconds.
 */
async function recoveryOf({ port }: Server): Promise<number> {
  const beganAtMs = performance.now();
  for (let calm = 0; calm < CALM.probes;) {
    const askedAtMs = performance.now();
    await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.arrayBuffer(),
      () => undefined,
    );
    calm = performance.now() - askedAtMs <= CALM.answeredMs ? calm + 1 : 0;
    if (performance.now() - beganAtMs > CALM.waitMsMax) break;
    await sleep(CALM.everyMs);
  }
  return performance.now() - beganAtMs - CALM.probes * CALM.everyMs;
}

function attacksOf(port: number, signedPath: string, widePath: string): Attack[] {
  const head = (path: string, bytes: number, header: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${header}\r\nContent-Length: ${bytes}\r\n\r\n`;
  const half = head(signedPath, 262_144, `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`) + ' '.repeat(131_072);
  const elements = `[${Array.from({ length: 87_300 }, () => '{}').join(',')}]`;
  const delivery = head(widePath, elements.length, `Authorization: Bearer ${WIDE_SECRET}`) + elements;
  return [
    { ...ONE, name: 'one flood of requests', kind: 'pipelining', request: '' },
    { ...ONE, name: 'wide deliveries', kind: 'wide deliveries', request: delivery },
    { ...MANY, name: '3,000 half bodies', kind: 'half bodies', request: half },
    { ...MANY, name: '3,000 silent connections', kind: 'silence', request: '' },
    {
      ...ONE,
      name: 'fifty floods, again and again',
      kind: 'pipelining',
      connections: 50,
      addresses: 50,
      hasAim: false,
      request: '',
    },
  ];
}

/** A webhook with as many filters as it may have. Its path. */
async function wideWebhook(service: RunningService, folder: string): Promise<string> {
  await mkdir(join(folder, 'webhooks'), { recursive: true });
  await writeFile(join(folder, 'webhooks/wide.yaml'), 'secretName: bench-wide\n');
  for (let at = 0; at < WIDE_AUTOMATIONS; at += 1) {
    const triggers = Array.from({ length: WIDE_TRIGGERS }, (_, trigger) => {
      const filter = `{webhooks: [wide], payload: {status: ["${at}-${trigger}"]}}`;
      return `  - {provider: webhook, event: received, filter: ${filter}}\n`;
    });
    await mkdir(join(folder, `automations/wide-${at}`), { recursive: true });
    await writeFile(
      join(folder, `automations/wide-${at}/automation.md`),
      `---\ntriggers:\n${triggers.join('')}---\nLook at it.\n`,
    );
  }
  await service.api('PUT', '/secrets/bench-wide', { value: WIDE_SECRET });
  const { uid } = await service.api('POST', '/factory', { slug: 'wide', source: { kind: 'directory', path: folder } });
  await service.api('POST', `/factory/${String(uid)}/sync?wait=true`);
  const { webhooks } = (await service.api('GET', `/factory/${String(uid)}/webhooks`)) as {
    webhooks: { uid: string }[];
  };
  const [webhook] = webhooks;
  if (webhook === undefined) throw new Error('the wide factory was not applied');
  return `/webhooks/w/${webhook.uid}`;
}
