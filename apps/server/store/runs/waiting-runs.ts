/**
 * Runs of deliveries until somebody touches them: a row that refers to a snapshot and to the log entry of its delivery.
 * Whoever changes such a run has its row of `run` made first, in the same transaction; `every_run` reads both as one. A
 * run is in exactly one of the two, because the statements that move it commit together, and nothing of it can be lost
 * or differ, because snapshots and log entries that it refers to are neither changed nor removed before. contract §5.8
 * (Transaction).
 */
import {
  firstUuidv7,
  type NewWebhookRun,
  promptOf,
  promptTemplateOf,
  uuidv7TimeMs,
  type WebhookRunSnapshot,
} from '#runs';
import { catchUp } from '../database/deferred-index.ts';
import { insertInto } from '../database/table.ts';
import {
  change,
  dialectInUse,
  inSlices,
  placeholders,
  row,
  rows,
  type SqlValue,
  together,
  type Transaction,
} from '../database/transactions.ts';
import type { NewRun } from './new-run.ts';
import { RUN, RUN_SNAPSHOT, WAITING_QUEUE, WAITING_RUN } from './run.entities.ts';

/** Snapshots that are known to be stored: nobody has to store them again. */
export type StoredSnapshots = Pick<WeakSet<WebhookRunSnapshot>, 'has'>;

/** Whether the run can wait as a reference; what takes turns in a group has a row of its own from the beginning. */
export function isDeferred(run: NewRun | NewWebhookRun): run is NewWebhookRun {
  return 'snapshot' in run && run.concurrencyGroup === undefined;
}

/** Stores runs that wait. Answers the snapshots that are stored once this has committed. */
export function* storeWaitingRuns(
  runs: readonly NewWebhookRun[],
  stored: StoredSnapshots,
): Transaction<WebhookRunSnapshot[]> {
  const snapshots = [...new Set(runs.map(({ snapshot }) => snapshot))].filter((snapshot) => !stored.has(snapshot));
  // Sorted, so that two processes wait for each other in the same order.
  const sorted = snapshots.toSorted((a, b) => Buffer.compare(a.digest, b.digest));
  yield* together(
    insertInto(RUN_SNAPSHOT, sorted.map(toSnapshotRow), { ignoreConflicts: true }),
    insertInto(WAITING_RUN, runs.map(toWaitingRow)),
  );
  return snapshots;
}

function toSnapshotRow(snapshot: WebhookRunSnapshot) {
  const { head, middle, tail } = promptTemplateOf(snapshot);
  return {
    digest: snapshot.digest,
    title: snapshot.title,
    prompt_head: head,
    prompt_middle: middle,
    prompt_tail: tail,
    creator_uid: snapshot.creatorUid,
    config_name: snapshot.configName ?? null,
    agent_config: snapshot.agentConfig,
    metadata: snapshot.metadata,
    factory_uid: snapshot.factoryUid,
    automation_uid: snapshot.automationUid,
    webhook_uid: snapshot.webhookUid,
    definition_revision: snapshot.definitionRevision,
    model_id: snapshot.modelId ?? null,
    environment_id: snapshot.environmentId ?? null,
    skill_spec: snapshot.skillSpec ?? null,
    worker_host: snapshot.workerHost ?? null,
    limits: snapshot.limits ?? null,
    network: snapshot.network ?? null,
  };
}

/** The row of a run that waits, its columns in the order of PostgreSQL's table. */
export function toWaitingRow({ runId, entryId, snapshot, createdAtMs, deliveryId, quotedDeliveryId }: NewWebhookRun) {
  return {
    run_id: runId,
    entry_id: entryId,
    snapshot: snapshot.digest,
    created_at: createdAtMs,
    quoted_delivery_id: quotedDeliveryId === `"${deliveryId}"` ? null : quotedDeliveryId,
    worker_host: snapshot.workerHost ?? '',
    factory_uid: snapshot.factoryUid,
    automation_uid: snapshot.automationUid,
    environment_id: snapshot.environmentId ?? null,
  };
}

/** The same run with everything in it: for one that does not wait as a reference. */
export function toFullRun(run: NewWebhookRun): NewRun {
  const { snapshot, runId, entryId, deliveryId, createdAtMs, concurrencyGroup, whenBusy } = run;
  const { digest: _digest, webhookName: _webhookName, ...shared } = snapshot;
  return {
    ...shared,
    runId,
    prompt: promptOf(run),
    source: 'CUSTOM_WEBHOOK',
    entryId,
    deliveryId,
    createdAtMs,
    concurrencyGroup,
    whenBusy,
  };
}

export interface MaterializeOptions {
  /** Runs that somebody else is just writing to are passed over rather than waited for. */
  skipLocked?: boolean;
}

/** Makes rows of `run` of those of these runs that wait as references. Answers their IDs. */
export function* materializeRuns(
  runIds: readonly string[],
  { skipLocked = false }: MaterializeOptions = {},
): Transaction<string[]> {
  const present: string[] = [];
  const tail = `ORDER BY run_id FOR UPDATE${skipLocked ? ' SKIP LOCKED' : ''}`;
  for (const some of inSlices(runIds)) {
    const found = yield* rows<{ run_id: string }>(
      `SELECT run_id FROM waiting_run WHERE run_id IN (${placeholders(some.length)}) ${tail}`,
      ...some,
    );
    present.push(...found.map(({ run_id: runId }) => runId));
  }
  const made: string[] = [];
  for (const some of inSlices(present)) made.push(...(yield* makeRows(some)));
  return made;
}

/** One that lacks what it refers to, which nobody but a damaged database has, waits on, and keeps no other back. */
function* makeRows(runIds: readonly string[]): Transaction<string[]> {
  const made = yield* rows<{ run_id: string }>(
    `INSERT INTO run (${COLUMNS}) SELECT ${COLUMNS} FROM waiting_run_row ` +
      `WHERE run_id IN (${placeholders(runIds.length)}) AND prompt IS NOT NULL RETURNING run_id`,
    ...runIds,
  );
  for (const some of inSlices(made))
    yield* change(
      `DELETE FROM waiting_run WHERE run_id IN (${placeholders(some.length)})`,
      ...some.map(({ run_id: runId }) => runId),
    );
  return made.map(({ run_id: runId }) => runId);
}

const COLUMNS = RUN.columns.join(', ');

/** Removes runs that wait and cannot become rows, because what they refer to is gone. Answers how many those were. */
export function* discardWaiting(runIds: readonly string[]): Transaction<number> {
  let removed = 0;
  for (const some of inSlices(runIds)) {
    const these = `WHERE run_id IN (${placeholders(some.length)})`;
    removed += yield* change(`DELETE FROM waiting_run ${these}`, ...some);
    yield* change(`DELETE FROM waiting_queue ${these}`, ...some); // which no trigger finds without the snapshot
  }
  return removed;
}

/** Makes rows of `run` of a factory's runs that wait: all of them end with it. */
export function* materializeFactory(factoryUid: string): Transaction<void> {
  yield* catchUpQueue([factoryUid]);
  const waiting = yield* rows<{ run_id: string }>(
    `SELECT q.run_id FROM (SELECT DISTINCT COALESCE(worker_host, '') AS host FROM run_snapshot WHERE factory_uid = ?) s
      JOIN waiting_queue q ON q.worker_host = s.host AND q.factory_uid = ?`,
    factoryUid,
    factoryUid,
  );
  const runIds = waiting.map(({ run_id: runId }) => runId);
  const made = new Set(yield* materializeRuns(runIds));
  yield* discardWaiting(runIds.filter((runId) => !made.has(runId)));
}

/**
 * Makes rows of `run` of those that wait for this machine ('': for none) since before a time: no more than `limit`, in
 * no order.
 */
export function* materializeOlder(beforeMs: number, { host, limit }: { host: string; limit: number }) {
  yield* catchUpQueue();
  return yield* materializeFound(
    'waiting_queue WHERE worker_host = ? AND run_id < ? LIMIT ?',
    host,
    firstUuidv7(beforeMs),
    limit,
  );
}

/**
 * Makes rows of `run` of the oldest that wait: no more than `limit`. `beforeMs`: of those that wait since before a
 * time. Answers how many.
 */
export function* materializeOldest(limit: number, beforeMs = Number.MAX_SAFE_INTEGER): Transaction<number> {
  return yield* materializeFound('waiting_run WHERE run_id < ? ORDER BY run_id LIMIT ?', firstUuidv7(beforeMs), limit);
}

function* materializeFound(where: string, ...params: SqlValue[]): Transaction<number> {
  const found = yield* rows<{ run_id: string }>(`SELECT run_id FROM ${where}`, ...params);
  return (yield* materializeRuns(found.map(({ run_id: runId }) => runId))).length;
}

/**
 * The factory in a condition on `waiting_run_row`. By the column itself SQLite begins with the factory's snapshots, and
 * looks through all that wait for each of them.
 */
export const FACTORY_OF_WAITING = "(factory_uid || '')";

/** Whether any run waits as a reference. */
export function* isAnyReferring(): Transaction<boolean> {
  return (yield* row('SELECT 1 AS waits FROM waiting_run LIMIT 1')) !== undefined;
}

/** Whether any run of an automation waits as a reference for this machine ('': for none). */
export function* isAnyWaitingOf(factoryUid: string, automationUid: string, host: string): Transaction<boolean> {
  return (
    (yield* oldestWaiting({ factory: factoryUid, automation: automationUid }, host, { text: '', params: [] })) !==
    undefined
  );
}

/**
 * Runs that wait by factory, '' for none; one may come several times. Looks at each of them, and waits for no queue to
 * be filled. In one statement, so that a run whose row is made meanwhile is counted once.
 */
export function waitingByFactory(): Transaction<{ uid: string; waiting: number }[]> {
  // Those with rows in the order of their index.
  return rows(
    `SELECT COALESCE(factory_uid, '') AS uid, count(*) AS waiting FROM run WHERE state = 'QUEUED'
      GROUP BY COALESCE(worker_host, ''), COALESCE(factory_uid, '')
    UNION ALL SELECT s.factory_uid AS uid, CAST(sum(w.waiting) AS BIGINT) AS waiting
      FROM (SELECT snapshot, count(*) AS waiting FROM waiting_run GROUP BY snapshot) w
      JOIN run_snapshot s ON s.digest = w.snapshot GROUP BY s.factory_uid`,
  );
}

/** The queue can be read in the next statement; of these factories alone. */
export function catchUpQueue(factoryUids?: readonly string[]): Transaction<void> {
  return catchUp(WAITING_QUEUE.name, factoryUids);
}

/**
 * The first 32 of the 48 bits that are the time of an ID: IDs of about a minute (65,536 ms) have them in common, and a
 * higher ID has no lower ones. PostgreSQL's index of the queue has this instead of the ID.
 */
const PERIOD = 'substr(run_id, 1, 8)';

/** By what a part of the queue is read oldest first without being sorted; on PostgreSQL to within a period. */
export function* queueOrder(): Transaction<string> {
  return (yield* dialectInUse()) === 'postgres' ? PERIOD : 'run_id';
}

/** The oldest run that waits in a lane, for this machine and where its environment may be worked on. */
export function* oldestWaiting(
  { factory, automation }: { factory: string; automation: string },
  host: string,
  environments: { text: string; params: readonly SqlValue[] },
): Transaction<string | undefined> {
  yield* catchUpQueue([factory]);
  const lane = `waiting_queue WHERE worker_host = ? AND factory_uid = ? AND automation_uid = ?${environments.text}`;
  const params = [host, factory, automation, ...environments.params];
  const found =
    (yield* dialectInUse()) === 'postgres'
      ? yield* row<{ run_id: string }>(
          `SELECT run_id FROM ${lane} AND ${PERIOD} = (SELECT ${PERIOD} FROM ${lane} ORDER BY ${PERIOD} LIMIT 1) ` +
            'ORDER BY run_id LIMIT 1',
          ...params,
          ...params,
        )
      : yield* row<{ run_id: string }>(`SELECT run_id FROM ${lane} ORDER BY run_id LIMIT 1`, ...params);
  return found?.run_id;
}

/** Where a list goes on behind a run, among those that wait: they are in the order of their IDs, which name times. */
export function waitingBehind(
  direction: 'asc' | 'desc',
  after: { value: number; runId: string },
): { comparison: '<' | '>' | '>='; runId: string } {
  const { value, runId } = after;
  const timeMs = uuidv7TimeMs(runId);
  if (timeMs === value) return { comparison: direction === 'desc' ? '<' : '>', runId };
  return { comparison: direction === 'desc' ? '<' : '>=', runId: firstUuidv7(timeMs < value ? value : value + 1) };
}
