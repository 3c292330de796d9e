/**
 * Programs of before cannot read decisions of the delivery log that are written short, as this one writes them to
 * SQLite. contract §1.8 (Upgrades), §5.9 (Log).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ShortDecisions1700000000020 implements MigrationInterface {
  readonly name = 'ShortDecisions1700000000020';

  async up(runner: QueryRunner): Promise<void> {
    // PostgreSQL, which older programs may use beside this one, has them as JSON.
    if (runner.dataSource.options.type === 'postgres') return;
    await runner.query('UPDATE schema_reader SET oldest = 20 WHERE oldest < 20');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
