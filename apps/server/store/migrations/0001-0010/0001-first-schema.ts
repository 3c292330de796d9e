/** The first schema: installation, access, secrets, factories and what they hold, deliveries, runs. */
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Column types by dialect; times are milliseconds since the epoch, booleans 0 or 1, JSON is text. */
interface Types {
  bytes: string;
  int: string;
  /**
   * Tail of a table of small rows whose primary key is its storage order; rows above a quarter of a page would spill
   * into pages of their own.
   */
  keyed: string;
}

const SQLITE: Types = { bytes: 'BLOB', int: 'INTEGER', keyed: ' WITHOUT ROWID' };
const POSTGRES: Types = { bytes: 'BYTEA', int: 'BIGINT', keyed: '' };

export class FirstSchema1700000000001 implements MigrationInterface {
  readonly name = 'FirstSchema1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    const types = runner.dataSource.options.type === 'postgres' ? POSTGRES : SQLITE;
    for (const statement of statements(types)) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

function statements({ bytes, int, keyed }: Types): string[] {
  return [
    // One row: proofs that the keys on disk are the ones this database was made with.
    `CREATE TABLE installation (
      id ${int} PRIMARY KEY, master_key_proof ${bytes} NOT NULL, uid_key_proof ${bytes} NOT NULL, created_at ${int} NOT
      NULL)`,
    `CREATE TABLE principal (
      uid TEXT PRIMARY KEY, kind TEXT NOT NULL, display_name TEXT NOT NULL, email TEXT, created_at ${int} NOT NULL)`,
    `CREATE TABLE api_key (
      id TEXT PRIMARY KEY, principal_uid TEXT NOT NULL REFERENCES principal (uid), name TEXT NOT NULL, key_hash
      ${bytes} NOT NULL UNIQUE,
      role TEXT NOT NULL, factories TEXT, created_at ${int} NOT NULL, expires_at ${int}, revoked_at ${int},
      last_used_at ${int})`,
    `CREATE TABLE audit_entry (
      id TEXT PRIMARY KEY, at ${int} NOT NULL, principal_uid TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
      factory_uid TEXT, details TEXT NOT NULL, address TEXT)`,

    `CREATE TABLE secret (
      id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, grant_factories TEXT NOT NULL, grant_uses TEXT NOT
      NULL,
      version ${int} NOT NULL, created_at ${int} NOT NULL, updated_at ${int} NOT NULL, UNIQUE (owner, name))`,
    // A version is kept while it is the newest or while a webhook still serves it.
    `CREATE TABLE secret_value (
      secret_id TEXT NOT NULL REFERENCES secret (id) ON DELETE CASCADE, version ${int} NOT NULL,
      wrapped_key ${bytes} NOT NULL, sealed ${bytes} NOT NULL, usable_for TEXT NOT NULL, created_at ${int} NOT NULL,
      PRIMARY KEY (secret_id, version))${keyed}`,

    `CREATE TABLE serving_clock (id ${int} PRIMARY KEY, version ${int} NOT NULL)`,
    `INSERT INTO serving_clock (id, version) VALUES (1, 0)`,
    `CREATE TABLE factory (
      uid TEXT PRIMARY KEY, slug TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, source TEXT NOT NULL,
      definition TEXT NOT NULL, service_account_uid TEXT NOT NULL REFERENCES principal (uid),
      suspended ${int} NOT NULL, serving_version ${int} NOT NULL,
      generation_requested ${int} NOT NULL, generation_handled ${int} NOT NULL,
      revision_seen TEXT, revision_attempted TEXT, revision_applied TEXT, condition TEXT NOT NULL,
      failures ${int} NOT NULL, lease_owner TEXT, lease_until ${int} NOT NULL, fence ${int} NOT NULL,
      created_at ${int} NOT NULL, updated_at ${int} NOT NULL, deleted_at ${int})`,
    `CREATE UNIQUE INDEX factory_live_slug ON factory (slug) WHERE deleted_at IS NULL`,
    `CREATE INDEX factory_serving_version ON factory (serving_version)`,

    `CREATE TABLE webhook (
      uid TEXT PRIMARY KEY, factory_uid TEXT NOT NULL REFERENCES factory (uid), slug TEXT NOT NULL, name TEXT NOT NULL,
      auth_mode TEXT NOT NULL, signature_scheme TEXT, secret_name TEXT NOT NULL, secret_id TEXT, secret_version ${int},
      delivery_id_header TEXT, enabled ${int} NOT NULL, path TEXT NOT NULL, definition TEXT NOT NULL, revision TEXT NOT
      NULL,
      version ${int} NOT NULL, created_at ${int} NOT NULL, updated_at ${int} NOT NULL, deleted_at ${int})`,
    `CREATE INDEX webhook_factory ON webhook (factory_uid, slug)`,
    `CREATE INDEX webhook_secret ON webhook (secret_id)`,
    `CREATE TABLE automation (
      uid TEXT PRIMARY KEY, factory_uid TEXT NOT NULL REFERENCES factory (uid), slug TEXT NOT NULL, enabled ${int} NOT
      NULL,
      path TEXT NOT NULL, definition TEXT NOT NULL, revision TEXT NOT NULL,
      version ${int} NOT NULL, created_at ${int} NOT NULL, updated_at ${int} NOT NULL, deleted_at ${int})`,
    `CREATE INDEX automation_factory ON automation (factory_uid, slug)`,
    // Environments and skills: applied, versioned, resolved when a run starts.
    `CREATE TABLE resource (
      uid TEXT PRIMARY KEY, factory_uid TEXT NOT NULL REFERENCES factory (uid), kind TEXT NOT NULL, slug TEXT NOT NULL,
      path TEXT NOT NULL, definition TEXT NOT NULL, revision TEXT NOT NULL,
      version ${int} NOT NULL, created_at ${int} NOT NULL, updated_at ${int} NOT NULL, deleted_at ${int})`,
    `CREATE INDEX resource_factory ON resource (factory_uid, kind, slug)`,
    `CREATE TABLE sync_pass (
      id TEXT PRIMARY KEY, factory_uid TEXT NOT NULL REFERENCES factory (uid), triggers TEXT NOT NULL, started_at
      ${int} NOT NULL,
      finished_at ${int} NOT NULL, ending TEXT NOT NULL, reason TEXT, message TEXT, revision TEXT,
      problems TEXT NOT NULL, changes TEXT NOT NULL, held TEXT NOT NULL, digest TEXT, timings TEXT NOT NULL)`,
    `CREATE INDEX sync_pass_factory ON sync_pass (factory_uid, id)`,
    `CREATE TABLE approval (
      factory_uid TEXT NOT NULL REFERENCES factory (uid), digest TEXT NOT NULL, at ${int} NOT NULL, principal_uid TEXT
      NOT NULL,
      PRIMARY KEY (factory_uid, digest))${keyed}`,

    // What was accepted once is never accepted again; outlives the delivery log.
    `CREATE TABLE identity (
      webhook_uid TEXT NOT NULL, hash ${bytes} NOT NULL, accepted_at ${int} NOT NULL,
      PRIMARY KEY (webhook_uid, hash))${keyed}`,
    `CREATE TABLE delivery (
      entry_id TEXT PRIMARY KEY, webhook_uid TEXT NOT NULL, factory_uid TEXT NOT NULL, delivery_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      size ${int} NOT NULL, size_exact ${int} NOT NULL, received_at ${int} NOT NULL, client_address TEXT NOT NULL,
      revision TEXT NOT NULL,
      entries ${int} NOT NULL, slot_at ${int}, reason TEXT, decision TEXT, payload ${bytes}, payload_encoding TEXT)`,
    `CREATE INDEX delivery_webhook ON delivery (webhook_uid, entry_id)`,

    `CREATE TABLE run (
      run_id TEXT PRIMARY KEY, title TEXT NOT NULL, state TEXT NOT NULL, prompt TEXT NOT NULL, submitted_prompt TEXT,
      source TEXT NOT NULL, creator_uid TEXT NOT NULL, config_name TEXT, agent_config TEXT NOT NULL, metadata TEXT NOT
      NULL,
      factory_uid TEXT, automation_uid TEXT, webhook_uid TEXT, entry_id TEXT, delivery_id TEXT, definition_revision
      TEXT,
      status_message TEXT, error_code TEXT, retryable ${int}, session_id TEXT, execution_id TEXT,
      epoch ${int} NOT NULL, takeovers ${int} NOT NULL, lease_owner TEXT, lease_until ${int},
      prompt_taken_at ${int}, cancel_requested_at ${int},
      created_at ${int} NOT NULL, updated_at ${int} NOT NULL, started_at ${int}, finished_at ${int})`,
    // Each accepted delivery starts at most one run per automation. spec: Ordering.
    `CREATE UNIQUE INDEX run_start ON run (entry_id, automation_uid) WHERE entry_id IS NOT NULL`,
    // Grows at its end only, whatever the factories: the order in which runs are claimed, and their number by factory.
    `CREATE INDEX run_queue ON run (run_id, factory_uid) WHERE state = 'QUEUED'`,
    `CREATE INDEX run_leased ON run (lease_until) WHERE state IN ('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')`,
    `CREATE INDEX run_updated ON run (updated_at, run_id)`,
    `CREATE TABLE execution (
      execution_id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (run_id), epoch ${int} NOT NULL, owner TEXT
      NOT NULL,
      process TEXT, sandbox TEXT, outcome TEXT, took_prompt ${int}, claimed_at ${int} NOT NULL, started_at ${int},
      finished_at ${int})`,
    `CREATE INDEX execution_run ON execution (run_id, epoch)`,
    `CREATE TABLE run_event (
      run_id TEXT NOT NULL, seq ${int} NOT NULL, execution_id TEXT, at ${int} NOT NULL, kind TEXT NOT NULL, body TEXT
      NOT NULL,
      PRIMARY KEY (run_id, seq))`,
    `CREATE TABLE followup (
      followup_id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (run_id), at ${int} NOT NULL, principal_uid
      TEXT NOT NULL,
      message TEXT NOT NULL, outcome TEXT NOT NULL, taken_at ${int}, execution_id TEXT)`,
    `CREATE INDEX followup_run ON followup (run_id, followup_id)`,
  ];
}
