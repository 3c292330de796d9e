/** What is read of runs afterwards: their histories, and the conversations that they belong to. contract §3.1. */
import type { SpokenRun } from '#agents';
import type { EndedState, RunHistory, RunState } from '#runs';
import type { Database } from '../database/database.ts';
import type { ExecutionRow, FollowupRow } from './run.entities.ts';
import { placeholders, row, rows, type SqlValue, type Transaction } from '../database/transactions.ts';

/**
 * Executions and follow-ups of one run that are read, the latest ones: nobody reads a longer history, and it stays
 * bounded.
 */
export const HISTORY_MAX = 1_000;

/** Which runs a key may see; undefined: all. */
export type VisibleFactories = readonly string[] | undefined;

/** An execution, or one turn of it. */
export interface AgentOutputScope {
  executionId: string;
  epoch: number;
  fromSeq?: number;
  untilSeq?: number;
}

export class RunHistoryStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Everything that happened to a run; of more than HISTORY_MAX executions or follow-ups the latest. */
  history(runId: string): Promise<RunHistory | undefined> {
    return this.database.read(function* () {
      const run = yield* row<{ source: string; created_at: number; state: RunState; finished_at: number | null }>(
        'SELECT source, created_at, state, finished_at FROM every_run WHERE run_id = ?',
        runId,
      );
      if (run === undefined) return undefined;
      const executions = yield* executionsOf(runId);
      const followups = yield* rows<FollowupRow>(
        'SELECT followup_id, at, outcome FROM followup WHERE run_id = ? ORDER BY followup_id DESC LIMIT ?',
        runId,
        HISTORY_MAX,
      );
      return {
        runId,
        source: run.source,
        createdAtMs: run.created_at,
        state: run.state,
        finishedAtMs: run.finished_at ?? undefined,
        executions: executions.map((found) => ({
          executionId: found.execution_id,
          epoch: found.epoch,
          claimedAtMs: found.claimed_at,
          preparedAtMs: found.prepared_at ?? undefined,
          startedAtMs: found.started_at ?? undefined,
          cancelRequestedAtMs: found.cancel_requested_at ?? undefined,
          finishedAtMs: found.finished_at ?? undefined,
          outcome: found.outcome ?? undefined,
        })),
        followups: followups
          .toReversed()
          .map(({ followup_id: followupId, at, outcome }) => ({ followupId, atMs: at, outcome })),
        interrupts: yield* interruptsOf(runId),
        ends: yield* endsWithoutExecution(runId),
      };
    });
  }

  /** Whether there is a conversation of this ID with a run that may be seen. */
  async hasConversation(conversationId: string, visible: VisibleFactories): Promise<boolean> {
    return (await this.runsIn(conversationId, visible, 1)).length > 0;
  }

  /** The run of a conversation that was created last, of those that may be seen. */
  async latestRunIn(conversationId: string, visible: VisibleFactories): Promise<string | undefined> {
    if (visible?.length === 0) return undefined;
    const seen = visible === undefined ? '' : ` AND factory_uid IN (${placeholders(visible.length)})`;
    const found = await this.database.read(() =>
      row<{ run_id: string | null }>(
        `SELECT max(run_id) AS run_id FROM run WHERE conversation_id = ?${seen}`,
        conversationId,
        ...(visible ?? []),
      ),
    );
    return found?.run_id ?? (await this.runsIn(conversationId, visible, 1))[0];
  }

  /**
   * Runs of a conversation that may be seen: the one that began it, then the others by their IDs, from `fromRunId` on.
   */
  runsIn(conversationId: string, visible: VisibleFactories, limit: number, fromRunId?: string): Promise<string[]> {
    const seen = visible === undefined ? '' : ` AND factory_uid IN (${placeholders(visible.length)})`;
    const own: SqlValue[] = visible === undefined ? [] : [...visible];
    if (visible?.length === 0) return Promise.resolve([]);
    return this.database.read(function* () {
      const isFromStart = fromRunId === undefined || fromRunId === conversationId;
      const root = isFromStart
        ? yield* rows<{ run_id: string }>(
            `SELECT run_id FROM every_run WHERE run_id = ? AND conversation_id IS NULL${seen}`,
            conversationId,
            ...own,
          )
        : [];
      const others = yield* rows<{ run_id: string }>(
        `SELECT run_id FROM run WHERE conversation_id = ? AND run_id >= ?${seen} ORDER BY run_id LIMIT ?`,
        conversationId,
        isFromStart ? '' : fromRunId,
        ...own,
        limit,
      );
      return [...root, ...others].slice(0, limit).map(({ run_id: runId }) => runId);
    });
  }

  /**
   * What was asked of a run, and which executions took it; of more than HISTORY_MAX executions or follow-ups the
   * latest.
   */
  spoken(runId: string): Promise<SpokenRun | undefined> {
    return this.database.read(function* () {
      const run = yield* row<{ prompt: string; created_at: number; prompt_taken_at: number | null }>(
        'SELECT prompt, created_at, prompt_taken_at FROM every_run WHERE run_id = ?',
        runId,
      );
      if (run === undefined) return undefined;
      const executions = yield* executionsOf(runId);
      const followups = yield* rows<FollowupRow>(
        'SELECT followup_id, at, message, outcome, execution_id, taken_seq, taken_at FROM followup ' +
          'WHERE run_id = ? ORDER BY followup_id DESC LIMIT ?',
        runId,
        HISTORY_MAX,
      );
      return {
        runId,
        prompt: run.prompt,
        createdAtMs: run.created_at,
        promptClaimed: run.prompt_taken_at !== null,
        executions: executions.map((found) => ({
          executionId: found.execution_id,
          epoch: found.epoch,
          tookPrompt: found.took_prompt === 1,
          startedAtMs: found.started_at ?? undefined,
          finishedAtMs: found.finished_at ?? undefined,
        })),
        followups: followups.toReversed().map((found) => ({
          followupId: found.followup_id,
          atMs: found.at,
          message: found.message,
          outcome: found.outcome,
          executionId: found.execution_id ?? undefined,
          readAtSeq: found.taken_seq ?? undefined,
          readAtMs: found.taken_at ?? undefined,
        })),
      };
    });
  }

  /**
   * What an execution wrote to its output or its agent said, and when it began to; undefined: nothing. Only its part of
   * the log is looked at, or one turn's part of that.
   */
  said(
    runId: string,
    { executionId, epoch, fromSeq = 0, untilSeq = SEQ_MAX }: AgentOutputScope,
  ): Promise<{ text: string; atMs: number } | undefined> {
    return this.database.read(function* () {
      const found = yield* rows<{ at: number; body: string }>(
        `SELECT at, body FROM run_event WHERE run_id = ? AND seq >= (SELECT COALESCE(first_seq, 0) FROM execution
          WHERE execution_id = ?)
         AND seq < COALESCE((SELECT first_seq FROM execution WHERE run_id = ? AND epoch > ? AND first_seq IS NOT NULL
         ORDER BY epoch LIMIT 1), ?)
         AND seq >= ? AND seq < ? AND execution_id = ? AND kind IN ('stdout', 'message') ORDER BY seq`,
        runId,
        executionId,
        runId,
        epoch,
        SEQ_MAX,
        fromSeq,
        untilSeq,
        executionId,
      );
      const [first] = found;
      return (
        first && {
          text: found.map(({ body }) => (JSON.parse(body) as { text?: string }).text ?? '').join(''),
          atMs: first.at,
        }
      );
    });
  }
}

/** Beyond every entry of a log. */
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

/** Latest executions in order of their epochs. */
function* executionsOf(runId: string): Transaction<ExecutionRow[]> {
  const columns =
    'execution_id, epoch, took_prompt, claimed_at, prepared_at, started_at, cancel_requested_at, finished_at, outcome';
  const found = yield* rows<ExecutionRow>(
    `SELECT ${columns} FROM execution WHERE run_id = ? ORDER BY epoch DESC LIMIT ?`,
    runId,
    HISTORY_MAX,
  );
  return found.toReversed();
}

function* interruptsOf(runId: string): Transaction<{ interruptId: string; atMs: number }[]> {
  const found = yield* rows<{ interrupt_id: string; at: number }>(
    'SELECT interrupt_id, at FROM run_interrupt WHERE run_id = ? ORDER BY interrupt_id DESC LIMIT ?',
    runId,
    HISTORY_MAX,
  );
  return found.toReversed().map(({ interrupt_id: interruptId, at }) => ({ interruptId, atMs: at }));
}

function* endsWithoutExecution(runId: string): Transaction<{ atMs: number; state: EndedState }[]> {
  const found = yield* rows<{ at: number; body: string }>(
    "SELECT at, body FROM run_event WHERE run_id = ? AND execution_id IS NULL AND kind = 'status' " +
      'ORDER BY seq DESC LIMIT ?',
    runId,
    HISTORY_MAX,
  );
  return found.toReversed().flatMap(({ at, body }) => {
    const { state } = JSON.parse(body) as { state?: EndedState };
    return state === undefined ? [] : [{ atMs: at, state }];
  });
}
