/** Schedules that are made over the API, and how far the ticks of each were handled. contract §12.8 (Schedules). */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ScheduledAgents1700000000016 implements MigrationInterface {
  readonly name = 'ScheduledAgents1700000000016';

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    await runner.query(
      'CREATE TABLE scheduled_agent (schedule_id TEXT PRIMARY KEY, factory_uid TEXT, name TEXT NOT NULL, ' +
        'cron TEXT NOT NULL, prompt TEXT, agent_config TEXT NOT NULL, metadata TEXT NOT NULL, mode TEXT NOT NULL, ' +
        `enabled ${int} NOT NULL, creator_uid TEXT NOT NULL, updater_uid TEXT NOT NULL, version ${int} NOT NULL, ` +
        `created_at ${int} NOT NULL, updated_at ${int} NOT NULL, handled_until ${int} NOT NULL, ` +
        `last_fired_at ${int}, missed ${int} NOT NULL, last_missed_at ${int})`,
    );
    await runner.query('CREATE INDEX scheduled_agent_factory ON scheduled_agent (factory_uid)');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
