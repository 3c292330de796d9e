/**
 * What several machines need: where a run wants to be worked on, whether a queue was told of it, and what each process
 * is. contract §9; explanation: Engine.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ManyMachines1700000000006 implements MigrationInterface {
  readonly name = 'ManyMachines1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    const isShared = runner.dataSource.options.type === 'postgres';
    for (const statement of [...statements(isShared ? 'BIGINT' : 'INTEGER'), ...(isShared ? OUTBOX : [])])
      await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** Where there is one process, nobody has to be told. */
const OUTBOX = [
  "CREATE INDEX run_untold ON run (run_id) WHERE state = 'QUEUED' AND (told_epoch IS NULL OR told_epoch < epoch)",
];

function statements(int: string): string[] {
  return [
    // The machine that a run asks for; without one any will do.
    'ALTER TABLE run ADD COLUMN worker_host TEXT',
    // The epoch that the queue of a distributed engine was told of last: a waiting run of a higher one is an entry of
    // the outbox.
    `ALTER TABLE run ADD COLUMN told_epoch ${int}`,
    // By the machine that is asked for, then by factory, oldest first: what waits for another machine is nowhere looked
    // at.
    'DROP INDEX run_queue',
    "CREATE INDEX run_queue ON run (COALESCE(worker_host, ''), COALESCE(factory_uid, ''), run_id, " +
      "automation_uid, concurrency_group, environment_id) WHERE state = 'QUEUED'",

    // Which program a process is, what it does and where: a program of another version is refused while one lives.
    "ALTER TABLE replica ADD COLUMN version TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE replica ADD COLUMN roles TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE replica ADD COLUMN host TEXT NOT NULL DEFAULT ''",

    // How far each sweep of old rows is, and which process does it: one at a time.
    `CREATE TABLE sweep (name TEXT PRIMARY KEY, place TEXT NOT NULL, owner TEXT, lease_until ${int} NOT NULL, ` +
      `done_at ${int} NOT NULL)`,
  ];
}
