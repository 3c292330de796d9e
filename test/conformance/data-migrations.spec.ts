/** What migrations take over of rows that are there. contract §1.8 (Upgrades). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { NOBODY_SERVED } from '#runs';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { RUN_VIEW_COLUMNS, runViews } from '../../apps/server/store/migrations/0001-0010/0007-waiting-runs.ts';
import { claimRuns } from '../../apps/server/store/runs/run-claims.ts';
import { identityCount, select, meddle, onPostgres, storesOf, type Stores } from './backends.ts';
import { arrivalAt, newId, seedServed, startedBy } from './seeds.ts';

describe('migration of accepted identities on SQLite', () => {
  it('takes every row over, so that what was accepted before is a duplicate after', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-migrated-'));
    const old = storesOf(await openDatabase({ dataDir, nowMs: Date.now }));
    const served = await seedServed(old);
    for (const table of ['batch', 'run', 'chunk']) await meddle(old, `DROP TABLE identity_${table}`);
    await meddle(
      old,
      'CREATE TABLE identity (webhook_uid TEXT NOT NULL, hash BLOB NOT NULL, accepted_at INTEGER NOT NULL, ' +
        'PRIMARY KEY (webhook_uid, hash)) WITHOUT ROWID',
    );
    await meddle(
      old,
      'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20999) ' +
        "INSERT INTO identity SELECT ?, CAST('id-' || i AS BLOB), i FROM n",
      served.webhookUid,
    );
    await meddle(old, "DELETE FROM migrations WHERE name = 'IdentityRuns1700000000008'");
    await old.database.close();
    const migrated = storesOf(await openDatabase({ dataDir, nowMs: Date.now }));
    const kinds = [];
    for (const identity of ['id-0', 'id-19999', 'id-20000', 'id-20999', 'id-21000'])
      kinds.push((await migrated.deliveries.acceptOnce(await arrivalAt(migrated, served, { identity }))).kind);
    expect(kinds).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate', 'accepted']);
    expect(await identityCount(migrated)).toBe(21_001);
    await migrated.database.close();
    await rm(dataDir, { recursive: true });
  });
});

describe('migration of runs that wait on SQLite', () => {
  it('keeps them and their places in the queue, which a run that is cancelled leaves', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-queued-'));
    const old = storesOf(await openDatabase({ dataDir, nowMs: Date.now }));
    const served = [await seedServed(old), await seedServed(old)];
    const runs = [];
    for (const [n, each] of [...served, ...served].entries()) {
      const [entryId, deliveryId] = [newId(), `d${n}`];
      const started = startedBy(each, { entryId, deliveryId, receivedAtMs: Date.now() });
      await old.deliveries.acceptOnce({ ...(await arrivalAt(old, each, { entryId, runs: started })), deliveryId });
      runs.push(...started);
    }
    const everyRun = (stores: Stores) => select(stores, 'SELECT * FROM every_run ORDER BY run_id');
    const before = await everyRun(old);
    expect(before).toHaveLength(4);
    await old.database.close();
    asBefore(join(dataDir, 'millwright.sqlite'));

    const migrated = storesOf(await openDatabase({ dataDir, nowMs: Date.now }));
    expect(await everyRun(migrated)).toEqual(before);
    const columns = await select(migrated, "SELECT name FROM pragma_table_info('waiting_run') ORDER BY cid");
    expect(columns.map(({ name }) => name)).toEqual(STORED_COLUMNS);
    expect(await migrated.runs.cancel(runs[0]?.runId ?? '')).toBe('cancelled');
    const executionIds = runs.map(() => newId());
    const { claimed } = await migrated.database.run(() =>
      claimRuns({ owner: 'e', leaseMs: 60_000, executionIds, bounds: {} }, NOBODY_SERVED),
    );
    expect(claimed.map(({ runId }) => runId).toSorted()).toEqual(runs.slice(1).map(({ runId }) => runId));
    expect(await select(migrated, 'SELECT run_id FROM waiting_queue')).toEqual([]);
    await migrated.database.close();
    await rm(dataDir, { recursive: true });
  });
});

const STORED_COLUMNS = ['run_id', 'entry_id', 'snapshot', 'created_at', 'quoted_delivery_id'];

/**
 * As the version before had left it: runs that wait say what they are queued by, and some are in the queue, the others
 * behind its marker.
 */
function asBefore(file: string): void {
  const database = new SQLite(file);
  database.exec(`
    ALTER TABLE waiting_run ADD COLUMN worker_host TEXT NOT NULL DEFAULT '';
    ALTER TABLE waiting_run ADD COLUMN factory_uid TEXT NOT NULL DEFAULT '';
    ALTER TABLE waiting_run ADD COLUMN automation_uid TEXT NOT NULL DEFAULT '';
    ALTER TABLE waiting_run ADD COLUMN environment_id TEXT;
    UPDATE waiting_run SET (worker_host, factory_uid, automation_uid, environment_id) = (SELECT worker_host,
      factory_uid, automation_uid, environment_id FROM queued_run q WHERE q.run_id = waiting_run.run_id);
    DROP VIEW queued_run;
    INSERT OR IGNORE INTO waiting_queue (worker_host, factory_uid, run_id, automation_uid, environment_id)
      SELECT worker_host, factory_uid, run_id, automation_uid, environment_id FROM waiting_run ORDER BY run_id LIMIT 2;
    DROP TRIGGER waiting_queue_delete;
    CREATE TRIGGER waiting_queue_delete AFTER DELETE ON waiting_run BEGIN DELETE FROM waiting_queue
      WHERE worker_host = old.worker_host AND factory_uid = old.factory_uid AND run_id = old.run_id; END;
    DELETE FROM migrations WHERE name = 'QueuedRuns1700000000022';
    UPDATE schema_reader SET oldest = 20;
  `);
  database.close();
}

await onPostgres('migration of accepted identities', (world) => {
  it('takes every row over or nothing, so that what was accepted before is a duplicate after', async () => {
    const old = storesOf(world.stores.database);
    const served = await seedServed(old);
    for (const statement of [
      'DROP FUNCTION accept_deliveries',
      'DROP TABLE shared_identity',
      'DROP TABLE rate_owner',
      'DROP TABLE identity_batch',
      'DROP TABLE identity_run',
      'DROP TABLE identity_chunk',
      'CREATE TABLE identity (webhook_uid TEXT NOT NULL, hash BYTEA NOT NULL, accepted_at BIGINT NOT NULL, ' +
        'PRIMARY KEY (webhook_uid, hash))',
      'CREATE TABLE obstacle (id BIGINT)',
      "DELETE FROM migrations WHERE name IN ('AcceptanceCalls1700000000019', 'SharedIdentityRuns1700000000023', " +
        "'ShortEntries1700000000026')",
    ])
      await meddle(old, statement);
    await meddle(
      old,
      "INSERT INTO identity SELECT ?, convert_to('id-' || i, 'UTF8'), i FROM generate_series(0, 20999) AS i",
      served.webhookUid,
    );
    await meddle(old, 'ALTER TABLE obstacle RENAME TO identity_by_webhook'); // the migration wants that name
    await expect(openDatabase(world.options)).rejects.toThrow(/cannot be used|42P07/);
    expect(await select(old, 'SELECT count(*) AS n FROM identity WHERE webhook_uid = ?', served.webhookUid)).toEqual([
      { n: 21_000 },
    ]);
    await meddle(old, 'DROP TABLE identity_by_webhook');
    const migrated = storesOf(await openDatabase(world.options));
    const kinds = [];
    for (const identity of ['id-0', 'id-20999', 'id-21000'])
      kinds.push((await migrated.deliveries.acceptOnce(await arrivalAt(migrated, served, { identity }))).kind);
    expect(kinds).toEqual(['duplicate', 'duplicate', 'accepted']);
    expect(await identityCount(migrated)).toBe(21_001);
    await migrated.database.close();
  });
});

await onPostgres('migration of log entries', (world) => {
  it('takes every row over or nothing, and what was written before is read as it was', async () => {
    const old = storesOf(world.stores.database);
    const served = await seedServed(old);
    const accepted = async (stores: Stores): Promise<string> => {
      const [entryId, deliveryId] = [newId(), newId()];
      const runs = startedBy(served, { entryId, deliveryId, receivedAtMs: Date.now() });
      const arrival = await arrivalAt(stores, served, { entryId, runs });
      expect(await stores.deliveries.acceptOnce({ ...arrival, deliveryId })).toEqual({ kind: 'accepted' });
      return entryId;
    };
    const everyRun = (stores: Stores) => select(stores, 'SELECT * FROM every_run ORDER BY run_id');
    for (let count = 0; count < 3; count += 1) await accepted(old);
    const [log, runs] = [await old.deliveries.list(served.webhookUid, 9), await everyRun(old)];
    expect([log.length, runs.length]).toEqual([3, 3]);

    for (const statement of AS_BEFORE) await meddle(old, statement);
    for (const { entry_id: entryId, revision } of log)
      await meddle(old, 'UPDATE delivery SET revision = ? WHERE entry_id = ?', revision, entryId);
    // No version has written this one: the migration finds it only when it is at work.
    const [last] = log;
    await meddle(old, "UPDATE delivery SET entry_id = 'of-nobody' WHERE entry_id = ?", last?.entry_id ?? '');
    await expect(openDatabase(world.options)).rejects.toThrow(/cannot be used|22P02/);
    expect(await select(old, 'SELECT count(*) AS n FROM delivery WHERE entries = 1 AND entry_id <> ?', '')).toEqual([
      { n: 3 },
    ]);
    await meddle(old, "UPDATE delivery SET entry_id = ? WHERE entry_id = 'of-nobody'", last?.entry_id ?? '');

    const migrated = storesOf(await openDatabase(world.options));
    expect(await migrated.deliveries.list(served.webhookUid, 9)).toEqual(log);
    expect(await everyRun(migrated)).toEqual(runs);
    expect(await migrated.deliveries.find(last?.entry_id ?? '')).toEqual(last);
    expect(await migrated.deliveries.find('of-nobody')).toBeUndefined();
    const entryId = await accepted(migrated);
    expect((await migrated.deliveries.list(served.webhookUid, 9)).map((entry) => entry.entry_id)).toEqual([
      entryId,
      ...log.map((entry) => entry.entry_id),
    ]);
    await migrated.database.close();
  });
});

/** As the version before had left it. */
const AS_BEFORE = [
  'DROP VIEW every_run, waiting_run_row, delivery_log',
  'ALTER TABLE delivery ALTER COLUMN entry_id TYPE TEXT',
  'ALTER TABLE waiting_run ALTER COLUMN entry_id TYPE TEXT',
  'UPDATE delivery SET entries = COALESCE(entries, 1), size_exact = COALESCE(size_exact, 1), ' +
    'resends = COALESCE(resends, 0)',
  'ALTER TABLE delivery ALTER COLUMN entries SET NOT NULL, ALTER COLUMN size_exact SET NOT NULL, ' +
    'ALTER COLUMN resends SET NOT NULL, ALTER COLUMN resends SET DEFAULT 0',
  'CREATE VIEW delivery_log AS SELECT webhook_uid, entry_id, outcome, received_at, entries FROM delivery',
  ...runViews('postgres', RUN_VIEW_COLUMNS),
  "DELETE FROM migrations WHERE name = 'ShortEntries1700000000026'",
  'UPDATE schema_reader SET oldest = 24',
];
