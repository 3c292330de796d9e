/**
 * Ten thousand connections that say nothing, and hundreds that dawdle in head, body or in reading the answer:
 * deliveries go on meanwhile, memory is bounded, and all of them are let go. contract §5.3 (Header, body, bounded
 * sockets).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, requestHead, type HeaderLines } from '../support/network/raw-http.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const TOKEN = 'bearer-token-of-the-tests';
const BEARER: HeaderLines = [['Authorization', `Bearer ${TOKEN}`]];
const ADMIN: HeaderLines = [['Authorization', `Bearer mw_${'k'.repeat(43)}`]];
/** Descriptors that this process, and the service, need for themselves. */
const OWN_DESCRIPTORS = 600;
const IDLE = Math.min(10_000, descriptorsMax() - OWN_DESCRIPTORS);
const SLOW_EACH = 150;
const WEBHOOKS = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
/** Milliseconds between two bytes of those who dawdle. */
const DRIP_MS = 400;
/**
 * Bytes of memory that one connection may cost, far above what it does: the bound is there to find what grows without
 * one.
 */
const CONNECTION_BYTES_MAX = 64 * 1024;
/** Head 10 s, body 30 s, and a machine that is busy. */
const LET_GO_MS_MAX = 120_000;

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let webhooks: string[];
const sockets = new Set<Socket>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-sockets-'));
  folder = await factoryFolder({
    webhooks: Object.fromEntries(WEBHOOKS.map((name) => [name, { secretName: 'bearer' }])),
    automations: { all: { webhooks: WEBHOOKS } },
  });
  service = await startServiceProcess(dataDir, { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_LOG_LEVEL: 'error' });
  await service.api('PUT', '/secrets/bearer', { value: TOKEN });
  const { uid } = (await service.api('POST', '/factory', { slug: 'sockets', source: folder.source })) as {
    uid: string;
  };
  await service.api('POST', `/factory/${uid}/sync?wait=true`);
  webhooks = ((await service.api('GET', `/factory/${uid}/webhooks`))['webhooks'] as { uid: string }[]).map(
    (webhook) => webhook.uid,
  );
}, 120_000);

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

function descriptorsMax(): number {
  const [, soft = '1024'] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === 'unlimited' ? Infinity : Number(soft);
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket));
    socket.once('error', reject).on('error', () => undefined);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

async function openMany(count: number): Promise<Socket[]> {
  const opened: Socket[] = [];
  while (opened.length < count)
    opened.push(...(await Promise.all(Array.from({ length: Math.min(200, count - opened.length) }, open))));
  return opened;
}

async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

let unique = 0;
/** One good delivery; the webhooks take turns, so that none comes to its limit. */
async function deliver(): Promise<number> {
  const target = `/webhooks/w/${webhooks[unique % webhooks.length] ?? ''}`;
  return (await exchange(service.url, { target, headers: BEARER, body: `{"n": ${(unique += 1)}}` })).status;
}

async function deliverAll(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) expect(await deliver()).toBe(202);
}

/** Settles when the other side has closed every one of them. */
async function letGo(of: readonly Socket[]): Promise<void> {
  for (const socket of of) socket.resume();
  const until = performance.now() + LET_GO_MS_MAX;
  while (of.some((socket) => !socket.closed && !socket.readableEnded)) {
    if (performance.now() > until)
      throw new Error(
        `${of.filter((socket) => !socket.closed && !socket.readableEnded).length} of ${of.length} connections ` +
          'are held still',
      );
    await sleep(100);
  }
}

it(
  `${IDLE} connections that say nothing: deliveries go on, each costs little, and all are let go`,
  async () => {
    await deliverAll(30);
    const before = await memoryOf(service);
    const idle = await openMany(IDLE);
    await deliverAll(100);
    const each = ((await memoryOf(service)) - before) / IDLE;
    process.stderr.write(`one idle connection costs ${Math.round(each / 102.4) / 10} KiB\n`);
    expect(each).toBeLessThan(CONNECTION_BYTES_MAX);
    await letGo(idle);
    await deliverAll(30);
    expect(service.errors()).toBe('');
  },
  LET_GO_MS_MAX + 120_000,
);

it(
  `${SLOW_EACH} each that dawdle in the head, in the body, in chunks, or stop half-way: deliveries go on, all ` +
    'are let go, and nothing of theirs is stored',
  async () => {
    const slow = `/webhooks/w/${webhooks[0] ?? ''}`;
    const taken = async (): Promise<number> =>
      ((await service.api('GET', '/agent/runs?limit=500'))['runs'] as unknown[]).length;
    const before = await taken();
    const sent = unique;
    const begun: Record<string, string> = {
      head: requestHead(service.url, { target: slow, headers: BEARER }).slice(0, -30),
      body: `${requestHead(service.url, { target: slow, headers: BEARER, declared: 5_000 })}{"slow":"`,
      chunks:
        requestHead(service.url, { target: slow, headers: [...BEARER, ['Transfer-Encoding', 'chunked']] }) +
        'ffff\r\n{"slow":"',
      // Says that it will send no more, in the middle.
      half: `${requestHead(service.url, { target: slow, headers: BEARER, declared: 5_000 })}{"slow":"`,
    };
    const groups = await Promise.all(
      Object.entries(begun).map(async ([kind, bytes]) => {
        const opened = await openMany(SLOW_EACH);
        for (const socket of opened) {
          if (kind === 'half') socket.end(bytes);
          else socket.write(bytes);
        }
        return { kind, opened };
      }),
    );
    const dripping = setInterval(() => {
      for (const { kind, opened } of groups)
        if (kind !== 'half') for (const socket of opened) if (socket.writable) socket.write('x');
    }, DRIP_MS);
    try {
      await deliverAll(60);
      await letGo(groups.flatMap(({ opened }) => opened));
    } finally {
      clearInterval(dripping);
    }
    await deliverAll(20);
    expect((await taken()) - before).toBe(unique - sent);
    expect(service.errors()).toBe('');
  },
  LET_GO_MS_MAX + 60_000,
);

it(`${SLOW_EACH} that do not read their answers: memory is bounded by the sockets, and deliveries go on`, async () => {
  const before = await memoryOf(service);
  const page = requestHead(service.url, { method: 'GET', target: '/api/v1/agent/runs?limit=500', headers: ADMIN });
  // Each asks for one large answer and then for more, and reads none.
  const opened = await openMany(SLOW_EACH);
  for (const socket of opened) socket.pause().write(page.repeat(3));
  await deliverAll(60);
  const each = ((await memoryOf(service)) - before) / SLOW_EACH;
  process.stderr.write(`one that does not read holds ${Math.round(each / 1024)} KiB\n`);
  expect(each).toBeLessThan(4 * 1024 * 1024);
  for (const socket of opened) socket.resetAndDestroy();
  await deliverAll(20);
  expect(service.errors()).toBe('');
}, 120_000);
