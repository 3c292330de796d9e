/**
 * What the whole HTTP interface needs beside the first schema: lists of runs by many filters, attachments, artifacts,
 * idempotency keys. contract §2, §3, §4.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Types {
  bytes: string;
  int: string;
  /** A computed column may be added to a table only like this. */
  computed: 'VIRTUAL' | 'STORED';
}

const SQLITE: Types = { bytes: 'BLOB', int: 'INTEGER', computed: 'VIRTUAL' };
const POSTGRES: Types = { bytes: 'BYTEA', int: 'BIGINT', computed: 'STORED' };

export class Interface1700000000002 implements MigrationInterface {
  readonly name = 'Interface1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    const isPostgres = runner.dataSource.options.type === 'postgres';
    const before = isPostgres ? [TITLES_IN_BINARY_ORDER] : [];
    const after = isPostgres ? POSTGRES_TRIGGERS : SQLITE_TRIGGERS;
    for (const statement of [...before, ...statements(isPostgres ? POSTGRES : SQLITE), ...after])
      await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

const ENDED = "('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";

/** Filters of a list whose matches are found by an index, newest change first. contract §3.7 (List). */
const LISTED_BY = [
  'state',
  'factory_uid',
  'config_name',
  'automation_uid',
  'webhook_uid',
  'delivery_id',
  'creator_uid',
  'executor_uid',
  'source',
  'model_id',
  'environment_id',
  'skill_spec',
  'schedule_id',
];

function statements({ bytes, int, computed }: Types): string[] {
  return [
    ...[
      'executor_uid',
      'model_id',
      'environment_id',
      'skill_spec',
      'conversation_id',
      'parent_run_id',
      'schedule_id',
      'trigger_url',
    ].map((column) => `ALTER TABLE run ADD COLUMN ${column} TEXT`),
    `ALTER TABLE run ADD COLUMN mode TEXT NOT NULL DEFAULT 'normal'`,
    `ALTER TABLE run ADD COLUMN interactive ${int} NOT NULL DEFAULT 0`,
    // Time of its last change, once a run has ended; unknown while it is open.
    `ALTER TABLE run ADD COLUMN settled_at ${int} GENERATED ALWAYS AS (CASE WHEN state IN ${ENDED} ` +
      `THEN updated_at END) ${computed}`,
    // Open runs are few and change often: one index that grows at its end is read through, and has what they are mostly
    // asked for. Ended runs are many and change no more: they enter the indexes of the list when they end, so that
    // neither an acceptance nor a change of state pays for them.
    'DROP INDEX run_updated',
    'CREATE INDEX run_open ON run (updated_at, run_id, factory_uid, state, created_at, config_name, ' +
      'creator_uid) WHERE settled_at IS NULL',
    'CREATE INDEX run_settled ON run (settled_at, run_id) WHERE settled_at IS NOT NULL',
    ...LISTED_BY.map(
      (column) =>
        `CREATE INDEX run_settled_${column} ON run (${column}, settled_at, run_id) ` +
        `WHERE settled_at IS NOT NULL AND ${column} IS NOT NULL`,
    ),
    'CREATE INDEX run_settled_factory_state ON run (factory_uid, state, settled_at, run_id) ' +
      'WHERE settled_at IS NOT NULL AND factory_uid IS NOT NULL',
    'CREATE INDEX run_settled_factory_config ON run (factory_uid, config_name, settled_at, run_id) ' +
      'WHERE settled_at IS NOT NULL AND factory_uid IS NOT NULL AND config_name IS NOT NULL',
    'CREATE INDEX run_settled_created ON run (created_at, run_id) WHERE settled_at IS NOT NULL',
    'CREATE INDEX run_settled_title ON run (title, run_id) WHERE settled_at IS NOT NULL',
    'CREATE INDEX run_settled_factory_title ON run (factory_uid, title, run_id) WHERE settled_at IS NOT NULL ' +
      'AND factory_uid IS NOT NULL',
    ...['state', 'factory_uid', 'config_name'].map(
      (column) =>
        `CREATE INDEX run_settled_${column}_created ON run (${column}, created_at, run_id) ` +
        `WHERE settled_at IS NOT NULL AND ${column} IS NOT NULL`,
    ),
    'CREATE INDEX run_parent ON run (parent_run_id) WHERE parent_run_id IS NOT NULL',
    // Only of runs that continue another's conversation: the others are their own.
    'CREATE INDEX run_conversation ON run (conversation_id, run_id) WHERE conversation_id IS NOT NULL',

    `CREATE TABLE run_metadata (
      run_id TEXT NOT NULL REFERENCES run (run_id), key TEXT NOT NULL, value TEXT NOT NULL, settled_at ${int}, PRIMARY
      KEY (run_id, key))`,
    'CREATE INDEX run_metadata_settled ON run_metadata (key, value, settled_at, run_id) WHERE settled_at IS NOT NULL',

    // Files of a request, for the workspace of the execution that takes it.
    `CREATE TABLE attachment (
      run_id TEXT NOT NULL REFERENCES run (run_id), followup_id TEXT NOT NULL, file_name TEXT NOT NULL, mime_type TEXT
      NOT NULL,
      size ${int} NOT NULL, bytes ${bytes} NOT NULL, PRIMARY KEY (run_id, followup_id, file_name))`,
    `CREATE TABLE artifact (
      artifact_uid TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (run_id), execution_id TEXT NOT NULL,
      artifact_type TEXT NOT NULL,
      at ${int} NOT NULL, details TEXT NOT NULL, bytes ${bytes})`,
    'CREATE INDEX artifact_run ON artifact (run_id, artifact_uid)',
    'CREATE INDEX artifact_of_type ON artifact (artifact_type, run_id)',
    `ALTER TABLE followup ADD COLUMN mode TEXT NOT NULL DEFAULT 'normal'`,
    // What a timeline tells of an execution beside its claim, start and end, and where in the run's log it begins.
    ...['prepared_at', 'cancel_requested_at', 'first_seq'].map(
      (column) => `ALTER TABLE execution ADD COLUMN ${column} ${int}`,
    ),
    // Few entries of a log belong to no execution: the ends that came before one.
    'CREATE INDEX run_event_of_none ON run_event (run_id, seq) WHERE execution_id IS NULL',

    // Label of an automation, and the exact text of the files that people edit.
    `ALTER TABLE automation ADD COLUMN name TEXT NOT NULL DEFAULT ''`,
    'UPDATE automation SET name = slug',
    'ALTER TABLE automation ADD COLUMN text TEXT',
    'ALTER TABLE webhook ADD COLUMN text TEXT',

    // The log is listed by outcome, too: the outcome stands in the index that every entry enters anyway.
    'DROP INDEX delivery_webhook',
    'CREATE INDEX delivery_webhook ON delivery (webhook_uid, entry_id, outcome)',

    // First characters of a key, so that people can tell keys apart.
    `ALTER TABLE api_key ADD COLUMN hint TEXT NOT NULL DEFAULT 'mw_…'`,
    'ALTER TABLE api_key ADD COLUMN created_by TEXT',
    // The answer to a POST that named an idempotency key; without an answer it is under way. contract §3.2 (Create).
    `CREATE TABLE idempotency (
      principal_uid TEXT NOT NULL, scope TEXT NOT NULL, idempotency_key TEXT NOT NULL, request_hash ${bytes} NOT NULL,
      status ${int}, answer TEXT, at ${int} NOT NULL, lease_until ${int} NOT NULL, PRIMARY KEY (principal_uid, scope,
      idempotency_key))`,
    'CREATE INDEX idempotency_at ON idempotency (at)',
    'ALTER TABLE audit_entry ADD COLUMN key_id TEXT',
    // The trail is listed newest first, whole or by one of its members.
    'CREATE INDEX audit_at ON audit_entry (at, id)',
    ...['principal_uid', 'action', 'subject', 'factory_uid'].map(
      (column) => `CREATE INDEX audit_${column} ON audit_entry (${column}, at, id)`,
    ),
  ];
}

/** SQLite compares bytes by itself. contract §3.7 (binary collation). */
const TITLES_IN_BINARY_ORDER = 'ALTER TABLE run ALTER COLUMN title TYPE TEXT COLLATE "C"';

// A run's metadata is found in the order of the list: the copy of its time follows it, whoever changes the run.
const SQLITE_TRIGGERS = [
  `CREATE TRIGGER run_metadata_follows AFTER UPDATE OF state, updated_at ON run
   WHEN (OLD.state IN ${ENDED}) <> (NEW.state IN ${ENDED}) OR (NEW.state IN ${ENDED}
   AND OLD.updated_at <> NEW.updated_at)
   BEGIN
     UPDATE run_metadata SET settled_at = CASE WHEN NEW.state IN ${ENDED} THEN NEW.updated_at END
     WHERE run_id = NEW.run_id;
   END`,
];

const POSTGRES_TRIGGERS = [
  `CREATE FUNCTION run_metadata_follows() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     UPDATE run_metadata SET settled_at = NEW.settled_at WHERE run_id = NEW.run_id;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER run_metadata_follows AFTER UPDATE ON run FOR EACH ROW
   WHEN (OLD.settled_at IS DISTINCT FROM NEW.settled_at) EXECUTE FUNCTION run_metadata_follows()`,
];
