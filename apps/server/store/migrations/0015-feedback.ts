/**
 * Open pull requests of followed repositories, what is to be said of their commits until the forge has it, and how each
 * forge answered last. contract §9.9 (Feedback in pull requests).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Feedback1700000000015 implements MigrationInterface {
  readonly name = 'Feedback1700000000015';

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    await runner.query(
      `CREATE TABLE forge (factory_uid TEXT PRIMARY KEY, place TEXT NOT NULL, polled_at ${int}, failures ${int} ` +
        `NOT NULL, fault TEXT, message TEXT, retry_at ${int} NOT NULL, pass_seen TEXT, lease_owner TEXT, ` +
        `lease_until ${int} NOT NULL)`,
    );
    await runner.query(
      `CREATE TABLE pull_request (factory_uid TEXT NOT NULL, number ${int} NOT NULL, title TEXT NOT NULL, ` +
        `author TEXT NOT NULL, url TEXT NOT NULL, head TEXT NOT NULL, base TEXT NOT NULL, is_fork ${int} NOT NULL, ` +
        `merge_base TEXT, state TEXT NOT NULL, judged TEXT, judged_against TEXT, attempts ${int} NOT NULL, ` +
        `comment TEXT, comment_digest TEXT, comment_posted TEXT, comment_id TEXT, commented_at ${int}, ` +
        `updated_at ${int} NOT NULL, PRIMARY KEY (factory_uid, number))`,
    );
    await runner.query(
      `CREATE TABLE commit_status (factory_uid TEXT NOT NULL, commit_id TEXT NOT NULL, number ${int}, ` +
        `state TEXT NOT NULL, description TEXT NOT NULL, version ${int} NOT NULL, posted_version ${int} NOT NULL, ` +
        `attempts ${int} NOT NULL, updated_at ${int} NOT NULL, PRIMARY KEY (factory_uid, commit_id))`,
    );
    await runner.query('CREATE INDEX commit_status_due ON commit_status (factory_uid) WHERE posted_version < version');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
