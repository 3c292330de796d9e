/** Accepted deliveries per second beside a bare node:http server, in one run on one machine: `npm run bench:ingest`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/ports.ts';
import { run, type LoadResult } from './load.ts';

const FACTORIES = 200;
const WEBHOOKS = 20;
const CONNECTIONS = 256;
const BODY_BYTES = 1024;
const ROUNDS = 3;
/** Per round; all rounds together stay below 60 a minute for each of the 4,000 webhooks. */
const REQUESTS = 60_000;
const SECONDS_MAX = 20;
const SECRET_NAME = 'bench-token';

const nodeArguments = ['--disable-warning=ExperimentalWarning', ...(process.env['BENCH_NODE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')];
const root = fileURLToPath(new URL('../../../', import.meta.url));
const box = await mkdtemp(join(tmpdir(), 'millwright-bench-'));
const children: ChildProcess[] = [];
try {
  await measure();
} finally {
  await Promise.all(children.map(end));
  await rm(box, { recursive: true, force: true });
}

/** Asks a child to end, and makes it when it does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(timer);
}

async function measure(): Promise<void> {
  const barePort = await freePort();
  await startChild([join(root, 'dist/test/bench/bare-server.js'), String(barePort)], {}, 'ready');
  const service = await startService();
  const urls = await makeFactories(service);
  const bare: LoadResult[] = [];
  const ours: LoadResult[] = [];
  const bareRequest = Buffer.from(request('/webhooks/w/wh_0123456789abcdefghjkmnpqrs', 'bench', service.token, barePort));
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await run({ port: barePort, connections: CONNECTIONS, requests: REQUESTS, secondsMax: SECONDS_MAX, request: () => bareRequest }));
    const offset = round * REQUESTS;
    ours.push(
      await run({
        port: service.port, connections: CONNECTIONS, requests: REQUESTS, secondsMax: SECONDS_MAX,
        request: (n) => Buffer.from(request(urls[(offset + n) % urls.length] as string, `bench-${offset + n}`, service.token, service.port)),
      }),
    );
  }
  report(bare, ours);
}

function request(path: string, id: string, token: string, port: number): string {
  const head = `{"status":"failed","id":"${id}","filler":"`;
  const body = `${head}${'x'.repeat(BODY_BYTES - head.length - 2)}"}`;
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nX-Millwright-Delivery-Id: ${id}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

interface BenchService {
  port: number;
  key: string;
  token: string;
}

async function startService(): Promise<BenchService> {
  const port = await freePort();
  const key = `mw_${randomBytes(32).toString('base64url')}`;
  const token = randomBytes(24).toString('hex');
  const databaseUrl = process.env['BENCH_DATABASE_URL'];
  await startChild(
    [...nodeArguments, join(root, 'apps/cli/millwright.mjs'), 'start'],
    {
      MILLWRIGHT_PORT: String(port), MILLWRIGHT_DATA_DIR: join(box, 'data'), MILLWRIGHT_ADMIN_KEY: key, MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true',
      // Accepting is measured, not running: another process would work on the runs.
      MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600',
      ...(databaseUrl === undefined ? {} : { MILLWRIGHT_DATABASE_URL: databaseUrl, MILLWRIGHT_MASTER_KEY_FILE: await keyFile('master'), MILLWRIGHT_UID_KEY_FILE: await keyFile('uid') }),
    },
    'Millwright is running',
  );
  await call({ port, key, token }, 'PUT', `/secrets/${SECRET_NAME}`, { value: token });
  return { port, key, token };
}

/** With PostgreSQL the keys must be given. */
async function keyFile(name: string): Promise<string> {
  const path = join(box, `${name}-key`);
  await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return path;
}

async function makeFactories(service: BenchService): Promise<string[]> {
  const uids: string[] = [];
  for (let n = 0; n < FACTORIES; n += 1) {
    const path = join(box, 'factories', `bench-${n}`);
    await writeFactory(path);
    uids.push(String((await call(service, 'POST', '/factory', { slug: `bench-${n}`, source: { kind: 'directory', path } }))['uid']));
  }
  const urls: string[] = [];
  for (const uid of uids) {
    await call(service, 'POST', `/factory/${uid}/sync?wait=true`);
    const { webhooks } = (await call(service, 'GET', `/factory/${uid}/webhooks`)) as { webhooks: { ingress_url: string }[] };
    if (webhooks.length !== WEBHOOKS) throw new Error(`factory ${uid} serves ${webhooks.length} webhooks`);
    urls.push(...webhooks.map(({ ingress_url: url }) => new URL(url).pathname));
  }
  return interleaved(urls);
}

/** Neighbouring requests go to different factories. */
function interleaved(urls: readonly string[]): string[] {
  return urls.map((_, n) => urls[(n % FACTORIES) * WEBHOOKS + Math.floor(n / FACTORIES)] as string);
}

async function writeFactory(path: string): Promise<void> {
  await mkdir(join(path, 'webhooks'), { recursive: true });
  await mkdir(join(path, 'automations/on-failure'), { recursive: true });
  const names = Array.from({ length: WEBHOOKS }, (_, n) => `hook-${n}`);
  for (const name of names) await writeFile(join(path, `webhooks/${name}.yaml`), `authMode: token\nsecretName: ${SECRET_NAME}\n`);
  await writeFile(
    join(path, 'automations/on-failure/automation.md'),
    `---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [${names.join(', ')}]\n      payload:\n        status: [failed]\n---\nLook at the failure.\n`,
  );
}

async function call(service: BenchService, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

function startChild(args: readonly string[], environment: Record<string, string>, ready: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes(ready)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`a server ended early (${code})`)));
  });
}

function report(bare: readonly LoadResult[], ours: readonly LoadResult[]): void {
  const bareBest = median(bare);
  const oursBest = median(ours);
  const refused = ours.flatMap(({ statuses }) => Object.entries(statuses)).filter(([status]) => status !== '202');
  const result = {
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, memory_gib: Math.round(totalmem() / 2 ** 30), node: process.version },
    shape: { factories: FACTORIES, webhooks: FACTORIES * WEBHOOKS, body_bytes: BODY_BYTES, connections: CONNECTIONS, rounds: ROUNDS, requests_a_round: REQUESTS, database: process.env['BENCH_DATABASE_URL'] === undefined ? 'sqlite' : 'postgres' },
    bare: bareBest,
    millwright: oursBest,
    ratio: oursBest.perSecond / bareBest.perSecond,
    not_accepted: Object.fromEntries(refused),
  };
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  for (const [name, all] of [['bare node:http', bare], ['millwright', ours]] as const) {
    for (const one of all) process.stdout.write(`${name.padEnd(16)} ${one.perSecond.toFixed(0).padStart(7)} /s   p50 ${one.p50Ms.toFixed(2)} ms   p99 ${one.p99Ms.toFixed(2)} ms\n`);
  }
  process.stdout.write(`ratio ${result.ratio.toFixed(2)} (accepted deliveries per second, ${result.shape.database}, median of ${ROUNDS} rounds each)\n`);
  if (refused.length > 0) process.exitCode = 1;
}

function median(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] as LoadResult;
}
