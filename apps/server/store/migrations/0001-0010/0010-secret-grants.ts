/**
 * Secrets belong to definitions, and hosts to secrets: which runs may have one, and where its value may go. Those that
 * are there are for what files name, and for the host that they go to next, like new ones.
 * contract §2.2 (Managed secrets).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SecretGrants1700000000010 implements MigrationInterface {
  readonly name = 'SecretGrants1700000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE secret ADD COLUMN grant_runs TEXT NOT NULL DEFAULT '"files"'`);
    await runner.query('ALTER TABLE secret ADD COLUMN grant_hosts TEXT');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
