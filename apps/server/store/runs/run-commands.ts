/**
 * What people do to a run that exists: follow-ups and cancels, each with its audit entry in one transaction. contract
 * §3.8 (Follow-up), §3.9 (Cancel).
 */
import { optionMeant, rejecting } from '#agents';
import { cancelDecision, type FollowupDecision, type FollowupOutcome, type RunState } from '#runs';
import { attach, attachedWith, type NewAttachment } from './run-files.ts';
import { audit, type ChangedBy } from '../access/audit.ts';
import type { RunMode } from './new-run.ts';
import { permissionAnswerOf, openQuestions, answerPermission } from './permissions.ts';
import { appendToLog, nextSeq } from './run-log.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';
import { discardWaiting, materializeRuns } from './waiting-runs.ts';
import { FOLLOWUP, RUN, type RunRow, ENDED_STATES } from './run.entities.ts';

/** A message to a run. */
export interface NewFollowup {
  followupId: string;
  runId: string;
  principalUid: string;
  message: string;
  /** Undefined: as the run's, where it goes along with the prompt; else normal. */
  mode?: RunMode;
  attachments?: readonly NewAttachment[];
}

/** What a run has been given already, and what a follow-up would add to it. */
export interface FollowupFacts {
  factoryDeleted: boolean;
  /** Bytes that the next execution would be handed. */
  taskBytes: number;
  /** Files of the run, and their bytes, with those of the follow-up. */
  attachments: { count: number; bytes: number };
}

/** What becomes of a follow-up, by the run's state of this moment. */
export type FollowupDecider = (run: RunRow, facts: FollowupFacts) => FollowupDecision;

/** What is committed with a change that somebody asked for. */
export interface TransactionHook<Outcome> {
  /** Who asked; undefined: nobody over the API. */
  by?: ChangedBy;
  /** Further statements, once the outcome is known; not run where nothing changes. */
  also?: (outcome: Outcome) => Transaction<void>;
}

/** What became of a cancel request: see RunStore.cancel. */
export type CancelOutcome = 'cancelled' | 'requested' | 'repeated' | 'ended' | 'unknown';

const CANCELLED_BEFORE_START = { state: 'CANCELLED', message: 'cancelled before it started' };

/** Of a run that waits and lacks what it refers to nothing remains. */
function* cancelUnmade(runId: string, { by, also }: TransactionHook<CancelOutcome>): Transaction<CancelOutcome> {
  if ((yield* discardWaiting([runId])) === 0) return 'unknown';
  yield* audit(by, { action: 'run.cancel', subject: runId });
  if (also !== undefined) yield* also('cancelled');
  return 'cancelled';
}

/** Stores the wish to cancel; see RunStore.cancel. */
export function* cancelRun(runId: string, { by, also }: TransactionHook<CancelOutcome>): Transaction<CancelOutcome> {
  const nowMs = yield* databaseNow();
  yield* materializeRuns([runId]);
  const run = yield* row<RunRow>(
    'SELECT run_id, state, cancel_requested_at, execution_id, factory_uid FROM run WHERE run_id = ? FOR UPDATE',
    runId,
  );
  if (run === undefined) return yield* cancelUnmade(runId, { by, also });
  const decision = cancelDecision(run.state as RunState, { cancelRequested: run.cancel_requested_at !== null });
  if (!decision.ok) return 'ended';
  if (decision.action === 'none') return 'repeated';
  const outcome = decision.action === 'cancel-now' ? 'cancelled' : 'requested';
  yield* audit(by, { action: 'run.cancel', subject: runId, factoryUid: run.factory_uid ?? undefined });
  if (also !== undefined) yield* also(outcome);
  if (outcome === 'cancelled') {
    yield* change(
      'UPDATE run SET state = ?, status_message = ?, cancel_requested_at = ?, finished_at = ?, updated_at = ? ' +
        'WHERE run_id = ?',
      CANCELLED_BEFORE_START.state,
      CANCELLED_BEFORE_START.message,
      nowMs,
      nowMs,
      nowMs,
      runId,
    );
    // No execution tells of this end: the log does.
    yield* appendToLog(runId, undefined, [
      { kind: 'status', atMs: nowMs, body: JSON.stringify(CANCELLED_BEFORE_START) },
    ]);
    return outcome;
  }
  yield* change('UPDATE run SET cancel_requested_at = ?, updated_at = ? WHERE run_id = ?', nowMs, nowMs, runId);
  if (run.execution_id !== null)
    yield* change('UPDATE execution SET cancel_requested_at = ? WHERE execution_id = ?', nowMs, run.execution_id);
  return outcome;
}

/** Stores a follow-up and what becomes of it; see RunStore.followup. */
export function* storeFollowup(
  wanted: NewFollowup,
  decide: FollowupDecider,
  { by, also }: TransactionHook<FollowupOutcome>,
): Transaction<FollowupDecision | undefined> {
  const { followupId, runId, principalUid, message, attachments = [] } = wanted;
  const nowMs = yield* databaseNow();
  // The factory before the run, as its deletion locks them: a deletion that commits before us is seen, one that comes
  // later waits for us.
  const factory = yield* row<{ deleted_at: number | null }>(
    'SELECT deleted_at FROM factory WHERE uid = (SELECT factory_uid FROM every_run WHERE run_id = ?) FOR SHARE',
    runId,
  );
  yield* materializeRuns([runId]);
  const run = yield* row<RunRow>(`SELECT ${RUN.columns.join(', ')} FROM run WHERE run_id = ? FOR UPDATE`, runId);
  if (run === undefined) return undefined;
  const taskBytes = (yield* waitingBytes(run)) + Buffer.byteLength(message);
  const decision = decide(run, {
    factoryDeleted: typeof factory?.deleted_at === 'number',
    taskBytes,
    attachments: yield* attachedWith(runId, attachments),
  });
  if (!decision.ok) return decision;
  const followup = {
    followup_id: followupId,
    run_id: runId,
    at: nowMs,
    principal_uid: principalUid,
    message,
    outcome: decision.outcome,
    taken_at: decision.outcome === 'queued_prompt' ? nowMs : null,
    mode: wanted.mode ?? (run.prompt_taken_at === null ? run.mode : 'normal'),
  };
  yield* insertInto(FOLLOWUP, [followup]);
  yield* attach(runId, followupId, attachments);
  yield* audit(by, {
    action: 'run.followup',
    subject: runId,
    factoryUid: run.factory_uid ?? undefined,
    details: { outcome: decision.outcome },
  });
  if (decision.outcome === 'queued_prompt') {
    const joined = `${run.submitted_prompt ?? run.prompt}\n\n${message}`;
    yield* change('UPDATE run SET submitted_prompt = ?, updated_at = ? WHERE run_id = ?', joined, nowMs, runId);
  }
  if (run.state === 'BLOCKED') yield* answerByMessage(run, wanted, nowMs);
  if (decision.outcome === 'handoff_execution') yield* requeueForFollowups(runId, nowMs);
  if (also !== undefined) yield* also(decision.outcome);
  return decision;
}

/**
 * A message to a BLOCKED run answers the oldest question where it names one of its answers. Any other message refuses
 * what is asked, and waits: it is the next thing that the agent is told. So does one with files, which no answer takes
 * along.
 */
function* answerByMessage(
  { run_id: runId, execution_id: executionId }: RunRow,
  { followupId, message, principalUid, attachments = [] }: NewFollowup,
  nowMs: number,
): Transaction<void> {
  const open = yield* openQuestions(runId);
  const [oldest] = open;
  const meant = oldest && optionMeant(message, oldest.question.options);
  if (oldest === undefined || meant === undefined) {
    for (const permission of open)
      yield* answerPermission(permission, {
        option: rejecting(permission.question.options),
        principalUid,
        text: 'refused by a message',
      });
    return;
  }
  if (attachments.length === 0) {
    yield* change(
      'UPDATE followup SET permission_id = ?, taken_at = ?, execution_id = ?, taken_seq = ? WHERE followup_id = ?',
      oldest.permissionId,
      nowMs,
      executionId,
      yield* nextSeq(runId),
      followupId,
    );
  }
  yield* answerPermission(oldest, permissionAnswerOf(meant, principalUid));
}

/** Bytes that the next execution of a run will be handed. */
function* waitingBytes(run: RunRow): Transaction<number> {
  const found = yield* row<{ bytes: number | string | null }>(
    'SELECT sum(octet_length(message)) AS bytes FROM followup WHERE run_id = ? AND taken_at IS NULL',
    run.run_id,
  );
  return (
    Number(found?.bytes ?? 0) +
    (run.prompt_taken_at === null ? Buffer.byteLength(run.submitted_prompt ?? run.prompt) : 0)
  );
}

/** An ended run is queued again while follow-ups wait for it. */
export function* requeueForFollowups(runId: string, nowMs: number): Transaction<void> {
  // Locked until we commit: a deletion of the factory that came before is seen, one that comes later cancels what we
  // queue.
  const factory = yield* row<{ deleted_at: number | null }>(
    `SELECT deleted_at FROM factory WHERE uid =
      (SELECT r.factory_uid FROM run r WHERE r.run_id = ? AND EXISTS (SELECT 1 FROM followup f
      WHERE f.run_id = r.run_id AND f.taken_at IS NULL)) FOR SHARE`,
    runId,
  );
  if (typeof factory?.deleted_at === 'number') return;
  yield* change(
    `UPDATE run SET state = 'QUEUED', told_epoch = NULL, takeovers = 0, cancel_requested_at = NULL, cancel_reason =
      NULL, status_message = NULL, error_code = NULL, retryable = NULL, updated_at = ?
     WHERE run_id = ? AND state IN ${ENDED_STATES} AND EXISTS (SELECT 1 FROM followup f WHERE f.run_id = run.run_id
     AND f.taken_at IS NULL)`,
    nowMs,
    runId,
  );
}
