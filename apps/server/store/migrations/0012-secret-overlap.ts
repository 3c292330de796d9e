/** The value that a webhook accepts beside the one that it is bound to, and until when. contract §9.5. */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SecretOverlap1700000000012 implements MigrationInterface {
  readonly name = 'SecretOverlap1700000000012';

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    await runner.query(`ALTER TABLE webhook ADD COLUMN previous_secret_version ${int}`);
    await runner.query(`ALTER TABLE webhook ADD COLUMN previous_secret_until ${int}`);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
