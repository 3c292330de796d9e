/**
 * What an execution takes on when it begins and while it lasts, and what the next one does again when it is lost.
 * contract §3.8 (Follow-up).
 */
import { joinPrompts, PROMPT_PART, type TaskPart } from '#agents';
import { storedAttachmentsOf, type StoredAttachment } from './run-files.ts';
import type { RunMode } from './new-run.ts';
import { closeInterrupts, isInterrupted } from './run-interrupts.ts';
import { nextSeq } from './run-log.ts';
import type { Claim } from './runs.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import type { RunRow } from './run.entities.ts';

/** What an execution takes on. */
export interface Task {
  /** Everything that is to be done now, in order. */
  prompt: string;
  /** The same in its parts. */
  parts: readonly TaskPart[];
  mode: RunMode;
  /** Files that came with it. */
  attachments: readonly StoredAttachment[];
}

/** Hands everything that waits to an execution; `isFirst`: nobody has taken the prompt. */
export function* takeTask(
  claim: Claim,
  run: Pick<RunRow, 'prompt' | 'submitted_prompt' | 'mode'>,
  isFirst: boolean,
  nowMs: number,
): Transaction<Task> {
  const followups = yield* takeFollowups(claim, nowMs);
  // Nothing new to do: the prompt again, rather than an agent without a task.
  const withPrompt = isFirst || followups.length === 0;
  const parts = [
    ...(withPrompt ? [{ id: PROMPT_PART, text: run.submitted_prompt ?? run.prompt }] : []),
    ...followups.map(toPart),
  ];
  return {
    ...toTask(parts),
    mode: yield* modeOf(claim, run.mode as RunMode, withPrompt),
    attachments: yield* storedAttachmentsOf(claim, withPrompt),
  };
}

/**
 * Hands the follow-ups that wait to an execution that is under way; undefined: there are none, or it is to end. Between
 * two turns an interrupted run goes on with them. Everything that was said before has to be in the log.
 */
export function* takeLaterFollowups(claim: Claim, isInTurn: boolean): Transaction<Task | undefined> {
  const run = yield* row(
    "SELECT 1 AS live FROM run WHERE run_id = ? AND epoch = ? AND state IN ('INPROGRESS', 'BLOCKED') " +
      'AND cancel_requested_at IS NULL FOR UPDATE',
    claim.runId,
    claim.epoch,
  );
  if (run === undefined || (isInTurn && (yield* isInterrupted(claim.runId)))) return undefined;
  const nowMs = yield* databaseNow();
  const followups = yield* takeFollowups(claim, nowMs, yield* nextSeq(claim.runId));
  const latest = followups.at(-1);
  if (latest === undefined) return undefined;
  if (!isInTurn) yield* goOn(claim, nowMs);
  const takenIds = new Set(followups.map(({ followup_id: id }) => id));
  const attachments = (yield* storedAttachmentsOf(claim, false)).filter(({ followupId }) => takenIds.has(followupId));
  return { ...toTask(followups.map(toPart)), mode: latest.mode, attachments };
}

/** Nothing is waited for any more. */
function* goOn({ runId }: Claim, nowMs: number): Transaction<void> {
  yield* closeInterrupts(runId, nowMs);
  yield* change(
    "UPDATE run SET state = 'INPROGRESS', status_message = NULL, updated_at = ? WHERE run_id = ? AND state = 'BLOCKED'",
    nowMs,
    runId,
  );
}

/**
 * What a lost execution had taken on is to be done again by the next; an answer to a question of its agent is done
 * with.
 */
export function* returnTask(runId: string, executionId: string): Transaction<void> {
  yield* change(
    'UPDATE followup SET taken_at = NULL, execution_id = NULL, taken_seq = NULL WHERE run_id = ? ' +
      'AND execution_id = ? AND permission_id IS NULL',
    runId,
    executionId,
  );
  yield* change(
    'UPDATE run SET prompt_taken_at = NULL WHERE run_id = ? AND EXISTS (SELECT 1 FROM execution e ' +
      'WHERE e.execution_id = ? AND e.took_prompt = 1)',
    runId,
    executionId,
  );
}

interface WaitingFollowup {
  followup_id: string;
  message: string;
  mode: RunMode;
}

/** `seq`: the entry of the log before which they are taken; undefined: the execution begins with them. */
function* takeFollowups({ runId, executionId }: Claim, nowMs: number, seq?: number): Transaction<WaitingFollowup[]> {
  const waiting = yield* rows<WaitingFollowup>(
    'SELECT followup_id, message, mode FROM followup WHERE run_id = ? AND taken_at IS NULL ORDER BY followup_id',
    runId,
  );
  if (waiting.length > 0)
    yield* change(
      'UPDATE followup SET taken_at = ?, execution_id = ?, taken_seq = ? WHERE run_id = ? AND taken_at IS NULL',
      nowMs,
      executionId,
      seq ?? null,
      runId,
    );
  return waiting;
}

function toPart({ followup_id: id, message }: WaitingFollowup): TaskPart {
  return { id, text: message };
}

function toTask(parts: readonly TaskPart[]): Pick<Task, 'prompt' | 'parts'> {
  return { prompt: joinPrompts(parts.map(({ text }) => text)), parts };
}

/** Mode of the latest message that an execution takes, else the run's. */
function* modeOf({ runId, executionId }: Claim, ofRun: RunMode, withPrompt: boolean): Transaction<RunMode> {
  const latest = yield* row<{ mode: RunMode }>(
    'SELECT mode FROM followup WHERE run_id = ? AND (execution_id = ? OR (? = 1 ' +
      "AND outcome = 'queued_prompt')) ORDER BY followup_id DESC LIMIT 1",
    runId,
    executionId,
    withPrompt ? 1 : 0,
  );
  return latest?.mode ?? ofRun;
}
