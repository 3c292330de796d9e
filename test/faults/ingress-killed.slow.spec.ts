/**
 * A service that is killed or stopped in the middle of a burst: what it had answered 202 is there, once, with its runs.
 * contract §5.8 (Transaction).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const TOKEN = 'bearer-token-of-the-tests';
const FACTORIES = ['north', 'south'];
const WEBHOOKS_EACH = 20;
const DELIVERIES = 2_000;
/** Killed when so many are answered: few enough that each can be sent again within the minute's 60 of its webhook. */
const ANSWERED_BEFORE = 900;
const SENDERS = 48;
const ENVIRONMENT = { MILLWRIGHT_RUN_CONCURRENCY: '0' };

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let webhooks: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-killed-'));
  const names = Array.from({ length: WEBHOOKS_EACH }, (_, index) => `hook-${index}`);
  folder = await factoryFolder({
    webhooks: Object.fromEntries(names.map((name) => [name, { secretName: 'bearer' }])),
    automations: { all: { webhooks: names }, odd: { webhooks: names, payload: { odd: [true] } } },
  });
  service = await startServiceProcess(dataDir, ENVIRONMENT);
  await service.api('PUT', '/secrets/bearer', { value: TOKEN });
  webhooks = [];
  for (const slug of FACTORIES) {
    const { uid } = (await service.api('POST', '/factory', { slug, source: folder.source })) as { uid: string };
    await service.api('POST', `/factory/${uid}/sync?wait=true`);
    const { webhooks: made } = (await service.api('GET', `/factory/${uid}/webhooks`)) as {
      webhooks: { uid: string }[];
    };
    webhooks.push(...made.map((webhook) => webhook.uid));
  }
  if (webhooks.length !== FACTORIES.length * WEBHOOKS_EACH) throw new Error(`${webhooks.length} webhooks were made`);
}, 120_000);

afterEach(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

const runsOf = (number: number): number => (number % 2 === 1 ? 2 : 1);

/** Status of one delivery, or undefined when the connection broke before its answer. */
function deliver(agent: Agent, number: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const url = `${service.url}/webhooks/w/${webhooks[number % webhooks.length] ?? ''}`;
    const body = JSON.stringify({ number, odd: number % 2 === 1 });
    const outgoing = httpRequest(url, {
      agent,
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'x-millwright-delivery-id': `d-${number}`,
        'content-length': body.length,
      },
    });
    outgoing.once('response', (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode)).once('error', () => resolve(undefined));
    });
    outgoing.once('error', () => resolve(undefined));
    outgoing.end(body);
  });
}

/** Sends numbers through many senders at once; calls `onAnswer` with each answer as it comes. */
async function burst(
  numbers: readonly number[],
  onAnswer: (number: number, status: number | undefined) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const left = [...numbers];
  const sender = async (): Promise<void> => {
    for (let number = left.shift(); number !== undefined; number = left.shift())
      onAnswer(number, await deliver(agent, number));
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  agent.destroy();
}

interface Stored {
  /** Delivery number → its entries by outcome. */
  entries: Map<number, { entryId: string; outcome: string }[]>;
  /** Entry → automations of its runs. */
  runs: Map<string, string[]>;
}

function stored(): Stored {
  const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  const entries: Stored['entries'] = new Map();
  for (const row of database.prepare('SELECT entry_id, delivery_id, outcome FROM delivery ORDER BY entry_id').all() as {
    entry_id: string;
    delivery_id: string;
    outcome: string;
  }[]) {
    const number = Number(row.delivery_id.slice(2));
    entries.set(number, [...(entries.get(number) ?? []), { entryId: row.entry_id, outcome: row.outcome }]);
  }
  const runs: Stored['runs'] = new Map();
  for (const row of database.prepare('SELECT entry_id, automation_uid FROM every_run').all() as {
    entry_id: string;
    automation_uid: string;
  }[]) {
    runs.set(row.entry_id, [...(runs.get(row.entry_id) ?? []), row.automation_uid]);
  }
  database.close();
  return { entries, runs };
}

/** Every accepted delivery is there once with exactly its runs, and there is no run besides. */
function expectWhole({ entries, runs }: Stored, answered: ReadonlySet<number>): void {
  for (const number of answered) expect([number, entries.get(number)?.[0]?.outcome]).toEqual([number, 'accepted']);
  let started = 0;
  for (const [number, [first, ...more]] of entries) {
    expect([number, first?.outcome, more.filter(({ outcome }) => outcome !== 'duplicate')]).toEqual([
      number,
      'accepted',
      [],
    ]);
    const automations = runs.get(first?.entryId ?? '') ?? [];
    expect([number, automations.length, new Set(automations).size]).toEqual([number, runsOf(number), runsOf(number)]);
    started += automations.length;
  }
  expect([...runs.values()].flat()).toHaveLength(started);
}

async function burstUntil(
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<{ answered: Set<number>; others: (number | undefined)[] }> {
  const answered = new Set<number>();
  const others: (number | undefined)[] = [];
  await burst(
    Array.from({ length: DELIVERIES }, (_, number) => number),
    (number, status) => {
      if (status === 202) answered.add(number);
      else others.push(status);
      if (answered.size === ANSWERED_BEFORE) service.signal(signal);
    },
  );
  return { answered, others };
}

it(
  'kill -9 in a burst of 2,000: every 202 is kept once with its runs, nothing else started, and a resend is a ' +
    'Duplicate',
  async () => {
    const { answered, others } = await burstUntil('SIGKILL');
    expect(await service.ended).toBe('SIGKILL');
    expect(answered.size).toBeGreaterThanOrEqual(ANSWERED_BEFORE);
    expect(answered.size).toBeLessThan(DELIVERIES);
    expect(new Set(others)).toEqual(new Set([undefined]));

    service = await startServiceProcess(dataDir, ENVIRONMENT);
    const before = stored();
    expectWhole(before, answered);

    const again: (number | undefined)[] = [];
    await burst([...answered], (_, status) => again.push(status));
    expect(new Set(again)).toEqual(new Set([202]));
    const after = stored();
    expectWhole(after, answered);
    for (const number of answered)
      expect([number, after.entries.get(number)?.map(({ outcome }) => outcome)]).toEqual([
        number,
        ['accepted', 'duplicate'],
      ]);
    expect([...after.runs.values()].flat().length).toBe([...before.runs.values()].flat().length);
  },
  180_000,
);

it('SIGTERM in a burst: ends in order, every stored delivery was answered and the other way round', async () => {
  const { answered, others } = await burstUntil('SIGTERM');
  expect(await service.ended).toBe(0);
  expect(answered.size).toBeLessThan(DELIVERIES);
  expect(new Set(others)).toEqual(new Set([undefined]));
  const { entries, runs } = stored();
  expectWhole({ entries, runs }, answered);
  expect([...entries.keys()].sort((a, b) => a - b)).toEqual([...answered].sort((a, b) => a - b));
  service = await startServiceProcess(dataDir, ENVIRONMENT);
  expectWhole(stored(), answered);
}, 180_000);
