/** The tables that single-table reads go through, as TypeORM entities; the migrations are what makes them, a test compares the two. */
import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';

type Column = 'key' | 'text' | 'text?' | 'int' | 'int?';

/** Columns are text or integers (times: milliseconds since the epoch; booleans: 0 or 1; JSON: text). Bytes never come through here. */
function table<T extends object>(name: string, columns: Record<keyof T & string, Column>): EntitySchema<T> {
  const described = Object.entries<Column>(columns).map(([column, kind]) => [column, describe(kind)] as const);
  return new EntitySchema<T>({
    name,
    tableName: name,
    columns: Object.fromEntries(described) as EntitySchemaOptions<T>['columns'],
  });
}

function describe(kind: Column): EntitySchemaColumnOptions {
  return {
    type: kind.startsWith('int') ? 'bigint' : 'text',
    primary: kind === 'key',
    nullable: kind.endsWith('?'),
    transformer: kind.startsWith('int')
      ? { to: (value: unknown) => value, from: (value: unknown) => (value === null ? null : Number(value)) }
      : undefined,
  };
}

export interface FactoryRow {
  uid: string;
  slug: string;
  name: string;
  description: string;
  source: string;
  definition: string;
  service_account_uid: string;
  suspended: number;
  serving_version: number;
  generation_requested: number;
  generation_handled: number;
  revision_seen: string | null;
  revision_attempted: string | null;
  revision_applied: string | null;
  condition: string;
  /** JSON of the conditions with their times. */
  conditions: string;
  /** JSON of SyncPolicy. */
  sync_policy: string;
  /** JSON of Rewrite; null: never. */
  rewrite: string | null;
  /** JSON of HowApplied; null: nothing was, or by an older version. */
  how_applied: string | null;
  failures: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export const FACTORY = table<FactoryRow>('factory', {
  uid: 'key',
  slug: 'text',
  name: 'text',
  description: 'text',
  source: 'text',
  definition: 'text',
  service_account_uid: 'text',
  suspended: 'int',
  serving_version: 'int',
  generation_requested: 'int',
  generation_handled: 'int',
  revision_seen: 'text?',
  revision_attempted: 'text?',
  revision_applied: 'text?',
  condition: 'text',
  conditions: 'text',
  sync_policy: 'text',
  rewrite: 'text?',
  how_applied: 'text?',
  failures: 'int',
  created_at: 'int',
  updated_at: 'int',
  deleted_at: 'int?',
});

export interface WebhookRow {
  uid: string;
  factory_uid: string;
  slug: string;
  name: string;
  auth_mode: string;
  signature_scheme: string | null;
  secret_name: string;
  secret_id: string | null;
  secret_version: number | null;
  delivery_id_header: string | null;
  enabled: number;
  path: string;
  definition: string;
  /** Object ID that git gives the file; null for what was made over the API. */
  blob: string | null;
  revision: string;
  version: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export const WEBHOOK = table<WebhookRow>('webhook', {
  uid: 'key',
  factory_uid: 'text',
  slug: 'text',
  name: 'text',
  auth_mode: 'text',
  signature_scheme: 'text?',
  secret_name: 'text',
  secret_id: 'text?',
  secret_version: 'int?',
  delivery_id_header: 'text?',
  enabled: 'int',
  path: 'text',
  definition: 'text',
  blob: 'text?',
  revision: 'text',
  version: 'int',
  created_at: 'int',
  updated_at: 'int',
  deleted_at: 'int?',
});

/** Automations, environments and skills share their shape. */
export interface DefinitionRow {
  uid: string;
  factory_uid: string;
  slug: string;
  path: string;
  definition: string;
  /** Object ID that git gives the file; null for what was made over the API. */
  blob: string | null;
  revision: string;
  version: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

const DEFINITION_COLUMNS = {
  uid: 'key',
  factory_uid: 'text',
  slug: 'text',
  path: 'text',
  definition: 'text',
  blob: 'text?',
  revision: 'text',
  version: 'int',
  created_at: 'int',
  updated_at: 'int',
  deleted_at: 'int?',
} as const;

/** `name` is the label: the slug where no one chose another. */
export interface AutomationRow extends DefinitionRow {
  name: string;
  enabled: number;
}

export const AUTOMATION = table<AutomationRow>('automation', { ...DEFINITION_COLUMNS, name: 'text', enabled: 'int' });
export const RESOURCE = table<DefinitionRow & { kind: string }>('resource', { ...DEFINITION_COLUMNS, kind: 'text' });

export interface PassRow {
  id: string;
  factory_uid: string;
  triggers: string;
  started_at: number;
  finished_at: number;
  ending: string;
  reason: string | null;
  message: string | null;
  revision: string | null;
  problems: string;
  changes: string;
  held: string;
  digest: string | null;
  timings: string;
  rewritten_from: string | null;
  superseded: number;
  revision_id: string | null;
}

export const PASS = table<PassRow>('sync_pass', {
  id: 'key',
  factory_uid: 'text',
  triggers: 'text',
  started_at: 'int',
  finished_at: 'int',
  ending: 'text',
  reason: 'text?',
  message: 'text?',
  revision: 'text?',
  problems: 'text',
  changes: 'text',
  held: 'text',
  digest: 'text?',
  timings: 'text',
  rewritten_from: 'text?',
  superseded: 'int',
  revision_id: 'text?',
});

export interface DeliveryRow {
  entry_id: string;
  webhook_uid: string;
  factory_uid: string;
  delivery_id: string;
  outcome: string;
  size: number;
  size_exact: number;
  received_at: number;
  client_address: string;
  revision: string;
  entries: number;
  reason: string | null;
  decision: string | null;
  payload_encoding: string | null;
  refusal: string | null;
  resent_from: string | null;
}

export const DELIVERY = table<DeliveryRow>('delivery', {
  entry_id: 'key',
  webhook_uid: 'text',
  factory_uid: 'text',
  delivery_id: 'text',
  outcome: 'text',
  size: 'int',
  size_exact: 'int',
  received_at: 'int',
  client_address: 'text',
  revision: 'text',
  entries: 'int',
  reason: 'text?',
  decision: 'text?',
  payload_encoding: 'text?',
  refusal: 'text?',
  resent_from: 'text?',
});

export interface RunRow {
  run_id: string;
  title: string;
  state: string;
  prompt: string;
  submitted_prompt: string | null;
  source: string;
  creator_uid: string;
  config_name: string | null;
  agent_config: string;
  metadata: string;
  factory_uid: string | null;
  automation_uid: string | null;
  webhook_uid: string | null;
  entry_id: string | null;
  delivery_id: string | null;
  definition_revision: string | null;
  status_message: string | null;
  error_code: string | null;
  retryable: number | null;
  session_id: string | null;
  execution_id: string | null;
  epoch: number;
  takeovers: number;
  lease_owner: string | null;
  lease_until: number | null;
  prompt_taken_at: number | null;
  worker_host: string | null;
  told_epoch: number | null;
  cancel_requested_at: number | null;
  /** Why, where nobody asked for it. */
  cancel_reason: string | null;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** Who works for whom: the creator, where it is null. */
  executor_uid: string | null;
  model_id: string | null;
  environment_id: string | null;
  skill_spec: string | null;
  /** Null: the run is its own conversation, under its own ID. */
  conversation_id: string | null;
  parent_run_id: string | null;
  schedule_id: string | null;
  trigger_url: string | null;
  mode: string;
  interactive: number;
  /** JSON of RunLimits; null: none but the operator's. */
  limits: string | null;
  /** JSON of the automation's `network`; null: it says nothing. */
  network: string | null;
  concurrency_group: string | null;
  when_busy: string | null;
  schedule_name: string | null;
  schedule_cron: string | null;
  scheduled_at: number | null;
  tokens: number | null;
  cost_micros: number | null;
  cost_currency: string | null;
  usage_meter: string | null;
  skill_commit: string | null;
}

export const RUN = table<RunRow>('run', {
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
  worker_host: 'text?',
  told_epoch: 'int?',
  cancel_requested_at: 'int?',
  cancel_reason: 'text?',
  created_at: 'int',
  updated_at: 'int',
  started_at: 'int?',
  finished_at: 'int?',
  executor_uid: 'text?',
  model_id: 'text?',
  environment_id: 'text?',
  skill_spec: 'text?',
  conversation_id: 'text?',
  parent_run_id: 'text?',
  schedule_id: 'text?',
  trigger_url: 'text?',
  mode: 'text',
  interactive: 'int',
  limits: 'text?',
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
});

export const SCHEMA = [FACTORY, WEBHOOK, AUTOMATION, RESOURCE, PASS, DELIVERY, RUN];
