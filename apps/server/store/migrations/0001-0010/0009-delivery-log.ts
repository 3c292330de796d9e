/**
 * The log by webhook as a table that is filled later, on SQLite: its index cost every delivery a page of its own.
 * contract §5.9 (Log).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = 'webhook_uid, entry_id, outcome, received_at, entries';

export class DeliveryLog1700000000009 implements MigrationInterface {
  readonly name = 'DeliveryLog1700000000009';

  async up(runner: QueryRunner): Promise<void> {
    const statements = runner.dataSource.options.type === 'postgres' ? POSTGRES : SQLITE;
    for (const statement of statements) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** Several processes write there: the index stays, and what reads the log reads it the same way. */
const POSTGRES = [`CREATE VIEW delivery_log AS SELECT ${COLUMNS} FROM delivery`];

const SQLITE = [
  // Up to where each deferred table is filled: an order of its source, a text or a number.
  'CREATE TABLE deferred (name TEXT PRIMARY KEY, marker NOT NULL) WITHOUT ROWID',
  'CREATE TABLE delivery_log (webhook_uid TEXT NOT NULL, entry_id TEXT NOT NULL, outcome TEXT NOT NULL, ' +
    'received_at INTEGER NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (webhook_uid, entry_id)) WITHOUT ROWID',
  `INSERT INTO delivery_log SELECT ${COLUMNS} FROM delivery INDEXED BY delivery_webhook ORDER BY webhook_uid, entry_id`,
  "INSERT INTO deferred SELECT 'delivery_log', coalesce(max(entry_id), '') FROM delivery",
  "INSERT INTO deferred VALUES ('waiting_queue', '')",
  'DROP INDEX delivery_webhook',
  // What is copied stays equal, whoever changes it.
  'CREATE TRIGGER delivery_log_update AFTER UPDATE OF outcome, received_at, entries ON delivery BEGIN ' +
    'UPDATE delivery_log SET outcome = new.outcome, received_at = new.received_at, entries = new.entries ' +
    'WHERE webhook_uid = new.webhook_uid AND entry_id = new.entry_id; END',
  'CREATE TRIGGER delivery_log_delete AFTER DELETE ON delivery BEGIN ' +
    'DELETE FROM delivery_log WHERE webhook_uid = old.webhook_uid AND entry_id = old.entry_id; END',
];
