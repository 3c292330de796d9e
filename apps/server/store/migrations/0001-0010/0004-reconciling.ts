/**
 * What trust in reconciling needs: conditions with their times, events, revisions, policies, the blob behind every
 * object, and who serves. contract §9.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Types {
  int: string;
  keyed: string;
}

const SQLITE: Types = { int: 'INTEGER', keyed: ' WITHOUT ROWID' };
const POSTGRES: Types = { int: 'BIGINT', keyed: '' };

/**
 * Gives recorded passes the ID of their revision: what stands behind the last `@sha1:` or `@sha256:` of a commit's, all
 * of a directory's.
 */
export const PASSES_NAMED = `UPDATE sync_pass SET revision_id = CASE WHEN revision LIKE '%@sha1:%'
  AND substr(revision, length(revision) - 45, 6) = '@sha1:' THEN substr(revision, length(revision) - 39)
  WHEN revision LIKE '%@sha256:%' THEN substr(revision, length(revision) - 63) ELSE revision END
  WHERE revision IS NOT NULL`;

export class Reconciling1700000000004 implements MigrationInterface {
  readonly name = 'Reconciling1700000000004';

  async up(runner: QueryRunner): Promise<void> {
    const types = runner.dataSource.options.type === 'postgres' ? POSTGRES : SQLITE;
    for (const statement of statements(types)) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

function statements({ int, keyed }: Types): string[] {
  return [
    // What an admin asks of commits before they may apply, and when; JSON of SyncPolicy.
    "ALTER TABLE factory ADD COLUMN sync_policy TEXT NOT NULL DEFAULT '{}'",
    // Every condition as the last pass left it, with the time since when its status is what it is; JSON text.
    "ALTER TABLE factory ADD COLUMN conditions TEXT NOT NULL DEFAULT '{}'",
    // The last time that the branch's history was rewritten; JSON of Rewrite, null while it never was.
    'ALTER TABLE factory ADD COLUMN rewrite TEXT',
    // How the applied revision was applied, for when it is judged again; JSON of HowApplied.
    'ALTER TABLE factory ADD COLUMN how_applied TEXT',

    // Object ID that git gives the file behind an object; null for what was made over the API.
    'ALTER TABLE webhook ADD COLUMN blob TEXT',
    'ALTER TABLE automation ADD COLUMN blob TEXT',
    'ALTER TABLE resource ADD COLUMN blob TEXT',

    // Revision that the branch held before, where the pass found it rewritten.
    'ALTER TABLE sync_pass ADD COLUMN rewritten_from TEXT',
    // How many commits came between the one before and this one, and were never applied by themselves.
    `ALTER TABLE sync_pass ADD COLUMN superseded ${int} NOT NULL DEFAULT 0`,

    // ID of the revision (the commit of `branch@sha1:…`, or the text itself): who waits for a commit asks again and
    // again what became of it.
    'ALTER TABLE sync_pass ADD COLUMN revision_id TEXT',
    PASSES_NAMED,
    'CREATE INDEX sync_pass_revision ON sync_pass (factory_uid, revision_id, id)',

    // What happened to a factory, for people; newest are kept.
    `CREATE TABLE factory_event (
      id TEXT PRIMARY KEY, factory_uid TEXT NOT NULL, at ${int} NOT NULL, type TEXT NOT NULL, reason TEXT NOT NULL,
      message TEXT NOT NULL,
      revision TEXT, pass_id TEXT)${keyed}`,
    'CREATE INDEX factory_event_factory ON factory_event (factory_uid, id)',

    // Commits (or directory revisions) that passes have accepted. Every acceptance of a tip has a number: the one that
    // a revision came with, the last one whose tip it was, the one that lost it (0: none). A tip holds what came up to
    // its number and was not lost by then.
    `CREATE TABLE revision (
      factory_uid TEXT NOT NULL, revision TEXT NOT NULL, ordinal ${int} NOT NULL, seen_at ${int} NOT NULL, lost ${int}
      NOT NULL, tip ${int} NOT NULL, pass_id TEXT,
      PRIMARY KEY (factory_uid, revision))${keyed}`,
    'CREATE INDEX revision_ordinal ON revision (factory_uid, ordinal)',

    // A plan counts the runs behind everything that it touches: what it counts stands in the indexes that ended runs
    // enter anyway.
    ...['automation_uid', 'webhook_uid'].flatMap((column) => recounted(column, 'state')),
    ...['environment_id', 'skill_spec'].flatMap((column) => recounted(column, 'factory_uid, state')),

    // Processes that take deliveries in, and the serving version that each has loaded.
    `CREATE TABLE replica (owner TEXT PRIMARY KEY, started_at ${int} NOT NULL, seen_at ${int} NOT NULL, ` +
      `serving_version ${int} NOT NULL)${keyed}`,
  ];
}

/** The index of ended runs by one column, with more columns at its end. */
function recounted(column: string, more: string): string[] {
  return [
    `DROP INDEX run_settled_${column}`,
    `CREATE INDEX run_settled_${column} ON run (${column}, settled_at, run_id, ${more}) ` +
      `WHERE settled_at IS NOT NULL AND ${column} IS NOT NULL`,
  ];
}
