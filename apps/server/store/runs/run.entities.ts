/** Tables of runs: the run itself, and what belongs to it (metadata, executions, log, follow-ups, questions, files). */
import type { DeferredTable } from '../database/deferred-index.ts';
import { columnsOnlyOn, defineTable, type RowOf, type StoredRowOf, variedOnPostgres } from '../database/table.ts';

/** Runs. `settled_at`: computed, the time of the last change once a run has ended. */
export const RUN = defineTable(
  'run',
  {
    run_id: 'key',
    title: 'text',
    state: 'text',
    prompt: 'text',
    submitted_prompt: 'text?',
    source: 'text',
    creator_uid: 'text',
    config_name: 'text?',
    agent_config: 'text',
    metadata: 'text',
    factory_uid: 'text?',
    automation_uid: 'text?',
    webhook_uid: 'text?',
    entry_id: 'text?',
    delivery_id: 'text?',
    definition_revision: 'text?',
    status_message: 'text?',
    error_code: 'text?',
    retryable: 'int?',
    session_id: 'text?',
    execution_id: 'text?',
    epoch: 'int',
    takeovers: 'int',
    lease_owner: 'text?',
    lease_until: 'int?',
    prompt_taken_at: 'int?',
    /** The machine that it asks for. */
    worker_host: 'text?',
    /** Epoch that the queue of a distributed engine was last sent. */
    told_epoch: 'int?',
    cancel_requested_at: 'int?',
    /** Why, where nobody asked for it. */
    cancel_reason: 'text?',
    created_at: 'int',
    updated_at: 'int',
    started_at: 'int?',
    finished_at: 'int?',
    /** Who works for whom: the creator, where it is null. */
    executor_uid: 'text?',
    model_id: 'text?',
    environment_id: 'text?',
    skill_spec: 'text?',
    /** Null: the run is its own conversation, under its own ID. */
    conversation_id: 'text?',
    parent_run_id: 'text?',
    schedule_id: 'text?',
    trigger_url: 'text?',
    mode: 'text',
    interactive: 'int',
    /** JSON of RunLimits; null: none but the operator's. */
    limits: 'text?',
    /** JSON of the automation's `network`; null: it says nothing. */
    network: 'text?',
    concurrency_group: 'text?',
    when_busy: 'text?',
    schedule_name: 'text?',
    schedule_cron: 'text?',
    scheduled_at: 'int?',
    tokens: 'int?',
    cost_micros: 'int?',
    cost_currency: 'text?',
    usage_meter: 'text?',
    skill_commit: 'text?',
  },
  { settled_at: 'int?' },
);

/** Row of `run`. */
export type RunRow = RowOf<typeof RUN>;

/** The same with everything that is stored. */
export type StoredRunRow = StoredRowOf<typeof RUN>;

/** What runs of one automation and webhook share, named by its contents; see WebhookRunSnapshot. Never changed. */
export const RUN_SNAPSHOT = defineTable('run_snapshot', {
  digest: 'bytes key',
  title: 'text',
  prompt_head: 'text',
  prompt_middle: 'text',
  prompt_tail: 'text',
  creator_uid: 'text',
  config_name: 'text?',
  agent_config: 'text',
  metadata: 'text',
  factory_uid: 'text',
  automation_uid: 'text',
  webhook_uid: 'text',
  definition_revision: 'text',
  model_id: 'text?',
  environment_id: 'text?',
  skill_spec: 'text?',
  worker_host: 'text?',
  limits: 'text?',
  network: 'text?',
});

/** What a run that waits is queued by; all of it is its snapshot's. */
const QUEUED_BY = ['worker_host', 'factory_uid', 'automation_uid', 'environment_id'];

/**
 * Runs of deliveries that nobody has touched yet: everything else about one stands in its snapshot and in the log entry
 * of its delivery. `quoted_delivery_id`: as the prompt says it, where that is more than the ID in quotes. The queue is
 * an index of this table on PostgreSQL, a table of its own on SQLite.
 */
export const WAITING_RUN = columnsOnlyOn(
  'postgres',
  QUEUED_BY,
  variedOnPostgres(
    { entry_id: 'uuid' },
    defineTable('waiting_run', {
      run_id: 'key',
      entry_id: 'text',
      snapshot: 'bytes',
      created_at: 'int',
      quoted_delivery_id: 'text?',
      worker_host: 'text',
      factory_uid: 'text',
      automation_uid: 'text',
      environment_id: 'text?',
    }),
  ),
);

/** The same runs in the order in which they are claimed. Read it behind `catchUp`. */
export const WAITING_QUEUE: DeferredTable = {
  name: 'waiting_queue',
  source: 'waiting_run',
  columns: ['worker_host', 'factory_uid', 'run_id', 'automation_uid', 'environment_id'],
  own: { columns: QUEUED_BY, view: 'queued_run' },
  leading: 'factory_uid',
  order: 'run_id',
};

/** States as statements list them: worked on, over, and everything that is not over. */
export const LIVE_STATES = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
export const ENDED_STATES = "('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";
export const OPEN_STATES = "('QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";

/** The caller's metadata, by which lists find a run; `settled_at` follows the run's by a trigger. */
export const RUN_METADATA = defineTable('run_metadata', {
  run_id: 'key',
  key: 'key',
  value: 'text',
  settled_at: 'int?',
});

/** Executions of a run, one for each epoch. `first_seq`: where in the run's log it begins. */
export const EXECUTION = defineTable('execution', {
  execution_id: 'key',
  run_id: 'text',
  epoch: 'int',
  owner: 'text',
  process: 'text?',
  sandbox: 'text?',
  outcome: 'text?',
  took_prompt: 'int?',
  claimed_at: 'int',
  started_at: 'int?',
  finished_at: 'int?',
  prepared_at: 'int?',
  cancel_requested_at: 'int?',
  first_seq: 'int?',
});

/** Row of `execution`. */
export type ExecutionRow = RowOf<typeof EXECUTION>;

/** The log of a run, numbered from 1 on without gaps; `body`: JSON. */
export const RUN_EVENT = defineTable('run_event', {
  run_id: 'key',
  seq: 'int key',
  execution_id: 'text?',
  at: 'int',
  kind: 'text',
  body: 'text',
});

/** Row of `run_event`. */
export type RunEventRow = RowOf<typeof RUN_EVENT>;

/**
 * Messages to a run. `taken_seq`: where in the log an execution took it, unless at its beginning; `permission_id`: the
 * question that it answered.
 */
export const FOLLOWUP = defineTable('followup', {
  followup_id: 'key',
  run_id: 'text',
  at: 'int',
  principal_uid: 'text',
  message: 'text',
  outcome: 'text',
  taken_at: 'int?',
  execution_id: 'text?',
  mode: 'text',
  taken_seq: 'int?',
  permission_id: 'text?',
});

/** Row of `followup`. */
export type FollowupRow = RowOf<typeof FOLLOWUP>;

/** Questions of agents to people; `question`: JSON. */
export const PERMISSION = defineTable('permission', {
  permission_id: 'key',
  run_id: 'text',
  execution_id: 'text',
  asked_at: 'int',
  question: 'text',
  answered_at: 'int?',
  option_id: 'text?',
  principal_uid: 'text?',
});

/** Row of `permission`. */
export type PermissionRow = RowOf<typeof PERMISSION>;

/** Requests to end the turn that an execution works on; `closed_at`: it goes on with something else, or is over. */
export const RUN_INTERRUPT = defineTable('run_interrupt', {
  run_id: 'key',
  interrupt_id: 'key',
  execution_id: 'text',
  at: 'int',
  principal_uid: 'text',
  closed_at: 'int?',
});

/** Named defaults of runs; `settings`: JSON of AgentIdentitySettings. */
export const AGENT_IDENTITY = defineTable('agent_identity', {
  uid: 'key',
  factory_uid: 'text?',
  name: 'text',
  settings: 'text',
  created_at: 'int',
  created_by: 'text',
  updated_at: 'int',
});

/** Row of `agent_identity`. */
export type AgentIdentityRow = RowOf<typeof AGENT_IDENTITY>;

/**
 * Files of a request, for the workspace of the execution that takes it; `followup_id` is '' for those of the run
 * itself.
 */
export const ATTACHMENT = defineTable(
  'attachment',
  { run_id: 'key', followup_id: 'key', file_name: 'key', mime_type: 'text', size: 'int' },
  { bytes: 'bytes' },
);

/** What a run has made; `details`: JSON of ArtifactDetails. */
export const ARTIFACT = defineTable(
  'artifact',
  {
    artifact_uid: 'key',
    run_id: 'text',
    execution_id: 'text',
    artifact_type: 'text',
    at: 'int',
    details: 'text',
  },
  { bytes: 'bytes?' },
);

/** Row of `artifact`, without its bytes. */
export type ArtifactRow = RowOf<typeof ARTIFACT>;
