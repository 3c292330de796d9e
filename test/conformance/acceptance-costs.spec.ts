/**
 * What accepting costs that depends on no machine: statements of its transaction, b-trees and pages that it writes, and
 * bytes that stay. contract §5.8 (Transaction).
 */
import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { Client } from 'pg';
import { DeliveryStore } from '../../apps/server/store/deliveries/deliveries.ts';
import { formatDecision } from '../../apps/server/store/deliveries/delivery-entries.ts';
import type { PendingDelivery } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import { databaseBytes } from '../bench/figures/database-usage.ts';
import { onEachBackend, type World } from './backends.ts';
import { arrival, newId, seedServed, servingVersion, starterOf, type Served } from './seeds.ts';

// The bounds are what is needed today, rounded up. Lower one with the change that makes it possible; raising one is a
// decision, and says why.

/**
 * Statements that the driver is asked to execute for one delivery with a run; on SQLite BEGIN and COMMIT are two of
 * them, on PostgreSQL it is one call.
 */
const STATEMENTS_ALONE_MAX: Readonly<Record<World['dialect'], number>> = { sqlite: 7, postgres: 1 };
/** The same for each of `BATCH` that come at once. */
const STATEMENTS_EACH_MAX: Readonly<Record<World['dialect'], number>> = { sqlite: 2.1, postgres: 0.02 };
/** How often that transaction waits for PostgreSQL. */
const ROUND_TRIPS_MAX = 1;
/** B-trees of SQLite that the transaction of one delivery with a run writes into; all of them grow at their end. */
const BTREES_MAX = 4;
/** Pages that each of `BATCH` deliveries that come at once adds to the write-ahead log of SQLite. */
const PAGES_EACH_MAX = 0.6;
/**
 * Bytes that the database grows by for each of `STORED` deliveries of 1 KiB with a run, whose entries are as the
 * ingress writes them; on SQLite without what is filled in later, some 200. Three such entries fit into a page there,
 * six into one of PostgreSQL, of twice the size.
 */
const BYTES_KEPT_MAX: Readonly<Record<World['dialect'], number>> = { sqlite: 1_600, postgres: 1_850 };

const WEBHOOKS = 64;
/** All tests together stay below the 60 of a minute that each webhook takes. */
const BATCH = 256;
const STORED = 2_560;
const BODY = Buffer.from(`{"filler":"${'x'.repeat(1_011)}"}`);
/** As a folder's is named. */
const REVISION = `sha256:${'0'.repeat(64)}`;
/** What the automation says. */
const PROMPT = 'Look at what happened, and find the cause. '.repeat(8);

await onEachBackend('the cost of accepting', (world) => {
  const served: { webhook: Served; version: number; start: ReturnType<typeof starterOf> }[] = [];
  let next = 0;
  beforeAll(async () => {
    for (let n = 0; n < WEBHOOKS; n += 1) {
      const webhook = await seedServed(world.stores);
      const version = await servingVersion(world.stores, webhook.factoryUid);
      const automations = [{ uid: webhook.automationUid, definition: { prompt: PROMPT } }];
      served.push({ webhook, version, start: starterOf(webhook, { automations }) });
    }
    await accept(BATCH); // snapshots are stored, statements are prepared, windows are known
    await accept(BATCH); // and on PostgreSQL what is served
  });

  function newArrival(): PendingDelivery {
    const { webhook, version, start } = served[next++ % WEBHOOKS] as (typeof served)[number];
    const entryId = newId();
    const runs = start(entryId, entryId);
    const one = arrival(webhook, { version, body: BODY, entryId, runs });
    const decision = formatDecision({
      started: runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId })),
      skipped: [],
    });
    return {
      ...one,
      revision: REVISION,
      deliveryId: entryId,
      verdict: { ...one.verdict, decision } as typeof one.verdict,
    };
  }

  async function accept(count: number, deliveries = world.stores.deliveries): Promise<void> {
    const arrivals = Array.from({ length: count }, newArrival);
    const outcomes = await Promise.all(arrivals.map((one) => deliveries.acceptOnce(one)));
    expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([]);
  }

  it('is bounded in statements, of one alone and of many at once', async () => {
    const alone = await statementsOf(world.dialect, () => accept(1));
    const each = (await statementsOf(world.dialect, () => accept(BATCH))) / BATCH;
    expect([alone, each].every((count) => count > 0)).toBe(true);
    expect(alone).toBeLessThanOrEqual(STATEMENTS_ALONE_MAX[world.dialect]);
    expect(each).toBeLessThanOrEqual(STATEMENTS_EACH_MAX[world.dialect]);
  });

  if (world.dialect === 'postgres')
    it('is bounded in round trips', async () => {
      const alone = await roundTripsOf(() => accept(1));
      expect(alone).toBeGreaterThan(0);
      expect(alone).toBeLessThanOrEqual(ROUND_TRIPS_MAX);
    });

  if (world.dialect === 'sqlite')
    it('asks the log for no window behind a handover, as it does behind a restart', async () => {
      const [restarted, handed] = [new DeliveryStore(world.stores.database), new DeliveryStore(world.stores.database)];
      await restarted.start();
      const cold = await statementsOf('sqlite', () => accept(1, restarted));
      expect(await handed.prepare()).toHaveLength(WEBHOOKS);
      await accept(1, restarted); // between the two it is written on
      await handed.start();
      const warm = await statementsOf('sqlite', () => accept(1, handed));
      expect(warm).toBeLessThan(cold);
      expect(warm).toBeLessThanOrEqual(STATEMENTS_ALONE_MAX.sqlite + 1); // the version of its factory
    });

  it('is bounded in bytes that stay', async () => {
    const where = { dataDir: world.options.dataDir, databaseUrl: world.url };
    const before = await databaseBytes(where);
    for (let stored = 0; stored < STORED; stored += BATCH) await accept(BATCH);
    const kept = ((await databaseBytes(where)) - before) / STORED;
    expect(kept).toBeGreaterThan(BODY.length); // the payload itself
    expect(kept).toBeLessThanOrEqual(BYTES_KEPT_MAX[world.dialect]);
  });

  if (world.dialect === 'sqlite')
    it('is bounded in b-trees and pages that are written', async () => {
      const one = await writtenBy(world, () => accept(1));
      expect(one.btrees.length).toBeGreaterThan(0);
      expect(one.btrees).toHaveLength(Math.min(one.btrees.length, BTREES_MAX)); // which prints their names
      const many = await writtenBy(world, () => accept(BATCH));
      expect(many.pages / BATCH).toBeLessThanOrEqual(PAGES_EACH_MAX);
    });
});

/**
 * How often the driver is asked to execute something meanwhile; on SQLite from BEGIN to COMMIT: between transactions a
 * timer looks at the write-ahead log.
 */
async function statementsOf(dialect: World['dialect'], work: () => Promise<void>): Promise<number> {
  const memory = new SQLite(':memory:');
  const compiled = Object.getPrototypeOf(memory.prepare('SELECT 1')) as SQLite.Statement;
  memory.close();
  const exec = jest.spyOn(SQLite.prototype, 'exec');
  const spies =
    dialect === 'postgres'
      ? [jest.spyOn(Client.prototype, 'query')]
      : [exec, ...(['run', 'get', 'all', 'iterate'] as const).map((name) => jest.spyOn(compiled, name))];
  try {
    await work();
    const orders = spies.flatMap((spy) => spy.mock.invocationCallOrder);
    if (dialect === 'postgres') return orders.length;
    const [begins, ends] = ['BEGIN IMMEDIATE', 'COMMIT'].map((text) =>
      exec.mock.calls.flatMap(([given], at) => (given === text ? [exec.mock.invocationCallOrder[at] as number] : [])),
    ) as [number[], number[]];
    return orders.filter((order) => begins.some((begin, at) => begin <= order && order <= (ends[at] as number))).length;
  } finally {
    for (const spy of [exec, ...spies]) spy.mockRestore();
  }
}

/** How often PostgreSQL is asked for something meanwhile when nobody waits for an answer yet. */
async function roundTripsOf(work: () => Promise<void>): Promise<number> {
  const query = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>;
  let waiting = 0;
  let count = 0;
  const spy = jest.spyOn(Client.prototype, 'query') as unknown as jest.SpiedFunction<typeof query>;
  spy.mockImplementation(function (this: Client, ...args) {
    if (waiting === 0) count += 1;
    waiting += 1;
    return Reflect.apply(query, this, args).finally(() => (waiting -= 1));
  });
  try {
    await work();
    return count;
  } finally {
    spy.mockRestore();
  }
}

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Pages that some work adds to the write-ahead log, which is empty before, and the b-trees that they belong to: tables
 * and indexes by name. https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
async function writtenBy(world: World, work: () => Promise<void>): Promise<{ pages: number; btrees: string[] }> {
  const file = join(world.options.dataDir, 'millwright.sqlite');
  const database = new SQLite(file);
  try {
    // Busy: the service copies some of it at this moment.
    while (database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) !== 0) await sleep(10);
    await work();
    const log = readFileSync(`${file}-wal`);
    const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
    const pages = (log.length - WAL_HEADER_BYTES) / frameBytes;
    const numbers = Array.from({ length: pages }, (_, frame) =>
      log.readUInt32BE(WAL_HEADER_BYTES + frame * frameBytes),
    );
    const names = database.prepare('SELECT DISTINCT name FROM dbstat WHERE pageno IN (SELECT value FROM json_each(?))');
    return { pages, btrees: names.pluck().all(JSON.stringify(numbers)) as string[] };
  } finally {
    database.close();
  }
}
