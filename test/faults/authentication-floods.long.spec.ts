/**
 * Very many bad authentications, of every kind and from many addresses: memory stays flat, the log is bounded and
 * counts them all, and whoever is valid notices nothing. FAULT_SCALE=20 makes it a million. contract §5.4 (Failed
 * authentication), §2.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, requestBytes, type HeaderLines } from '../support/network/raw-http.ts';
import { eventually } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const TOKEN = 'bearer-token-of-the-tests';
const URL_TOKEN = 'url-token-of-the-tests';
const ADMIN: HeaderLines = [['Authorization', `Bearer mw_${'k'.repeat(43)}`]];
/** Of each phase; two phases are compared. */
const FAILURES = 25_000 * Number(process.env['FAULT_SCALE'] ?? 1);
/** The same in both phases, so that what is remembered of them is there when the first is over. */
const ADDRESSES = 2_000;
const CONNECTIONS = 24;
/**
 * One good delivery, and one call, for so many failures: no more than a webhook may take in a minute on the fastest
 * machine.
 */
const GOOD_EVERY = 500;
const GOOD_HOOKS = Array.from({ length: 16 }, (_, index) => `good-${index}`);
/** What the heap may differ by between two measurements for other reasons; a leak of 500 bytes a failure is more. */
const HEAP_NOISE_BYTES = 12 * 1_048_576;
/** contract §5: a minute and webhook; one more is the counted one. */
const ENTRIES_A_MINUTE_MAX = 61;

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let webhooks: Map<string, string>;
let heapFile: string;
let beganAtMs: number;
let unique = 0;
const statuses = new Map<string, number>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-flood-'));
  heapFile = `${dataDir}.heap`;
  folder = await factoryFolder({
    webhooks: {
      ...Object.fromEntries(GOOD_HOOKS.map((name) => [name, { secretName: 'bearer' }])),
      plain: { secretName: 'bearer' },
      linked: { authMode: 'url_token', secretName: 'in-url' },
      signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'bearer' },
    },
    automations: { all: { webhooks: GOOD_HOOKS } },
  });
  service = await startServiceProcess(dataDir, {
    MILLWRIGHT_RUN_CONCURRENCY: '0',
    MILLWRIGHT_LOG_LEVEL: 'warn',
    MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    NODE_OPTIONS: `--import=${new URL('../support/processes/heap-on-signal.mjs', import.meta.url).href}`,
    FAULT_HEAP_FILE: heapFile,
  });
  await service.api('PUT', '/secrets/bearer', { value: TOKEN });
  await service.api('PUT', '/secrets/in-url', { value: URL_TOKEN });
  const { uid } = (await service.api('POST', '/factory', { slug: 'flood', source: folder.source })) as { uid: string };
  await service.api('POST', `/factory/${uid}/sync?wait=true`);
  const made = (await service.api('GET', `/factory/${uid}/webhooks`))['webhooks'] as { slug: string; uid: string }[];
  webhooks = new Map(made.map((webhook) => [webhook.slug, webhook.uid]));
  beganAtMs = Date.now();
}, 120_000);

afterAll(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  for (const path of [dataDir, heapFile]) await rm(path, { recursive: true, force: true });
});

const KINDS = ['plain', 'linked', 'signed', 'api'] as const;

/** One request that proves nothing. Each says something else, from one of the addresses. */
function bad(number: number): { kind: (typeof KINDS)[number]; bytes: Uint8Array } {
  const kind = KINDS[number % KINDS.length] as (typeof KINDS)[number];
  const forwarded: [string, string] = [
    'X-Forwarded-For',
    `198.18.${Math.floor((number % ADDRESSES) / 250)}.${(number % ADDRESSES) % 250}`,
  ];
  const path = `/webhooks/w/${webhooks.get(kind) ?? ''}`;
  switch (kind) {
    case 'plain':
      return {
        kind,
        bytes: requestBytes(service.url, {
          target: path,
          headers: [forwarded, ['Authorization', `Bearer wrong-${number}`]],
        }),
      };
    case 'linked':
      return { kind, bytes: requestBytes(service.url, { target: `${path}/wrong-${number}`, headers: [forwarded] }) };
    case 'signed':
      return {
        kind,
        bytes: requestBytes(service.url, {
          target: path,
          headers: [forwarded, ['X-Hub-Signature-256', `sha256=${String(number).padStart(64, '0')}`]],
          body: '{}',
        }),
      };
    case 'api':
      return {
        kind,
        bytes: requestBytes(service.url, {
          method: 'GET',
          target: '/api/v1/agent/runs',
          headers: [forwarded, ['Authorization', `Bearer mw_${String(number).padStart(43, 'x')}`]],
          declared: null,
        }),
      };
  }
}

type Next = () => ReturnType<typeof bad> | undefined;

/** Sends what `next` gives over one connection after the other until there is no more. */
async function hammer(next: Next): Promise<void> {
  for (let isMore = true; isMore;) isMore = await hammerOnce(next);
}

/** Each request when the one before is answered, until the connection ends; answers whether there is more to send. */
function hammerOnce(next: Next): Promise<boolean> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let [isMore, kind, answer] = [true, '', ''];
    const ask = (): void => {
      const request = next();
      if (request === undefined) {
        isMore = false;
        return void socket.end();
      }
      [kind, answer] = [request.kind, ''];
      socket.write(request.bytes);
    };
    socket
      .setEncoding('latin1')
      .once('connect', ask)
      .on('data', (text: string) => {
        answer += text;
        const end = answer.indexOf('\r\n\r\n');
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? 0);
        if (end < 0 || answer.length < end + 4 + length) return;
        const counted = `${kind} ${answer.slice(9, 12)}`;
        statuses.set(counted, (statuses.get(counted) ?? 0) + 1);
        if (/\r\nconnection: close/i.test(answer)) socket.end();
        else ask();
      });
    socket.once('error', reject).once('close', () => resolve(isMore));
  });
}

/** Floods, with valid requests between. */
async function flood(count: number): Promise<void> {
  let number = 0;
  const good: Promise<void>[] = [];
  const next = (): ReturnType<typeof bad> | undefined => {
    if (number >= count) return undefined;
    number += 1;
    if (number % GOOD_EVERY === 0) good.push(valid());
    return bad(number);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => hammer(next)));
  await Promise.all(good);
}

/** From an address that has failed all its budget: that refuses nobody who is valid. */
async function valid(): Promise<void> {
  const webhook = webhooks.get(GOOD_HOOKS[(unique += 1) % GOOD_HOOKS.length] as string) ?? '';
  const from: [string, string] = ['X-Forwarded-For', '198.18.0.4'];
  const delivered = await exchange(service.url, {
    target: `/webhooks/w/${webhook}`,
    headers: [['Authorization', `Bearer ${TOKEN}`], from],
    body: `{"n": ${unique}}`,
  });
  // The fastest machine may come to the webhook's own limit.
  expect([202, 429]).toContain(delivered.status);
  expect(
    (await exchange(service.url, { method: 'GET', target: '/api/v1/agent', headers: [...ADMIN, from] })).status,
  ).toBe(200);
}

async function heap(): Promise<number> {
  await rm(heapFile, { force: true });
  process.kill(service.pid, 'SIGUSR2');
  return eventually(
    'the heap is told',
    async () => Number(await readFile(heapFile, 'utf8').catch(() => '')) || undefined,
    60_000,
  );
}

it(`${2 * FAILURES} failures: memory is flat`, async () => {
  await flood(FAILURES);
  const before = await heap();
  await flood(FAILURES);
  const grown = (await heap()) - before;
  process.stderr.write(
    `${2 * FAILURES} bad authentications: ${JSON.stringify(Object.fromEntries(statuses))}, the heap changed by ` +
      `${Math.round(grown / 1024)} KiB\n`,
  );
  expect(grown).toBeLessThan(HEAP_NOISE_BYTES);
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  expect(all).toBe(2 * FAILURES);
  expect([...statuses.keys()].filter((kind) => !/ (401|429)$/.test(kind))).toEqual([]);
}, 3_600_000);

it(
  'each address and webhook was told 401 no more than twenty times a minute, and every 401 is in the log, most of ' +
    'them counted',
  () => {
    const minutes = Math.ceil((Date.now() - beganAtMs) / 60_000) + 1;
    const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
    const logged = database
      .prepare(
        'SELECT webhook_uid, count(*) AS lines, sum(entries) AS failures FROM delivery ' +
          "WHERE outcome = 'rejectedAuth' GROUP BY webhook_uid",
      )
      .all() as { webhook_uid: string; lines: number; failures: number }[];
    const runs = database.prepare('SELECT count(*) AS runs FROM every_run').get() as { runs: number };
    const accepted = database.prepare("SELECT count(*) AS entries FROM delivery WHERE outcome = 'accepted'").get() as {
      entries: number;
    };
    database.close();
    for (const kind of ['plain', 'linked', 'signed']) {
      const found = logged.find(({ webhook_uid: uid }) => uid === webhooks.get(kind));
      expect([kind, found?.failures]).toEqual([kind, statuses.get(`${kind} 401`)]);
      expect(found?.lines).toBeLessThanOrEqual(ENTRIES_A_MINUTE_MAX * minutes);
      expect(statuses.get(`${kind} 401`)).toBeLessThanOrEqual(20 * ADDRESSES * minutes);
    }
    expect(runs.runs).toBe(accepted.entries); // no failure started anything
    expect(service.errors().split('\n').length).toBeLessThan(1_000);
  },
);

it('one address that goes on is told to wait, and a valid delivery of its own is taken all the same', async () => {
  const from: [string, string] = ['X-Forwarded-For', '203.0.113.9'];
  const target = `/webhooks/w/${webhooks.get('plain') ?? ''}`;
  const answers: number[] = [];
  for (let count = 0; count < 25; count += 1)
    answers.push((await exchange(service.url, { target, headers: [from, ['Authorization', 'Bearer wrong']] })).status);
  expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
  expect(answers.at(-1)).toBe(429);
  expect(
    (await exchange(service.url, { target, headers: [from, ['Authorization', `Bearer ${TOKEN}`]], body: '{}' })).status,
  ).toBe(202);
});
