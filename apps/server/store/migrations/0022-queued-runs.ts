/**
 * Runs that wait without what their snapshots say of them, on SQLite: by these columns they are queued, and the queue
 * is a table of its own there. On PostgreSQL it is an index of these columns, which stay.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class QueuedRuns1700000000022 implements MigrationInterface {
  readonly name = 'QueuedRuns1700000000022';

  async up(runner: QueryRunner): Promise<void> {
    if (runner.dataSource.options.type === 'postgres') return;
    const views = (await runner.query(VIEWS)) as { name: string; sql: string }[];
    const dropped = views.map(({ name }) => `DROP VIEW ${name}`);
    for (const statement of [...dropped, ...STATEMENTS, ...views.map(({ sql }) => sql)]) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** Those that name the table: while they are there no table can be renamed to it. */
const VIEWS = "SELECT name, sql FROM sqlite_master WHERE type = 'view' AND sql LIKE '%waiting_run%' ORDER BY name DESC";

const COLUMNS = 'run_id, entry_id, snapshot, created_at, quoted_delivery_id';

const STATEMENTS = [
  'DROP TRIGGER waiting_queue_delete',
  'CREATE TABLE stored_run (run_id TEXT PRIMARY KEY, entry_id TEXT NOT NULL, snapshot BLOB NOT NULL, ' +
    'created_at INTEGER NOT NULL, quoted_delivery_id TEXT) WITHOUT ROWID',
  `INSERT INTO stored_run SELECT ${COLUMNS} FROM waiting_run ORDER BY run_id`,
  'DROP TABLE waiting_run',
  'ALTER TABLE stored_run RENAME TO waiting_run',
  "CREATE VIEW queued_run AS SELECT COALESCE(s.worker_host, '') AS worker_host, s.factory_uid, w.run_id, " +
    's.automation_uid, s.environment_id FROM waiting_run w JOIN run_snapshot s ON s.digest = w.snapshot',
  'CREATE TRIGGER waiting_queue_delete AFTER DELETE ON waiting_run BEGIN DELETE FROM waiting_queue ' +
    "WHERE (worker_host, factory_uid, run_id) = (SELECT COALESCE(worker_host, ''), factory_uid, old.run_id " +
    'FROM run_snapshot WHERE digest = old.snapshot); END',
  // Programs of before insert rows that have these columns.
  'UPDATE schema_reader SET oldest = 22 WHERE oldest < 22',
];
