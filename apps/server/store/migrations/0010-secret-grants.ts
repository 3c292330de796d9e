/**
 * Secrets belong to definitions: which runs may have one. Those that are there are for what files name, like new ones.
 * contract §2.2 (Managed secrets).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SecretGrants1700000000010 implements MigrationInterface {
  readonly name = 'SecretGrants1700000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE secret ADD COLUMN grant_runs TEXT NOT NULL DEFAULT '"files"'`);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
