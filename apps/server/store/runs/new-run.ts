/**
 * New runs: what each is made of, its row, and the admission of runs that share a group. spec: Agent run; contract §8.3
 * (concurrency).
 */
import {
  type Admission,
  admitRuns,
  contestedGroups,
  type NewWebhookRun,
  type RunSource,
  type WebhookRunSnapshot,
  type WhenBusy,
} from '#runs';
import {
  change,
  lock,
  placeholders,
  row,
  rows,
  type SqlValue,
  together,
  type Transaction,
} from '../database/transactions.ts';
import { insertInto } from '../database/table.ts';
import { RUN, RUN_METADATA, type RunRow, OPEN_STATES } from './run.entities.ts';
import { audit } from '../access/audit.ts';
import type { TransactionHook } from './run-commands.ts';
import { attach, type NewAttachment } from './run-files.ts';
import { isDeferred, type StoredSnapshots, storeWaitingRuns, toFullRun } from './waiting-runs.ts';

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

/**
 * The row of a new run, which is QUEUED; what it does not name begins as null. All of them are made here, so that many
 * go into one statement.
 */
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

/** What a run that made place for a newer one says of its end. */
export const REPLACED = 'replaced by a newer run of its group';

/** Runs that are cancelled with one statement. */
const CANCELLED_AT_ONCE = 200;

/**
 * Decides which of these new runs there are. Groups stay locked until the transaction ends; runs that only wait for
 * their turn cost nothing here.
 */
export function* decideAdmission<Run extends NewRun | NewWebhookRun>(
  runs: readonly Run[],
): Transaction<Admission<Run>> {
  const groups = contestedGroups(runs);
  if (groups.length === 0) return { made: [...runs], busy: [], replaced: [] };
  const replaces = new Set(
    runs.filter(({ whenBusy }) => whenBusy === 'replace').map(({ concurrencyGroup: group }) => group),
  );
  const open = new Map<string, string[]>();
  for (const group of groups) yield* lock(`run group ${group}`);
  for (const group of groups) open.set(group, yield* openRuns(group, replaces.has(group)));
  return admitRuns(runs, open);
}

/** What storing new runs has done, once it has committed. */
export interface StoredAdmission {
  /** Runs that made place: their supervisors are notified. */
  replaced: string[];
  /** Snapshots that are stored from now on. */
  snapshots: WebhookRunSnapshot[];
}

/** Nothing is known to be stored. */
const NO_SNAPSHOTS: StoredSnapshots = new WeakSet();

/** Stores the runs that there are and ends those that they replace. */
export function* storeAdmission(
  { made, replaced }: Admission<NewRun | NewWebhookRun>,
  nowMs: number,
  stored = NO_SNAPSHOTS,
): Transaction<StoredAdmission> {
  const full = made.filter((run) => !isDeferred(run)).map((run) => ('snapshot' in run ? toFullRun(run) : run));
  const [, snapshots] = yield* together(
    insertInto(RUN, full.map(toRunRow)),
    storeWaitingRuns(made.filter(isDeferred), stored),
  );
  const cancelled: string[] = [];
  for (let start = 0; start < replaced.length; start += CANCELLED_AT_ONCE)
    cancelled.push(...(yield* cancelReplaced(replaced.slice(start, start + CANCELLED_AT_ONCE), nowMs)));
  return { replaced: cancelled, snapshots };
}

/** That there is one is all that matters where nothing is replaced. */
function* openRuns(group: string, all: boolean): Transaction<string[]> {
  const text = `SELECT run_id FROM run WHERE concurrency_group = ? AND state IN ${OPEN_STATES} ORDER BY run_id`;
  const found = all
    ? yield* rows<{ run_id: string }>(text, group)
    : yield* rows<{ run_id: string }>(`${text} LIMIT 1`, group);
  return found.map(({ run_id: runId }) => runId);
}

/**
 * Waiting ones are CANCELLED at once, live ones are asked; those that have ended or are being cancelled stay as they
 * are.
 */
function* cancelReplaced(runIds: readonly string[], nowMs: number): Transaction<string[]> {
  const found = yield* rows<{ run_id: string; state: string; execution_id: string | null }>(
    `SELECT run_id, state, execution_id FROM run WHERE run_id IN (${placeholders(runIds.length)}) ` +
      `AND state IN ${OPEN_STATES} AND cancel_requested_at IS NULL ORDER BY run_id FOR UPDATE`,
    ...runIds,
  );
  const waiting = found.filter(({ state }) => state === 'QUEUED').map(({ run_id: runId }) => runId);
  const live = found.filter(({ state }) => state !== 'QUEUED');
  yield* changeAll(
    "UPDATE run SET state = 'CANCELLED', status_message = ?, cancel_requested_at = ?, finished_at = ?, " +
      'updated_at = ? WHERE run_id IN',
    [REPLACED, nowMs, nowMs, nowMs],
    waiting,
  );
  yield* changeAll(
    'UPDATE run SET cancel_reason = ?, cancel_requested_at = ?, updated_at = ? WHERE run_id IN',
    [REPLACED, nowMs, nowMs],
    live.map(({ run_id: runId }) => runId),
  );
  yield* changeAll(
    'UPDATE execution SET cancel_requested_at = ? WHERE execution_id IN',
    [nowMs],
    live.flatMap(({ execution_id: id }) => (id === null ? [] : [id])),
  );
  yield* appendToLogs(waiting, { state: 'CANCELLED', message: REPLACED }, nowMs);
  yield* appendToLogs(
    live.map(({ run_id: runId }) => runId),
    { text: `${REPLACED}: it is being cancelled` },
    nowMs,
  );
  return found.map(({ run_id: runId }) => runId);
}

/** One more entry in the log of each: nobody asked for this, so that no trail tells of it. */
function* appendToLogs(runIds: readonly string[], body: object, nowMs: number): Transaction<void> {
  yield* changeAll(
    `INSERT INTO run_event (run_id, seq, execution_id, at, kind, body)
     SELECT r.run_id, (SELECT COALESCE(max(e.seq), 0) + 1 FROM run_event e WHERE e.run_id = r.run_id), CASE
     WHEN r.state = 'CANCELLED' THEN NULL ELSE r.execution_id END, CAST(? AS BIGINT), 'status', CAST(? AS TEXT)
     FROM run r WHERE r.run_id IN`,
    [nowMs, JSON.stringify(body)],
    runIds,
  );
}
function* changeAll(text: string, params: readonly SqlValue[], ids: readonly string[]): Transaction<void> {
  if (ids.length > 0) yield* change(`${text} (${placeholders(ids.length)})`, ...params, ...ids);
}

/** Waiting runs that a create counts: more than any engine has places for. */
export const WAITING_COUNTED_MAX = 1_000;

/** What comes with a new run: its files, who asked, and further statements of the same transaction. */
export interface CreateRunOptions extends TransactionHook<{ waiting: number }> {
  attachments?: readonly NewAttachment[];
}

/** See RunStore.create. */
export function* createRun(
  run: NewRun,
  { by, attachments = [], also }: CreateRunOptions,
): Transaction<{ waiting: number } | undefined> {
  // Shared: a deletion that comes later waits for us and cancels what we queue.
  const factory =
    run.factoryUid === undefined
      ? undefined
      : yield* row<{ deleted_at: number | null }>(
          'SELECT deleted_at FROM factory WHERE uid = ? FOR SHARE',
          run.factoryUid,
        );
  if (typeof factory?.deleted_at === 'number') return undefined;
  yield* insertInto(RUN, [toRunRow(run)]);
  yield* insertInto(RUN_METADATA, toMetadataRows(run));
  yield* attach(run.runId, '', attachments);
  yield* audit(by, { action: 'run.create', subject: run.runId, factoryUid: run.factoryUid });
  const counted = yield* row<{ waiting: number }>(
    "SELECT count(*) AS waiting FROM (SELECT 1 FROM run WHERE state = 'QUEUED' AND run_id <> ? " +
      'UNION ALL SELECT 1 FROM waiting_run LIMIT ?) AS queue',
    run.runId,
    WAITING_COUNTED_MAX,
  );
  const made = { waiting: counted?.waiting ?? 0 };
  if (also !== undefined) yield* also(made);
  return made;
}
