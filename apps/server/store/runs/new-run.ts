/** A run that does not exist yet, and how it becomes a row. spec: Agent run. */
import type { RunSource, WhenBusy } from '#runs';
import type { RunRow } from './run.entities.ts';

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

/** The row of a new run, which is QUEUED; what it does not name begins as null. All of them are made here, so that many go into one statement. */
export function toRunRow(run: NewRun) {
  return {
    run_id: run.runId,
    title: run.title,
    state: 'QUEUED',
    prompt: run.prompt,
    source: run.source,
    creator_uid: run.creatorUid,
    config_name: run.configName ?? null,
    agent_config: run.agentConfig,
    metadata: run.metadata,
    factory_uid: run.factoryUid ?? null,
    automation_uid: run.automationUid ?? null,
    webhook_uid: run.webhookUid ?? null,
    entry_id: run.entryId ?? null,
    delivery_id: run.deliveryId ?? null,
    definition_revision: run.definitionRevision ?? null,
    epoch: 0,
    takeovers: 0,
    created_at: run.createdAtMs,
    updated_at: run.createdAtMs,
    model_id: run.modelId ?? null,
    environment_id: run.environmentId ?? null,
    skill_spec: run.skillSpec ?? null,
    conversation_id: run.conversationId ?? null,
    parent_run_id: run.parentRunId ?? null,
    trigger_url: run.triggerUrl ?? null,
    mode: run.mode ?? 'normal',
    interactive: run.interactive === true ? 1 : 0,
    limits: run.limits ?? null,
    network: run.network ?? null,
    concurrency_group: run.concurrencyGroup ?? null,
    when_busy: run.whenBusy ?? null,
    schedule_id: run.schedule?.id ?? null,
    schedule_name: run.schedule?.name ?? null,
    schedule_cron: run.schedule?.cron ?? null,
    scheduled_at: run.schedule?.atMs ?? null,
    worker_host: run.workerHost ?? null,
  } satisfies Partial<RunRow>;
}

/** The caller's metadata as rows, by which lists find the run. */
export function toMetadataRows({ runId, metadata }: NewRun): { run_id: string; key: string; value: string }[] {
  return Object.entries(JSON.parse(metadata) as Record<string, string>).map(([key, value]) => ({
    run_id: runId,
    key,
    value,
  }));
}
