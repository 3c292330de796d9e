/** Executions that are over before their work is: found when lost, taken over or ended; given back by a service that stops. contract 3 (States). */
import type { LeasedState } from '#runs';
import { closeQuestions } from './permissions.ts';
import { appendToLog } from './run-log.ts';
import { requeueForFollowups } from './run-commands.ts';
import { giveBack } from './run-tasks.ts';
import type { Claim, RunEnd } from './runs.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import type { RunRow } from './run.entities.ts';

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

const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";

/** See RunStore.abandoned. */
export function* abandonedRuns(owner: string, alone: boolean): Transaction<AbandonedRun[]> {
  const nowMs = yield* databaseNow();
  const found = yield* rows<RunRow & { process: string | null }>(
    `SELECT r.*, e.process FROM run r LEFT JOIN execution e ON e.execution_id = r.execution_id
     WHERE r.state IN ${LIVE} AND (r.lease_until < ? OR (? = 1 AND r.lease_owner <> ?)) ORDER BY r.run_id LIMIT ?`,
    nowMs,
    alone ? 1 : 0,
    owner,
    ABANDONED_MAX,
  );
  return found.map((run) => ({ run, process: run.process ?? undefined, executionId: run.execution_id ?? '' }));
}

/** See RunStore.reclaim. */
export function reclaim(runId: string, epoch: number, verdict: ReclaimDecision): Transaction<boolean> {
  return leaving(
    runId,
    epoch,
    { outcome: 'LOST', takeovers: 1, told: 'the service lost this execution; another one takes the run over' },
    () => verdict,
  );
}

/** See RunStore.release. */
export function release(
  { runId, epoch }: Claim,
  decide: (state: LeasedState) => ReclaimDecision,
): Transaction<boolean> {
  return leaving(
    runId,
    epoch,
    {
      outcome: 'HANDED_OVER',
      takeovers: 0,
      told: 'the service stops and hands this run over; the next execution goes on with it',
    },
    decide,
  );
}

interface Leaving {
  /** Of the execution, when another one follows. */
  outcome: 'LOST' | 'HANDED_OVER';
  /** What it adds to the number of times that the run was lost. */
  takeovers: 0 | 1;
  told: string;
}

function* leaving(
  runId: string,
  epoch: number,
  { outcome, takeovers, told }: Leaving,
  decide: (state: LeasedState) => ReclaimDecision,
): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  const run = yield* row<RunRow>(
    `SELECT state, cancel_requested_at, cancel_reason, execution_id FROM run WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} FOR UPDATE`,
    runId,
    epoch,
  );
  if (run === undefined) return false;
  const verdict = run.cancel_requested_at === null ? decide(run.state as LeasedState) : cancelled(run.cancel_reason);
  const executionId = run.execution_id ?? undefined;
  yield* closeQuestions(runId);
  // The last of this execution's entries: the epoch is raised with them.
  const body = verdict === 'requeue' ? { text: told } : { state: verdict.state, message: verdict.message };
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
    if (executionId !== undefined) yield* giveBack(runId, executionId);
    yield* change(
      "UPDATE run SET state = 'QUEUED', epoch = epoch + 1, takeovers = takeovers + ?, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE run_id = ?",
      takeovers,
      nowMs,
      runId,
    );
    return true;
  }
  yield* change(
    'UPDATE run SET state = ?, status_message = ?, error_code = ?, retryable = ?, epoch = epoch + 1, lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ? WHERE run_id = ?',
    verdict.state,
    verdict.message,
    verdict.errorCode ?? null,
    verdict.retryable ? 1 : 0,
    nowMs,
    nowMs,
    runId,
  );
  if (verdict.state !== 'CANCELLED') yield* requeueForFollowups(runId, nowMs);
  return true;
}

function cancelled(reason: string | null): RunEnd {
  return { state: 'CANCELLED', message: reason ?? 'cancelled on request' };
}
