/** The machines that runs ask for are found without looking at the runs that wait. */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SnapshotHosts1700000000024 implements MigrationInterface {
  readonly name = 'SnapshotHosts1700000000024';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX run_snapshot_host ON run_snapshot (worker_host) WHERE worker_host IS NOT NULL');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
