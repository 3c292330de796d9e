/**
 * Requests to end the turn that an agent works on, and agent identities. contract §3.13 (Interrupt), §3.14 (Agent
 * identities).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Interrupts1700000000017 implements MigrationInterface {
  readonly name = 'Interrupts1700000000017';

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    await runner.query(
      `CREATE TABLE run_interrupt (run_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, execution_id TEXT NOT NULL, ` +
        `at ${int} NOT NULL, principal_uid TEXT NOT NULL, closed_at ${int}, PRIMARY KEY (run_id, interrupt_id))`,
    );
    await runner.query(
      `CREATE TABLE agent_identity (uid TEXT NOT NULL PRIMARY KEY, factory_uid TEXT, name TEXT NOT NULL, ` +
        `settings TEXT NOT NULL, created_at ${int} NOT NULL, created_by TEXT NOT NULL, updated_at ${int} NOT NULL)`,
    );
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
