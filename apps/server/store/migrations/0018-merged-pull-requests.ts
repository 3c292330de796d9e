/** The commit that a merged pull request became part of its branch with. contract §9.9 (Feedback in pull requests). */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MergedPullRequests1700000000018 implements MigrationInterface {
  readonly name = 'MergedPullRequests1700000000018';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE pull_request ADD COLUMN merge_commit TEXT');
    await runner.query(
      'CREATE INDEX pull_request_merge ON pull_request (factory_uid, merge_commit) WHERE merge_commit IS NOT NULL',
    );
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
