/**
 * The queue of runs that wait, on PostgreSQL, by the period in which they began to wait instead of by their IDs: all of
 * one lane and period have one key, which the index stores once. contract §3.6 (States).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class QueuePeriods1700000000025 implements MigrationInterface {
  readonly name = 'QueuePeriods1700000000025';

  async up(runner: QueryRunner): Promise<void> {
    if (runner.dataSource.options.type !== 'postgres') return; // the queue is a table of its own there
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

const STATEMENTS = [
  'DROP INDEX waiting_run_queue',
  // Programs of before find the same runs by it, and sort what they find.
  'CREATE INDEX waiting_run_queue ON waiting_run (worker_host, factory_uid, substr(run_id, 1, 8), automation_uid, ' +
    'environment_id)',
];
