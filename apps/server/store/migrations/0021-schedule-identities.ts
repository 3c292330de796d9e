/** The agent identity of a schedule, and what of its request was ignored. contract §12.8 (Schedules). */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ScheduleIdentities1700000000021 implements MigrationInterface {
  readonly name = 'ScheduleIdentities1700000000021';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE scheduled_agent ADD COLUMN agent_identity_uid TEXT');
    await runner.query("ALTER TABLE scheduled_agent ADD COLUMN ignored TEXT NOT NULL DEFAULT '[]'");
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
