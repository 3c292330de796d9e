/**
 * Entries of the log without what most of them have in common: NULL, which takes no place in a row of PostgreSQL, for
 * one entry, of a size that is exact, that was never delivered again. No row is written anew. On both databases
 * revisions and the IDs of runs are written shorter from here on, which programs of before cannot read. contract §1.8
 * (Upgrades), §5.9 (Log).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FUNCTION } from './0023-shared-identity-runs.ts';

export class ShortEntries1700000000026 implements MigrationInterface {
  readonly name = 'ShortEntries1700000000026';

  /** Programs of before would show short texts as they are, and NULL as nothing. */
  static readonly oldestReader = 26;

  async up(runner: QueryRunner): Promise<void> {
    if (runner.dataSource.options.type !== 'postgres') return;
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

const STATEMENTS = [
  'ALTER TABLE delivery ALTER COLUMN entries DROP NOT NULL, ALTER COLUMN size_exact DROP NOT NULL, ' +
    'ALTER COLUMN resends DROP NOT NULL, ALTER COLUMN entries DROP DEFAULT, ALTER COLUMN resends DROP DEFAULT',
  'CREATE OR REPLACE VIEW delivery_log AS SELECT webhook_uid, entry_id, outcome, received_at, ' +
    'COALESCE(entries, 1) AS entries FROM delivery',
  FUNCTION.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
    .replace(', entries, slot_at)', ', slot_at)')
    .replace(', 1, decided_at', ', decided_at')
    .replace('d.size_exact,', 'NULLIF(d.size_exact, 1),'),
];
