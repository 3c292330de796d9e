/**
 * Thousands of bodies that are begun and not ended, by senders who have shown nothing yet: what they hold is bounded,
 * they are told to come again, and whoever sends whole bodies is served. contract §5.11 (Bodies).
 */
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, requestHead, type RawAnswer } from '../support/network/raw-http.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const SECRET = 'signing-secret-of-the-tests';
const WEBHOOKS = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
const HALF_BODIES = 3_000;
/** Half of what a delivery may have. */
const HALF_BYTES = 131_072;
const BODIES_BYTES_MAX = 64 * 1_048_576;
const ADDRESS_BYTES_MAX = 16 * 1_048_576;
/** Of a connection, its request, and what the memory of many short-lived buffers takes before it is collected. */
const CONNECTION_BYTES_MAX = 40 * 1_024;

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let webhooks: string[];
const sockets = new Set<Socket>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-bodies-'));
  folder = await factoryFolder({
    webhooks: Object.fromEntries(
      WEBHOOKS.map((name) => [name, { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' }]),
    ),
    automations: { all: { webhooks: WEBHOOKS } },
  });
  service = await startServiceProcess(dataDir, { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_LOG_LEVEL: 'error' });
  await service.api('PUT', '/secrets/signing', { value: SECRET });
  const { uid } = (await service.api('POST', '/factory', { slug: 'bodies', source: folder.source })) as { uid: string };
  await service.api('POST', `/factory/${uid}/sync?wait=true`);
  webhooks = ((await service.api('GET', `/factory/${uid}/webhooks`))['webhooks'] as { uid: string }[]).map(
    (webhook) => webhook.uid,
  );
}, 120_000);

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await until(async () => (await held()) === 0);
}, 60_000);

afterAll(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 100_000;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('it did not come to be');
    await sleep(100);
  }
}

async function figure(name: string): Promise<number> {
  const { hostname, port } = new URL(service.url);
  const answer = await fetch(`http://${hostname}:${port}/metrics`, {
    headers: { authorization: `Bearer mw_${'k'.repeat(43)}` },
  });
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(await answer.text())?.[1] ?? 0);
}

const held = (): Promise<number> => figure('millwright_http_unfinished_body_bytes');

async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** Begins so many requests. What is answered to those that are; `addressOf`: where each comes from. */
function beginMany(count: number, bytes: string, addressOf: (index: number) => string): { answers: () => string[] } {
  const { hostname, port } = new URL(service.url);
  const texts = Array.from({ length: count }, (_, index) => {
    const text: string[] = [];
    const socket = connect({ host: hostname, port: Number(port), localAddress: addressOf(index) });
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', (chunk: Buffer) => void text.push(chunk.toString('latin1')));
    socket.write(bytes);
    return text;
  });
  return { answers: () => texts.map((text) => text.join('')).filter((text) => text.includes('\r\n\r\n')) };
}

let unique = 0;
/** A good delivery, in so many pieces. */
async function deliver(bodyBytes: number): Promise<RawAnswer> {
  unique += 1;
  const body = JSON.stringify({ unique, filler: 'f'.repeat(Math.max(0, bodyBytes - 40)) });
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const headers = [
    ['X-Hub-Signature-256', signature],
    ['X-GitHub-Delivery', `delivery-${unique}`],
  ] as const;
  return exchange(service.url, { target: `/webhooks/w/${webhooks[unique % 12] ?? ''}`, headers, body });
}

async function expectServed(): Promise<void> {
  for (let index = 0; index < 20; index += 1) {
    const sizes = [100, 2_000, 30_000, 250_000];
    expect((await deliver(sizes[index % sizes.length] ?? 0)).status).toBe(202);
  }
}

function half(declared: number, sent: number): string {
  const head = requestHead(service.url, {
    target: `/webhooks/w/${webhooks[0] ?? ''}`,
    headers: [['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]],
    declared,
  });
  return head + '{'.padEnd(sent, ' ');
}

it.each([
  { why: 'of one address', addressOf: () => '127.0.0.1', bytesMax: ADDRESS_BYTES_MAX },
  {
    why: 'of two hundred addresses',
    addressOf: (index: number) => `127.0.1.${1 + (index % 200)}`,
    bytesMax: BODIES_BYTES_MAX,
  },
])(
  `${HALF_BODIES} half bodies $why hold no more than their budget, and deliveries go on`,
  async ({ addressOf, bytesMax }) => {
    await expectServed();
    const before = await memoryOf(service);
    const { answers } = beginMany(HALF_BODIES, half(2 * HALF_BYTES, HALF_BYTES), addressOf);
    await expectServed();
    await until(async () => answers().length >= HALF_BODIES - bytesMax / HALF_BYTES);
    expect(await held()).toBeLessThanOrEqual(bytesMax);
    expect(await held()).toBeGreaterThan(bytesMax / 2);
    const growth = (await memoryOf(service)) - before;
    process.stderr.write(`${HALF_BODIES} half bodies cost ${Math.round(growth / 1_048_576)} MiB\n`);
    expect(growth).toBeLessThan(bytesMax + HALF_BODIES * CONNECTION_BYTES_MAX);
    for (const answer of answers()) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 5\r\n/i);
    await expectServed();
    expect(service.errors()).toBe('');
  },
  120_000,
);

it('bodies in chunks of one byte hold what their bytes take, not a buffer for each', async () => {
  const before = await memoryOf(service);
  const head = requestHead(service.url, {
    target: `/webhooks/w/${webhooks[0] ?? ''}`,
    headers: [
      ['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`],
      ['Transfer-Encoding', 'chunked'],
    ],
  });
  beginMany(8, head + '1\r\n \r\n'.repeat(250_000), () => '127.0.0.1');
  await until(async () => (await held()) >= 8 * 250_000);
  const growth = (await memoryOf(service)) - before;
  process.stderr.write(`8 bodies in chunks of one byte cost ${Math.round(growth / 1_048_576)} MiB\n`);
  expect(growth).toBeLessThan(60 * 1_048_576);
  await expectServed();
}, 120_000);

it('sign-in and push notices share the budget', async () => {
  const signIn = requestHead(service.url, {
    target: '/api/v1/session',
    headers: [['Content-Type', 'application/json']],
    declared: 16_000,
  });
  const { answers } = beginMany(2_000, signIn + '{'.padEnd(12_000, ' '), () => '127.0.0.1');
  await until(async () => answers().length >= 900);
  expect(await held()).toBeLessThanOrEqual(ADDRESS_BYTES_MAX);
  for (const answer of answers()) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 5\r\n/i);
  await expectServed();
}, 120_000);
