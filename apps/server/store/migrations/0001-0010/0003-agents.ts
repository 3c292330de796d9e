/**
 * What agents need beside the interface: limits, groups, schedules, questions to people, usage, and the files of
 * skills. contract §3, §8, §10.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Types {
  bytes: string;
  int: string;
  keyed: string;
  /** A computed column may be added to a table only like this. */
  computed: 'VIRTUAL' | 'STORED';
}

const SQLITE: Types = { bytes: 'BLOB', int: 'INTEGER', keyed: ' WITHOUT ROWID', computed: 'VIRTUAL' };
const POSTGRES: Types = { bytes: 'BYTEA', int: 'BIGINT', keyed: '', computed: 'STORED' };

export class Agents1700000000003 implements MigrationInterface {
  readonly name = 'Agents1700000000003';

  async up(runner: QueryRunner): Promise<void> {
    const types = runner.dataSource.options.type === 'postgres' ? POSTGRES : SQLITE;
    for (const statement of statements(types)) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

function statements({ bytes, int, keyed, computed }: Types): string[] {
  return [
    // Snapshots of what its automation says of it; JSON text.
    'ALTER TABLE run ADD COLUMN limits TEXT',
    'ALTER TABLE run ADD COLUMN network TEXT',
    // Why a cancel was asked for, where nobody asked.
    'ALTER TABLE run ADD COLUMN cancel_reason TEXT',
    // Runs of one group take turns.
    'ALTER TABLE run ADD COLUMN concurrency_group TEXT',
    'ALTER TABLE run ADD COLUMN when_busy TEXT',
    `CREATE INDEX run_group ON run (concurrency_group, run_id) WHERE concurrency_group IS NOT NULL ` +
      `AND state IN ('QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')`,
    // By factory, oldest first: the next run is found without looking at all that wait. Grows at the end of each
    // factory, so that an acceptance writes few pages, however many automations there are.
    'DROP INDEX run_queue',
    `CREATE INDEX run_queue ON run (COALESCE(factory_uid, ''), run_id, automation_uid, concurrency_group) ` +
      `WHERE state = 'QUEUED'`,
    // The tick that started it: one start each, however many processes see it.
    'ALTER TABLE run ADD COLUMN schedule_name TEXT',
    'ALTER TABLE run ADD COLUMN schedule_cron TEXT',
    `ALTER TABLE run ADD COLUMN scheduled_at ${int}`,
    'CREATE UNIQUE INDEX run_tick ON run (schedule_id, scheduled_at) WHERE scheduled_at IS NOT NULL',
    // What it has used up, over all of its executions; money in millionths of the currency.
    `ALTER TABLE run ADD COLUMN tokens ${int}`,
    `ALTER TABLE run ADD COLUMN cost_micros ${int}`,
    'ALTER TABLE run ADD COLUMN cost_currency TEXT',
    // The count behind them, for the executions to come; JSON text.
    'ALTER TABLE run ADD COLUMN usage_meter TEXT',
    // Commit that its skill was read at.
    'ALTER TABLE run ADD COLUMN skill_commit TEXT',

    `ALTER TABLE automation ADD COLUMN scheduled ${int} GENERATED ALWAYS AS (CASE ` +
      `WHEN definition LIKE '%"provider":"schedule"%' THEN 1 ELSE 0 END) ${computed}`,
    'CREATE INDEX automation_scheduled ON automation (factory_uid) WHERE scheduled = 1 AND deleted_at IS NULL',
    // How far the ticks of a schedule have been handled.
    `CREATE TABLE schedule (
      schedule_id TEXT PRIMARY KEY, automation_uid TEXT NOT NULL, factory_uid TEXT NOT NULL, name TEXT, cron TEXT NOT
      NULL,
      handled_until ${int} NOT NULL, last_fired_at ${int}, missed ${int} NOT NULL, last_missed_at ${int})`,
    'CREATE INDEX schedule_automation ON schedule (automation_uid)',

    // A question of an agent to the people who steer its run.
    `CREATE TABLE permission (
      permission_id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (run_id), execution_id TEXT NOT NULL,
      asked_at ${int} NOT NULL,
      question TEXT NOT NULL, answered_at ${int}, option_id TEXT, principal_uid TEXT)`,
    'CREATE INDEX permission_run ON permission (run_id, permission_id)',
    'CREATE INDEX permission_open ON permission (run_id) WHERE answered_at IS NULL',
    // Where in the run's log an execution took it, unless at its beginning; and the question that it answered, where it
    // was an answer.
    `ALTER TABLE followup ADD COLUMN taken_seq ${int}`,
    'ALTER TABLE followup ADD COLUMN permission_id TEXT',

    // Files of a skill beside its SKILL.md, as they were applied.
    `CREATE TABLE resource_file (
      resource_uid TEXT NOT NULL REFERENCES resource (uid), path TEXT NOT NULL, content ${bytes} NOT NULL, digest TEXT
      NOT NULL, executable ${int} NOT NULL,
      PRIMARY KEY (resource_uid, path))${keyed}`,
  ];
}
