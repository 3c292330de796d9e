/**
 * Executions from preparation to end: begun, finished, reclaimed when lost, released by a service that stops. contract
 * §3.6 (States).
 */
import type { LeasedState, RunEnd } from '#runs';
import { closeQuestions } from './permissions.ts';
import { closeInterrupts, isInterrupted } from './run-interrupts.ts';
import { appendToLog } from './run-log.ts';
import { requeueForFollowups } from './run-commands.ts';
import { returnTask, type Task, takeTask } from './run-tasks.ts';
import type { Claim } from './runs.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import { type RunRow, LIVE_STATES } from './run.entities.ts';

/** A live run that nobody works on, with what is left of its execution's process. */
export interface AbandonedRun {
  run: RunRow;
  /** As RunStore.noteProcess was given it. */
  process?: string;
  executionId: string;
}

/** What becomes of a run whose execution is over too early: the next one takes it, or it ends. */
export type ReclaimDecision = 'requeue' | RunEnd;

/** Found at once. More are found the next time, when these are decided. */
export const ABANDONED_MAX = 200;

/** See RunStore.abandoned. */
export function* abandonedRuns(owner: string, alone: boolean): Transaction<AbandonedRun[]> {
  const nowMs = yield* databaseNow();
  const found = yield* rows<RunRow & { process: string | null }>(
    `SELECT r.*, e.process FROM run r LEFT JOIN execution e ON e.execution_id = r.execution_id
     WHERE r.state IN ${LIVE_STATES} AND (r.lease_until < ? OR (? = 1 AND r.lease_owner <> ?)) ORDER BY r.run_id
     LIMIT ?`,
    nowMs,
    alone ? 1 : 0,
    owner,
    ABANDONED_MAX,
  );
  return found.map((run) => ({ run, process: run.process ?? undefined, executionId: run.execution_id ?? '' }));
}

/** See RunStore.reclaim. */
export function reclaimRun(runId: string, epoch: number, verdict: ReclaimDecision): Transaction<boolean> {
  return leaveExecution(
    runId,
    epoch,
    { outcome: 'LOST', takeovers: 1, logText: 'the service lost this execution; another one takes the run over' },
    () => verdict,
  );
}

/** See RunStore.release. */
export function releaseRun(
  { runId, epoch }: Claim,
  decide: (state: LeasedState) => ReclaimDecision,
): Transaction<boolean> {
  return leaveExecution(
    runId,
    epoch,
    {
      outcome: 'HANDED_OVER',
      takeovers: 0,
      logText: 'the service stops and hands this run over; the next execution goes on with it',
    },
    decide,
  );
}

interface LeaveOptions {
  /** Of the execution, when another one follows. */
  outcome: 'LOST' | 'HANDED_OVER';
  /** What it adds to the number of times that the run was lost. */
  takeovers: 0 | 1;
  logText: string;
}

function* leaveExecution(
  runId: string,
  epoch: number,
  { outcome, takeovers, logText }: LeaveOptions,
  decide: (state: LeasedState) => ReclaimDecision,
): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  const run = yield* row<RunRow>(
    'SELECT state, cancel_requested_at, cancel_reason, execution_id FROM run WHERE run_id = ? AND epoch = ? ' +
      `AND state IN ${LIVE_STATES} FOR UPDATE`,
    runId,
    epoch,
  );
  if (run === undefined) return false;
  const wasInterrupted = run.cancel_requested_at === null && (yield* isInterrupted(runId));
  const verdict =
    run.cancel_requested_at !== null
      ? cancelled(run.cancel_reason)
      : wasInterrupted
        ? INTERRUPTED_AND_LEFT
        : decide(run.state as LeasedState);
  const executionId = run.execution_id ?? undefined;
  yield* closeQuestions(runId);
  yield* closeInterrupts(runId, nowMs);
  // The last of this execution's entries: the epoch is raised with them.
  const body = verdict === 'requeue' ? { text: logText } : { state: verdict.state, message: verdict.message };
  yield* appendToLog(runId, executionId, [{ kind: 'status', atMs: nowMs, body: JSON.stringify(body) }]);
  if (executionId !== undefined) {
    yield* change(
      'UPDATE execution SET outcome = ?, finished_at = ? WHERE execution_id = ?',
      verdict === 'requeue' ? outcome : verdict.state,
      nowMs,
      executionId,
    );
  }
  if (verdict === 'requeue') {
    if (executionId !== undefined) yield* returnTask(runId, executionId);
    yield* change(
      "UPDATE run SET state = 'QUEUED', epoch = epoch + 1, takeovers = takeovers + ?, lease_owner = NULL, " +
        'lease_until = NULL, updated_at = ? WHERE run_id = ?',
      takeovers,
      nowMs,
      runId,
    );
    return true;
  }
  yield* change(
    'UPDATE run SET state = ?, status_message = ?, error_code = ?, retryable = ?, epoch = epoch + 1, ' +
      'lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ? WHERE run_id = ?',
    verdict.state,
    verdict.message,
    verdict.errorCode ?? null,
    verdict.retryable ? 1 : 0,
    nowMs,
    nowMs,
    runId,
  );
  if (verdict.state !== 'CANCELLED' || wasInterrupted) yield* requeueForFollowups(runId, nowMs);
  return true;
}

/** What was interrupted is not begun again: only what people say next. */
const INTERRUPTED_AND_LEFT: RunEnd = {
  state: 'CANCELLED',
  message: 'interrupted on request, and its service has stopped since; a follow-up goes on with it',
};

function cancelled(reason: string | null): RunEnd {
  return { state: 'CANCELLED', message: reason ?? 'cancelled on request' };
}

/** See RunStore.prepare. */
export function* prepareRun(claim: Claim): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  const moved = yield* change(
    "UPDATE run SET state = 'PENDING', updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'CLAIMED'",
    nowMs,
    claim.runId,
    claim.epoch,
  );
  if (moved === 1)
    yield* change('UPDATE execution SET prepared_at = ? WHERE execution_id = ?', nowMs, claim.executionId);
  return moved === 1;
}

/** See RunStore.begin. */
export function* beginRun(claim: Claim): Transaction<Task | undefined> {
  const nowMs = yield* databaseNow();
  const run = yield* row<RunRow>(
    'SELECT prompt, submitted_prompt, prompt_taken_at, mode FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE',
    claim.runId,
    claim.epoch,
  );
  if (run === undefined) return undefined;
  const moved = yield* change(
    "UPDATE run SET state = 'INPROGRESS', prompt_taken_at = COALESCE(prompt_taken_at, ?), started_at = " +
      "COALESCE(started_at, ?), updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'PENDING' " +
      'AND cancel_requested_at IS NULL',
    nowMs,
    nowMs,
    nowMs,
    claim.runId,
    claim.epoch,
  );
  if (moved !== 1) return undefined;
  const isFirst = run.prompt_taken_at === null;
  yield* change(
    'UPDATE execution SET started_at = ?, took_prompt = ?, first_seq = (SELECT COALESCE(max(seq), 0) + 1 ' +
      'FROM run_event WHERE run_id = ?) WHERE execution_id = ?',
    nowMs,
    isFirst ? 1 : 0,
    claim.runId,
    claim.executionId,
  );
  return yield* takeTask(claim, run, isFirst, nowMs);
}

/** See RunStore.finish. */
export function* finishRun(claim: Claim, ending: RunEnd): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  const wasInterrupted = yield* isInterrupted(claim.runId);
  const ended = yield* row<{ state: string; status_message: string; cancel_requested_at: number | null }>(
    `UPDATE run SET state = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE 'CANCELLED' END,
      status_message = CASE WHEN cancel_requested_at IS NULL THEN ?
      ELSE COALESCE(cancel_reason, 'cancelled on request') END,
      error_code = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE NULL END, retryable = ?,
      lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ?
      WHERE run_id = ? AND epoch = ? AND state IN ${LIVE_STATES}
      RETURNING state, status_message, cancel_requested_at`,
    ending.state,
    ending.message,
    ending.errorCode ?? null,
    ending.retryable ? 1 : 0,
    nowMs,
    nowMs,
    claim.runId,
    claim.epoch,
  );
  if (ended === undefined) return false;
  yield* closeQuestions(claim.runId);
  yield* closeInterrupts(claim.runId, nowMs);
  const execution = yield* row<{ started_at: number | null }>(
    'UPDATE execution SET outcome = ?, finished_at = ? WHERE execution_id = ? RETURNING started_at',
    ended.state,
    nowMs,
    claim.executionId,
  );
  yield* appendToLog(claim.runId, claim.executionId, [
    { kind: 'status', atMs: nowMs, body: JSON.stringify({ state: ended.state, message: ended.status_message }) },
  ]);
  // What kept this execution from beginning would keep the next one too: what waits is told with the next message that
  // people send.
  const hadBegun = typeof execution?.started_at === 'number';
  const mayGoOn = ended.state !== 'CANCELLED' || (wasInterrupted && ended.cancel_requested_at === null);
  if (mayGoOn && hadBegun) yield* requeueForFollowups(claim.runId, nowMs);
  return true;
}
