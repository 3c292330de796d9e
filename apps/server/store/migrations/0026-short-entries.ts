/**
 * Entries of the log in fewer bytes. On PostgreSQL their IDs are UUIDs of 16 bytes, which makes the rows of `delivery`
 * and of runs that wait anew, and their indexes; and what most accepted entries have in common is NULL, which takes no
 * place: one entry, of a size that is exact, that was never delivered again. On both databases revisions and the IDs of
 * runs are written shorter from here on. contract §1.8 (Upgrades), §5.9 (Log).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { RUN_VIEW_COLUMNS, runViews } from './0001-0010/0007-waiting-runs.ts';
import { FUNCTION } from './0023-shared-identity-runs.ts';

export class ShortEntries1700000000026 implements MigrationInterface {
  readonly name = 'ShortEntries1700000000026';

  /** Programs of before show short texts as they are, and insert texts where UUIDs are. */
  static readonly oldestReader = 26;

  async up(runner: QueryRunner): Promise<void> {
    if (runner.dataSource.options.type !== 'postgres') return;
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** Rows of `run` go on to have the ID as a text. */
const VIEWS = runViews(
  'postgres',
  RUN_VIEW_COLUMNS.map(([name, waiting]) => [name, name === 'entry_id' ? 'CAST(w.entry_id AS TEXT)' : waiting]),
);

const STATEMENTS = [
  'DROP VIEW every_run, waiting_run_row, delivery_log',
  'ALTER TABLE delivery ALTER COLUMN entry_id TYPE UUID USING CAST(entry_id AS UUID), ' +
    ['entries', 'size_exact', 'resends'].map((name) => `ALTER COLUMN ${name} DROP NOT NULL`).join(', ') +
    ', ALTER COLUMN resends DROP DEFAULT, ALTER COLUMN entries TYPE BIGINT USING NULLIF(entries, 1), ' +
    'ALTER COLUMN size_exact TYPE BIGINT USING NULLIF(size_exact, 1), ' +
    'ALTER COLUMN resends TYPE BIGINT USING NULLIF(resends, 0)',
  'ALTER TABLE waiting_run ALTER COLUMN entry_id TYPE UUID USING CAST(entry_id AS UUID)',
  'CREATE VIEW delivery_log AS SELECT webhook_uid, entry_id, outcome, received_at, COALESCE(entries, 1) AS entries ' +
    'FROM delivery',
  ...VIEWS,
  FUNCTION.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
    .replace(', entries, slot_at)', ', slot_at)')
    .replace(', 1, decided_at', ', decided_at')
    .replace('d.size_exact,', 'NULLIF(d.size_exact, 1),')
    .replace('SELECT d.entry_id,', 'SELECT d.entry_id::uuid,')
    .replace('r.entry_id,', 'r.entry_id::uuid,'),
  // A column of another type has no statistics, without which a sweep reads a whole log.
  'ANALYZE delivery',
  'ANALYZE waiting_run',
];
