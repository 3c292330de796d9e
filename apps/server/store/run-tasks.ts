/** What an execution takes on when it begins, and what the next one does again when it is lost. contract 3 (Follow-up). */
import { attachmentsOf, type StoredAttachment } from './attachments.ts';
import type { RunMode } from './new-run.ts';
import type { Claim } from './runs.ts';
import { change, row, rows, type Work } from './statements.ts';
import type { RunRow } from './tables.ts';

/** What an execution takes on when it begins. */
export interface Task {
  /** Everything that is to be done now, in order. */
  prompt: string;
  mode: RunMode;
  /** Files that came with it. */
  attachments: readonly StoredAttachment[];
}

/** Hands everything that waits to an execution; `isFirst`: nobody has taken the prompt. */
export function* takeTask(claim: Claim, run: Pick<RunRow, 'prompt' | 'submitted_prompt' | 'mode'>, isFirst: boolean, nowMs: number): Work<Task> {
  const followups = yield* takeFollowups(claim, nowMs);
  // Nothing new to do: the prompt again, rather than an agent without a task.
  const withPrompt = isFirst || followups.length === 0;
  const parts = [...(withPrompt ? [run.submitted_prompt ?? run.prompt] : []), ...followups];
  return { prompt: parts.join('\n\n'), mode: yield* modeOf(claim, run.mode as RunMode, withPrompt), attachments: yield* attachmentsOf(claim, withPrompt) };
}

/** What a lost execution had taken on is to be done again by the next. */
export function* giveBack(runId: string, executionId: string): Work<void> {
  yield* change('UPDATE followup SET taken_at = NULL, execution_id = NULL WHERE run_id = ? AND execution_id = ?', runId, executionId);
  yield* change('UPDATE run SET prompt_taken_at = NULL WHERE run_id = ? AND EXISTS (SELECT 1 FROM execution e WHERE e.execution_id = ? AND e.took_prompt = 1)', runId, executionId);
}

function* takeFollowups({ runId, executionId }: Claim, nowMs: number): Work<string[]> {
  const waiting = yield* rows<{ followup_id: string; message: string }>('SELECT followup_id, message FROM followup WHERE run_id = ? AND taken_at IS NULL ORDER BY followup_id', runId);
  if (waiting.length > 0) yield* change('UPDATE followup SET taken_at = ?, execution_id = ? WHERE run_id = ? AND taken_at IS NULL', nowMs, executionId, runId);
  return waiting.map(({ message }) => message);
}

/** Mode of the latest message that an execution takes, else the run's. */
function* modeOf({ runId, executionId }: Claim, ofRun: RunMode, withPrompt: boolean): Work<RunMode> {
  const latest = yield* row<{ mode: RunMode }>(
    "SELECT mode FROM followup WHERE run_id = ? AND (execution_id = ? OR (? = 1 AND outcome = 'queued_prompt')) ORDER BY followup_id DESC LIMIT 1",
    runId, executionId, withPrompt ? 1 : 0,
  );
  return latest?.mode ?? ofRun;
}
