/**
 * The master key rotates: which one wraps a value, which one comes next, and which ones each process has.
 * contract §2.3 (Encryption at rest).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MasterKeys1700000000011 implements MigrationInterface {
  readonly name = 'MasterKeys1700000000011';

  async up(runner: QueryRunner): Promise<void> {
    const bytes = runner.dataSource.options.type === 'postgres' ? 'BYTEA' : 'BLOB';
    await runner.query(`ALTER TABLE installation ADD COLUMN next_master_key_proof ${bytes}`);
    await runner.query('ALTER TABLE secret_value ADD COLUMN wrapped_by TEXT');
    await runner.query("ALTER TABLE replica ADD COLUMN master_keys TEXT NOT NULL DEFAULT ''");
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
