/**
 * Requests by the megabyte on one connection, none of whose answers is read: the process stays within a small heap,
 * answers everybody else, and ends when it is asked to. contract §5.11 (One connection).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { connectRaw, exchange, requestHead, type HeaderLines } from '../support/network/raw-http.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const TOKEN = 'bearer-token-of-the-tests';
const BEARER: HeaderLines = [['Authorization', `Bearer ${TOKEN}`]];
const ADMIN: HeaderLines = [['Authorization', `Bearer mw_${'k'.repeat(43)}`]];
const WEBHOOKS = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
const HEALTH = 'GET /healthz HTTP/1.1\r\n\r\n';
/** Much less than a service is given, so that what grows is found soon. */
const HEAP_MEGABYTES = 192;
/** What a flood may cost: the heap, and what the process keeps outside of it. */
const GROWTH_BYTES_MAX = 160 * 1_048_576;
const FLOOD_BYTES = 32 * 1_048_576;

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let webhooks: string[];
const sockets = new Set<Socket>();

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-pipelining-'));
  folder = await factoryFolder({
    webhooks: Object.fromEntries(WEBHOOKS.map((name) => [name, { secretName: 'bearer' }])),
    automations: { all: { webhooks: WEBHOOKS } },
  });
  service = await startServiceProcess(dataDir, {
    MILLWRIGHT_RUN_CONCURRENCY: '0',
    MILLWRIGHT_LOG_LEVEL: 'error',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}`,
  });
  await service.api('PUT', '/secrets/bearer', { value: TOKEN });
  const { uid } = (await service.api('POST', '/factory', { slug: 'floods', source: folder.source })) as {
    uid: string;
  };
  await service.api('POST', `/factory/${uid}/sync?wait=true`);
  webhooks = ((await service.api('GET', `/factory/${uid}/webhooks`))['webhooks'] as { uid: string }[]).map(
    (webhook) => webhook.uid,
  );
}, 120_000);

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();

  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

function opened(): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) }).on('error', () => undefined);
  sockets.add(socket);
  return socket;
}

/** Writes as fast as it is taken, and reads nothing. */
function flood(socket: Socket, first: string, request: string, bytes: number): void {
  const piece = request.repeat(Math.ceil(65_536 / request.length));
  let left = bytes;
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= piece.length;
      if (!socket.write(piece)) return void socket.once('drain', write);
    }
  };
  socket.pause().write(first);
  write();
}

async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

let unique = 0;
/** Good deliveries; the webhooks take turns, so that none comes to its limit. */
async function deliver(count: number): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < count) {
    const target = `/webhooks/w/${webhooks[unique % webhooks.length] ?? ''}`;
    unique += 1;
    statuses.push((await exchange(service.url, { target, headers: BEARER, body: `{"n": ${unique}}` })).status);
  }
  return statuses;
}

/** While it floods and after: others are served, memory is bounded, nothing is logged, and SIGTERM ends the process. */
async function survives(before: number): Promise<void> {
  expect(await deliver(120)).toEqual(Array.from({ length: 120 }, () => 202));
  const growth = (await memoryOf(service)) - before;
  process.stderr.write(`the flood costs ${Math.round(growth / 1_048_576)} MiB\n`);
  expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  expect(await deliver(120)).toEqual(Array.from({ length: 120 }, () => 202));
  opened().write('GET /healthz HTTP/1.1\r\nX-Begun: '); // and never goes on
  await exchange(service.url, HEALTH);
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);
  expect(service.errors()).toBe('');
}

it('a flood of probes on one connection', async () => {
  await deliver(30);
  const before = await memoryOf(service);
  flood(opened(), '', HEALTH, FLOOD_BYTES);
  await survives(before);
}, 180_000);

it('a flood of probes behind an event stream', async () => {
  await deliver(30);
  const { runs } = (await service.api('GET', '/agent/runs')) as unknown as { runs: { run_id: string }[] };
  const before = await memoryOf(service);
  const stream = requestHead(service.url, {
    method: 'GET',
    target: `/api/v1/agent/runs/${runs[0]?.run_id ?? ''}/events`,
    headers: [...ADMIN, ['Accept', 'text/event-stream']],
  });
  flood(opened(), stream, HEALTH, FLOOD_BYTES);
  await survives(before);
}, 180_000);

it('floods on six hundred connections, of probes, deliveries and what needs a key', async () => {
  await deliver(30);
  const before = await memoryOf(service);
  const guess = requestHead(service.url, { target: `/webhooks/w/${webhooks[0] ?? ''}`, declared: 2 }) + '{}';
  const unknown = requestHead(service.url, { method: 'GET', target: '/api/v1/agent/runs' });
  for (let index = 0; index < 600; index += 1)
    flood(opened(), '', [HEALTH, guess, unknown][index % 3] ?? '', FLOOD_BYTES / 64);
  await survives(before);
}, 180_000);

it('a client that writes thousands of deliveries at once and reads has an answer to each, in order', async () => {
  const connection = await connectRaw(service.url);
  const ids = Array.from({ length: 600 }, (_, index) => `in-order-${index}`);
  connection.send(
    ids
      .map((id, index) =>
        [
          requestHead(service.url, {
            target: `/webhooks/w/${webhooks[index % webhooks.length] ?? ''}`,
            headers: [...BEARER, ['X-Millwright-Delivery-Id', id]],
            declared: 200,
          }),
          JSON.stringify({ filler: 'f'.repeat(187) }),
        ].join(''),
      )
      .join(''),
  );
  const answered: string[] = [];
  for (const id of ids) {
    const { status, body } = await connection.answer();
    expect(status).toBe(202);
    answered.push((JSON.parse(body) as { delivery_id: string }).delivery_id);
    expect(answered.at(-1)).toBe(id);
  }
  connection.destroy();
}, 120_000);
