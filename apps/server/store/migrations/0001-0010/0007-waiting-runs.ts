/**
 * Runs of deliveries that wait: a reference to a snapshot and to the log entry of the delivery, until somebody touches
 * the run. contract §5.8 (Transaction).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Types {
  bytes: string;
  int: string;
  /** Tail of a table of small rows whose primary key is its storage order. */
  keyed: string;
  /** Of titles, by which lists are sorted. */
  binary: string;
  /** The time of receipt as a prompt says it. */
  receivedAt: string;
  /** The order in which waiting runs are claimed. */
  queue: readonly string[];
}

const QUEUE_COLUMNS = 'worker_host, factory_uid, run_id, automation_uid, environment_id';

const SQLITE: Types = {
  bytes: 'BLOB',
  int: 'INTEGER',
  keyed: ' WITHOUT ROWID',
  binary: '',
  receivedAt:
    "strftime('%Y-%m-%dT%H:%M:%S', d.received_at / 1000, 'unixepoch') || printf('.%03dZ', d.received_at % 1000)",
  queue: [
    // Filled later: its place for a factory's run is a page that no other delivery of the moment touches.
    'CREATE TABLE waiting_queue (worker_host TEXT NOT NULL, factory_uid TEXT NOT NULL, run_id TEXT NOT NULL, ' +
      'automation_uid TEXT NOT NULL, environment_id TEXT, PRIMARY KEY (worker_host, factory_uid, run_id)) ' +
      'WITHOUT ROWID',
    'CREATE TRIGGER waiting_queue_delete AFTER DELETE ON waiting_run BEGIN DELETE FROM waiting_queue ' +
      'WHERE worker_host = old.worker_host AND factory_uid = old.factory_uid AND run_id = old.run_id; END',
  ],
};
const POSTGRES: Types = {
  bytes: 'BYTEA',
  int: 'BIGINT',
  keyed: '',
  binary: ' COLLATE "C"',
  receivedAt:
    `to_char(to_timestamp(d.received_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') || '.' || ` +
    `lpad(CAST(d.received_at % 1000 AS TEXT), 3, '0') || 'Z'`,
  queue: [
    `CREATE INDEX waiting_run_queue ON waiting_run (${QUEUE_COLUMNS})`,
    `CREATE VIEW waiting_queue AS SELECT ${QUEUE_COLUMNS} FROM waiting_run`,
  ],
};

export class WaitingRuns1700000000007 implements MigrationInterface {
  readonly name = 'WaitingRuns1700000000007';

  async up(runner: QueryRunner): Promise<void> {
    const dialect = runner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
    const statements = tables(dialect === 'postgres' ? POSTGRES : SQLITE);
    for (const statement of [...statements, ...runViews(dialect, RUN_VIEW_COLUMNS)]) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** A column of `run`, and what it is in a run that waits: `w` waits, `s` is its snapshot, `d` its delivery. */
export type RunViewColumn = readonly [name: string, waiting: string];

/** Columns of `run` as this version has them: a later migration adds its own, and makes the views anew with them. */
export const RUN_VIEW_COLUMNS: readonly RunViewColumn[] = [
  ['run_id', 'w.run_id'],
  ['title', 's.title'],
  ['state', text("'QUEUED'")],
  ['prompt', '@prompt'],
  ['submitted_prompt', text('NULL')],
  ['source', text("'CUSTOM_WEBHOOK'")],
  ['creator_uid', 's.creator_uid'],
  ['config_name', 's.config_name'],
  ['agent_config', 's.agent_config'],
  ['metadata', 's.metadata'],
  ['factory_uid', 's.factory_uid'],
  ['automation_uid', 's.automation_uid'],
  ['webhook_uid', 's.webhook_uid'],
  ['entry_id', 'w.entry_id'],
  ['delivery_id', 'd.delivery_id'],
  ['definition_revision', 's.definition_revision'],
  ...nothing(['status_message', 'error_code'], text),
  ...nothing(['retryable'], integer),
  ...nothing(['session_id', 'execution_id'], text),
  ['epoch', integer('0')],
  ['takeovers', integer('0')],
  ...nothing(['lease_owner'], text),
  ...nothing(['lease_until', 'prompt_taken_at'], integer),
  ['worker_host', 's.worker_host'],
  ...nothing(['told_epoch', 'cancel_requested_at'], integer),
  ...nothing(['cancel_reason'], text),
  ['created_at', 'w.created_at'],
  ['updated_at', 'w.created_at'],
  ...nothing(['started_at', 'finished_at'], integer),
  ...nothing(['executor_uid'], text),
  ['model_id', 's.model_id'],
  ['environment_id', 's.environment_id'],
  ['skill_spec', 's.skill_spec'],
  ...nothing(['conversation_id', 'parent_run_id', 'schedule_id', 'trigger_url'], text),
  ['mode', text("'normal'")],
  ['interactive', integer('0')],
  ['limits', 's.limits'],
  ['network', 's.network'],
  ...nothing(['concurrency_group', 'when_busy', 'schedule_name', 'schedule_cron'], text),
  ...nothing(['scheduled_at', 'tokens', 'cost_micros'], integer),
  ...nothing(['cost_currency', 'usage_meter', 'skill_commit'], text),
];

function text(value: string): string {
  return `CAST(${value} AS TEXT)`;
}

function integer(value: string): string {
  return `CAST(${value} AS BIGINT)`;
}

function nothing(names: readonly string[], type: (value: string) => string): (readonly [string, string])[] {
  return names.map((name) => [name, type('NULL')] as const);
}

/** A run that waits as the row of `run` that it becomes, column for column; and both as one. */
export function runViews(dialect: 'sqlite' | 'postgres', columns: readonly RunViewColumn[]): string[] {
  const { receivedAt } = dialect === 'postgres' ? POSTGRES : SQLITE;
  const prompt =
    `s.prompt_head || COALESCE(w.quoted_delivery_id, '"' || d.delivery_id || '"') || s.prompt_middle || ` +
    `${receivedAt} || s.prompt_tail`;
  const names = columns.map(([name]) => name).join(', ');
  const waiting = columns.map(([name, value]) => `${value === '@prompt' ? prompt : value} AS ${name}`).join(', ');
  return [
    `CREATE VIEW waiting_run_row AS SELECT ${waiting} FROM waiting_run w ` +
      'JOIN run_snapshot s ON s.digest = w.snapshot LEFT JOIN delivery d ON d.entry_id = w.entry_id',
    `CREATE VIEW every_run AS SELECT ${names} FROM run UNION ALL SELECT ${names} FROM waiting_run_row`,
  ];
}

function tables({ bytes, int, keyed, binary, queue }: Types): string[] {
  return [
    `CREATE TABLE run_snapshot (digest ${bytes} PRIMARY KEY, title TEXT${binary} NOT NULL, ` +
      'prompt_head TEXT NOT NULL, prompt_middle TEXT NOT NULL, prompt_tail TEXT NOT NULL, ' +
      'creator_uid TEXT NOT NULL, config_name TEXT, agent_config TEXT NOT NULL, metadata TEXT NOT NULL, ' +
      'factory_uid TEXT NOT NULL, automation_uid TEXT NOT NULL, ' +
      'webhook_uid TEXT NOT NULL, definition_revision TEXT NOT NULL, model_id TEXT, environment_id TEXT, ' +
      'skill_spec TEXT, worker_host TEXT, limits TEXT, network TEXT)',
    "CREATE INDEX run_snapshot_factory ON run_snapshot (factory_uid, COALESCE(worker_host, ''))",
    // Only ever appended to: its IDs grow.
    `CREATE TABLE waiting_run (run_id TEXT PRIMARY KEY, entry_id TEXT NOT NULL, snapshot ${bytes} NOT NULL, ` +
      `created_at ${int} NOT NULL, quoted_delivery_id TEXT, worker_host TEXT NOT NULL, factory_uid TEXT NOT NULL, ` +
      `automation_uid TEXT NOT NULL, environment_id TEXT)${keyed}`,
    ...queue,
  ];
}
