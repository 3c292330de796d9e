/** What several machines need: where a run wants to be worked on, whether a queue was told of it, and what each process is. contract 9; reference: Engine. */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ManyMachines1700000000006 implements MigrationInterface {
  readonly name = 'ManyMachines1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    for (const statement of statements(int)) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

function statements(int: string): string[] {
  return [
    // The machine that a run asks for; without one any will do.
    'ALTER TABLE run ADD COLUMN worker_host TEXT',
    // The epoch that the queue of a distributed engine was told of last: a waiting run of a higher one is an entry of the outbox.
    `ALTER TABLE run ADD COLUMN told_epoch ${int}`,

    // Which program a process is, what it does and where: a program of another version is refused while one lives.
    "ALTER TABLE replica ADD COLUMN version TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE replica ADD COLUMN roles TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE replica ADD COLUMN host TEXT NOT NULL DEFAULT ''",
  ];
}
