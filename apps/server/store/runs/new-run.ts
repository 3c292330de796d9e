/** A run that does not exist yet, and how it becomes a row. spec: Agent run. */
import type { RunSource, WhenBusy } from '#runs';
import type { SqlValue } from '../database/transactions.ts';

/** Everything that is decided when a run is created; snapshots, so that later edits and deletions cannot reach it. */
export interface NewRun {
  runId: string;
  title: string;
  prompt: string;
  source: RunSource;
  creatorUid: string;
  /** What lists are filtered by, out of the resolved configuration. */
  configName?: string;
  modelId?: string;
  environmentId?: string;
  /** The machine that it asks for. */
  workerHost?: string;
  skillSpec?: string;
  /** Resolved AmbientAgentConfig as JSON text. */
  agentConfig: string;
  /** Caller's metadata as JSON text. */
  metadata: string;
  factoryUid?: string;
  automationUid?: string;
  webhookUid?: string;
  /** Log entry of the delivery that started it. */
  entryId?: string;
  deliveryId?: string;
  definitionRevision?: string;
  /** Conversation that it continues; undefined: its own, under its own ID. */
  conversationId?: string;
  parentRunId?: string;
  triggerUrl?: string;
  mode?: RunMode;
  interactive?: boolean;
  /** JSON of what its automation says of tokens, cost and minutes, and of the network. */
  limits?: string;
  network?: string;
  /** Runs of one group take turns; undefined: it waits for none. */
  concurrencyGroup?: string;
  whenBusy?: WhenBusy;
  /** The tick that starts it. */
  schedule?: { id: string; name?: string; cron: string; atMs: number };
  createdAtMs: number;
}

export type RunMode = 'normal' | 'plan' | 'orchestrate';

export const RUN_COLUMNS = [
  'run_id',
  'title',
  'state',
  'prompt',
  'source',
  'creator_uid',
  'config_name',
  'agent_config',
  'metadata',
  'factory_uid',
  'automation_uid',
  'webhook_uid',
  'entry_id',
  'delivery_id',
  'definition_revision',
  'epoch',
  'takeovers',
  'created_at',
  'updated_at',
  'model_id',
  'environment_id',
  'skill_spec',
  'conversation_id',
  'parent_run_id',
  'trigger_url',
  'mode',
  'interactive',
  'limits',
  'network',
  'concurrency_group',
  'when_busy',
  'schedule_id',
  'schedule_name',
  'schedule_cron',
  'scheduled_at',
  'worker_host',
] as const;

/** Values in the order of RUN_COLUMNS; a new run is QUEUED. */
export function toRunValues(run: NewRun): SqlValue[] {
  return [
    run.runId,
    run.title,
    'QUEUED',
    run.prompt,
    run.source,
    run.creatorUid,
    run.configName ?? null,
    run.agentConfig,
    run.metadata,
    run.factoryUid ?? null,
    run.automationUid ?? null,
    run.webhookUid ?? null,
    run.entryId ?? null,
    run.deliveryId ?? null,
    run.definitionRevision ?? null,
    0,
    0,
    run.createdAtMs,
    run.createdAtMs,
    run.modelId ?? null,
    run.environmentId ?? null,
    run.skillSpec ?? null,
    run.conversationId ?? null,
    run.parentRunId ?? null,
    run.triggerUrl ?? null,
    run.mode ?? 'normal',
    run.interactive === true ? 1 : 0,
    run.limits ?? null,
    run.network ?? null,
    run.concurrencyGroup ?? null,
    run.whenBusy ?? null,
    run.schedule?.id ?? null,
    run.schedule?.name ?? null,
    run.schedule?.cron ?? null,
    run.schedule?.atMs ?? null,
    run.workerHost ?? null,
  ];
}

export const METADATA_COLUMNS = ['run_id', 'key', 'value'] as const;

/** The caller's metadata as rows, by which lists find the run; in the order of METADATA_COLUMNS. */
export function toMetadataValues({ runId, metadata }: NewRun): SqlValue[][] {
  return Object.entries(JSON.parse(metadata) as Record<string, string>).map(([key, value]) => [runId, key, value]);
}
