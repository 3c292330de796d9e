/**
 * Millwright beside programs that people receive webhooks with: Debian's `webhook`, Node-RED, and NATS JetStream as the
 * durable queue that others put behind a receiver of their own.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { answers, type Bench, type Server, type Stage } from '../bench.ts';
import {
  inTurn,
  middle,
  secondsOf,
  unwanted,
  type Contestant,
  type LoadGenerator,
  type LoadOrder,
  type Measured,
} from '../loads/loads.ts';
import { createStream } from '../loads/nats.ts';
import type { Cell, Report } from '../figures/report.ts';
import { seededService, type SeededService } from '../seeds/seeded-service.ts';
import type { Target } from '../loads/senders.ts';

type Proof = 'token' | 'github';
const PROOFS: readonly Proof[] = ['token', 'github'];

/** Fewer than elsewhere: one of the receivers starts a process for each. */
const CONNECTIONS = 64;
const FACTORIES = 200;
const WEBHOOKS = 20;
const EACH_ROUND_MAX = 10;
/** Commands that are started behind answers and have not ended are waited for: so many at most. */
const STARTING_REQUESTS_MAX = 3_000;
const REQUESTS_MAX = 50_000;
/** Between two looks whether it rests. */
const QUIET_MS = 300;
const QUIET_MS_MAX = 120_000;
const NODE_RED = 'node-red@4.1.8'; // the last line for Node 20
const INSTALL_MS_MAX = 300_000;
const AIM = 3;

/** A running receiver: where each kind of sender delivers to. */
interface Receiver {
  name: string;
  server: Server;
  targets: Readonly<Partial<Record<Proof, readonly Target[]>>>;
  /** What a good answer is called; `202` if not said. */
  accepted?: string;
  requestsMax: number;
  /** It answers before what it starts has ended. */
  goesOn: boolean;
  /** What is on the disk when it answers. */
  durable: string;
  /** What it does with a delivery, and what not. */
  does: string;
}

export const receivers: Stage = { name: 'receivers', run: async (bench) => [await run(bench)] };

async function run(bench: Bench): Promise<Report> {
  const seeded = await seededService(bench, {
    backend: 'SQLite',
    senders: PROOFS,
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded) throw new Error(seeded.reason);
  const found = [
    await ours(seeded),
    ...(await debianWebhook(bench, seeded)),
    ...(await nodeRed(bench, seeded)),
    await nats(bench),
  ];
  const running = found.filter((one) => typeof one !== 'string');
  const generator = bench.generator();
  const contestants = running.flatMap((receiver) =>
    proofsOf(receiver).map((proof): Contestant => ({
      name: keyOf(receiver, proof),
      measure: () => drive(bench, generator, receiver, proof),
    })),
  );
  for (const { measure } of contestants) await measure(0); // warms them up
  const measured = await inTurn(contestants, bench.quick ? 2 : 3);
  const ratio = (receiver: Receiver, proof: Proof): number =>
    middle(measured.get(keyOf(running[0] as Receiver, proof))).perSecond /
    middle(measured.get(keyOf(receiver, proof))).perSecond;
  return {
    name: 'receivers',
    title: 'beside other programs that receive webhooks, SQLite',
    columns: ['receiver', 'sender', '/s', 'Millwright ×', 'CPU µs', 'p50 ms', 'p99 ms', 'on disk when answered'],
    rows: running.flatMap((receiver) =>
      proofsOf(receiver).map((proof): Cell[] => {
        const { perSecond, cpuMicros, p50Ms, p99Ms } = middle(measured.get(keyOf(receiver, proof)));
        const { name, durable } = receiver;
        return [name, proof, perSecond, ratio(receiver, proof), cpuMicros, p50Ms, p99Ms, durable];
      }),
    ),
    aims: running
      .filter(({ name }) => name === DEBIAN)
      .flatMap((receiver) =>
        PROOFS.map((proof) => ({
          what: `${proof}: Millwright, of ${receiver.name}`,
          wanted: { atLeast: AIM },
          value: ratio(receiver, proof),
        })),
      ),
    remarks: [
      `${CONNECTIONS} connections, 1 KiB each; "/s" counts until everything that the answers started has ` +
        'ended; CPU with the processes that were started',
      ...running.map(({ name, does }) => `${name}: ${does}`),
      ...found.filter((one) => typeof one === 'string'),
      ...[...measured].flatMap(([name, rounds]) => {
        const accepted = running.find((receiver) => name.startsWith(`${receiver.name}, `))?.accepted ?? '202';
        const others = unwanted(rounds, accepted);
        return others === undefined ? [] : [`${name}: NOT ACCEPTED ${others}`];
      }),
    ],
  };
}

const proofsOf = ({ targets }: Receiver): Proof[] => PROOFS.filter((proof) => targets[proof] !== undefined);
const keyOf = ({ name }: Receiver, proof: Proof): string => `${name}, ${proof}`;

/** A load, and then the time until what it started has ended. */
async function drive(
  bench: Bench,
  generator: LoadGenerator,
  { server, targets, accepted, requestsMax, goesOn }: Receiver,
  proof: Proof,
): Promise<Measured> {
  const before = secondsOf([server.pid]);
  const order: LoadOrder = {
    port: server.port,
    sender: accepted === STORED ? 'nats' : proof,
    targets: targets[proof] ?? [],
    from: 0,
    connections: CONNECTIONS,
    count: requestsMax,
    secondsMax: bench.quick ? 1 : 2,
    addresses: 1,
    distinct: requestsMax,
  };
  const load = await generator.drive(order, [server.pid]);
  const seconds = load.seconds + (goesOn ? await untilQuiet(server.pid) : 0);
  const cpuSeconds = secondsOf([server.pid]) - before;
  return {
    ...load,
    seconds,
    perSecond: load.requests / seconds,
    busy: cpuSeconds / seconds,
    cpuMicros: (cpuSeconds * 1e6) / Math.max(1, load.requests),
  };
}

/** Seconds until a process and its children take hardly any time any more. */
async function untilQuiet(pid: number): Promise<number> {
  const beganAtMs = performance.now();
  for (;;) {
    const [atMs, seconds] = [performance.now(), secondsOf([pid])];
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    if (secondsOf([pid]) - seconds <= 0.03 || performance.now() - beganAtMs > QUIET_MS_MAX)
      return (atMs - beganAtMs) / 1_000;
  }
}

async function ours(seeded: SeededService): Promise<Receiver> {
  const server = await seeded.start();
  const requestsMax = seeded.targets.token.length * EACH_ROUND_MAX;
  return {
    name: 'Millwright',
    server,
    targets: seeded.targets,
    requestsMax,
    goesOn: false,
    durable: 'delivery, identity, run',
    does:
      'answers when delivery, identity and run are on disk; duplicates, the rate and the log are looked after; ' +
      'who works on the run is not measured here',
  };
}

const DEBIAN = "Debian's webhook";

/**
 * The program from Debian's packages, once as it is by default and once waiting for its command; a reason where it is
 * not installed.
 */
async function debianWebhook(bench: Bench, { targets }: SeededService): Promise<(Receiver | string)[]> {
  const program = onPath('webhook');
  if (program === undefined)
    return [`${DEBIAN} SKIPPED: there is no program webhook on the PATH (apt-get install webhook)`];
  const version = spawnSync(program, ['-version'], { encoding: 'utf8' }).stdout.trim();
  const secrets = { token: targets.token[0]?.secret ?? '', github: targets.github[0]?.secret ?? '' };
  const file = join(bench.folder('webhook'), 'hooks.json');
  const hook = (proof: Proof, waits: boolean) => ({
    id: `${proof}${waits ? '-waits' : ''}`,
    'execute-command': '/bin/true',
    'success-http-response-code': 202,
    'trigger-rule-mismatch-http-response-code': 401,
    'include-command-output-in-response': waits,
    'trigger-rule': {
      match:
        proof === 'token'
          ? { type: 'value', value: `Bearer ${secrets.token}`, parameter: { source: 'header', name: 'Authorization' } }
          : {
              type: 'payload-hmac-sha256',
              secret: secrets.github,
              parameter: { source: 'header', name: 'X-Hub-Signature-256' },
            },
    },
  });
  writeFileSync(file, JSON.stringify([true, false].flatMap((waits) => PROOFS.map((proof) => hook(proof, waits)))));
  const server = await bench.program(
    program,
    (port) => ['-hooks', file, '-ip', '127.0.0.1', '-port', String(port), '-nopanic'],
    answers,
  );
  const to = (waits: boolean): Receiver['targets'] => ({
    token: [{ path: hookPath('token', waits), secret: secrets.token }],
    github: [{ path: hookPath('github', waits), secret: secrets.github }],
  });
  const keeps =
    'keeps nothing: no log, no identity (a repeated delivery starts its command again), no limit of what it ' +
    'starts; a crash loses what it has answered';
  return [
    {
      name: DEBIAN,
      server,
      targets: to(false),
      requestsMax: STARTING_REQUESTS_MAX,
      goesOn: true,
      durable: 'nothing',
      does:
        `${version}, as it is by default: answers, and starts a process (here /bin/true) behind the ` +
        `answer; ${keeps}`,
    },
    {
      name: `${DEBIAN}, waiting`,
      server,
      targets: to(true),
      requestsMax: STARTING_REQUESTS_MAX,
      goesOn: false,
      durable: 'nothing',
      does: 'the same, answering when its command has ended (include-command-output-in-response)',
    },
  ];
}

const hookPath = (proof: Proof, waits: boolean): string => `/hooks/${proof}${waits ? '-waits' : ''}`;

/**
 * Node-RED with a flow of three nodes for each sender. BENCH_NODE_RED: a folder that it is installed in; else npm
 * installs it into a folder of ours.
 */
async function nodeRed(bench: Bench, { targets }: SeededService): Promise<(Receiver | string)[]> {
  const installed = process.env['BENCH_NODE_RED'] ?? (bench.quick ? undefined : install(bench.folder('node-red')));
  const program = installed === undefined ? undefined : join(installed, 'node_modules/node-red/red.js');
  if (program === undefined || !existsSync(program)) {
    const why =
      bench.quick && installed === undefined
        ? 'it would have to be installed first, which --quick leaves out'
        : `npm could not install ${NODE_RED}`;
    return [`Node-RED SKIPPED: ${why}`];
  }
  const secrets = { token: targets.token[0]?.secret ?? '', github: targets.github[0]?.secret ?? '' };
  const home = bench.folder('node-red-home');
  writeFileSync(
    join(home, 'settings.js'),
    "module.exports = { functionGlobalContext: { crypto: require('node:crypto') }, httpAdminRoot: false, " +
      "logging: { console: { level: 'off' } }, uiHost: '127.0.0.1' };",
  );
  writeFileSync(join(home, 'flows.json'), JSON.stringify(flows(secrets)));
  const server = await bench.program(
    process.execPath,
    (port) => [program, '-u', home, '-s', join(home, 'settings.js'), '-p', String(port), join(home, 'flows.json')],
    (port) => isThere(port, '/token'),
    home,
  );
  const to = (proof: Proof): Target[] => [{ path: `/${proof}`, secret: secrets[proof] }];
  return [
    {
      name: 'Node-RED',
      server,
      targets: { token: to('token'), github: to('github') },
      requestsMax: REQUESTS_MAX,
      goesOn: false,
      durable: 'nothing',
      does:
        `${NODE_RED}: http in, a function that compares the token or the HMAC, http response; keeps nothing and ` +
        'starts nothing',
    },
  ];
}

/** How an acknowledged publication is called. */
const STORED = 'stored';
const NATS_SETTINGS = (port: number, folder: string, token: string): string =>
  `listen: "127.0.0.1:${port}"\nauthorization { token: "${token}" }\n` +
  `jetstream { store_dir: "${folder}", sync_interval: always }\n`;

/** A stream in files. BENCH_NATS: the program, if it is not the one on the PATH; a reason where there is none. */
async function nats(bench: Bench): Promise<Receiver | string> {
  const program = process.env['BENCH_NATS'] ?? onPath('nats-server');
  if (program === undefined) return 'NATS SKIPPED: there is no program nats-server on the PATH, and no BENCH_NATS';
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const [folder, token] = [bench.folder('nats'), randomBytes(24).toString('hex')];
  const file = join(folder, 'nats.conf');
  writeFileSync(file, NATS_SETTINGS(0, folder, token));
  if (spawnSync(program, ['-t', '-c', file]).status !== 0)
    return `NATS SKIPPED: ${version} cannot sync every message (sync_interval: always comes with 2.10)`;
  const server = await bench.program(
    program,
    (port) => {
      writeFileSync(file, NATS_SETTINGS(port, folder, token));
      return ['-c', file];
    },
    (port) =>
      createStream(port, token).then(
        () => true,
        () => false,
      ),
  );
  return {
    name: 'NATS JetStream',
    server,
    targets: { token: [{ path: '/', secret: token }] },
    accepted: STORED,
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    durable: 'message',
    does:
      `${version}, stream in files, sync_interval: always: one message of 1 KiB after the other on each connection, ` +
      'acknowledged when it is synced; a connection proves itself once; remembers names for two minutes; no HTTP, no ' +
      'signatures, no rate, no runs',
  };
}

function onPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
}

async function isThere(port: number, path: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  }).then(
    ({ status }) => status === 401,
    () => false,
  );
}

function install(folder: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  const done = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error', '--prefix', folder, NODE_RED],
    { cwd: folder, timeout: INSTALL_MS_MAX, stdio: 'ignore' },
  );
  return done.status === 0 ? folder : undefined;
}

function flows(secrets: Readonly<Record<Proof, string>>): object[] {
  const isValid: Readonly<Record<Proof, string>> = {
    token: `msg.req.headers.authorization === ${JSON.stringify(`Bearer ${secrets.token}`)}`,
    github:
      `msg.req.headers['x-hub-signature-256'] === 'sha256=' + global.get('crypto').createHmac('sha256', ` +
      `${JSON.stringify(secrets.github)}).update(msg.payload).digest('hex')`,
  };
  return [
    { id: 'flow', type: 'tab', label: 'webhooks' },
    ...PROOFS.flatMap((proof) => [
      {
        id: `${proof}-in`,
        type: 'http in',
        z: 'flow',
        url: `/${proof}`,
        method: 'post',
        skipBodyParsing: proof === 'github',
        wires: [[`${proof}-check`]],
      },
      {
        id: `${proof}-check`,
        type: 'function',
        z: 'flow',
        func: `msg.statusCode = ${isValid[proof]} ? 202 : 401; msg.payload = {}; return msg;`,
        outputs: 1,
        wires: [[`${proof}-out`]],
      },
      { id: `${proof}-out`, type: 'http response', z: 'flow', wires: [] },
    ]),
  ];
}
