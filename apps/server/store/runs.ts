/** Runs as rows: every change of state is one conditional update on state and epoch. spec: States and transitions; contract 3. */
import type { FollowupDecision, FollowupOutcome, RunState } from '#runs';
import type { Database } from './database.ts';
import { looking } from './faults.ts';
import { attach, type NewAttachment } from './attachments.ts';
import { audit } from './audit.ts';
import { METADATA_COLUMNS, RUN_COLUMNS, toMetadataValues, toRunValues, type NewRun } from './new-run.ts';
import { appendToLog, type RunEvent, type StoredEvent } from './run-log.ts';
import { cancelling, followingUp, requeueForFollowups, type Beside, type CancelOutcome, type FollowupDecider, type NewFollowup } from './run-steering.ts';
import { giveBack, takeTask, type Task } from './run-tasks.ts';
import { change, databaseNow, insert, placeholders, row, rows } from './statements.ts';
import { RUN, type RunRow } from './tables.ts';

/** The right to work on a run until `leaseUntilMs`; every write carries the epoch. */
export interface Claim {
  runId: string;
  executionId: string;
  epoch: number;
}

export interface ClaimedRun extends Claim {
  factoryUid?: string;
  automationUid?: string;
  entryId?: string;
  agentConfig: string;
  interactive: boolean;
  conversationId: string;
  parentRunId?: string;
  /** JSON of what its automation says. */
  limits?: string;
  network?: string;
}

/** How an execution ended. */
export interface Ending {
  state: Extract<RunState, 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED'>;
  message: string;
  errorCode?: string;
  retryable?: boolean;
}

/** Where a run stands, without its texts. */
export type Standing = Pick<RunRow, 'run_id' | 'factory_uid' | 'state' | 'status_message' | 'error_code' | 'retryable' | 'updated_at'>;

/** Waiting runs that a create counts: more than any engine has places for. */
const WAITING_COUNTED_MAX = 1_000;

const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
const ENDED = "('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";

export class RunStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Stores a new run with its files. Answers how many other runs wait, looking at no more than WAITING_COUNTED_MAX; undefined when its
   * factory was deleted meanwhile.
   */
  create(run: NewRun, { by, attachments = [], also }: Beside<{ waiting: number }> & { attachments?: readonly NewAttachment[] } = {}): Promise<{ waiting: number } | undefined> {
    return this.database.run(function* () {
      // Shared: a deletion that comes later waits for us and cancels what we queue.
      const factory = run.factoryUid === undefined ? undefined : yield* row<{ deleted_at: number | null }>('SELECT deleted_at FROM factory WHERE uid = ? FOR SHARE', run.factoryUid);
      if (typeof factory?.deleted_at === 'number') return undefined;
      yield* insert('run', RUN_COLUMNS, [toRunValues(run)]);
      yield* insert('run_metadata', METADATA_COLUMNS, toMetadataValues(run));
      yield* attach(run.runId, '', attachments);
      yield* audit(by, { action: 'run.create', subject: run.runId, factoryUid: run.factoryUid });
      const counted = yield* row<{ waiting: number }>("SELECT count(*) AS waiting FROM (SELECT 1 FROM run WHERE state = 'QUEUED' AND run_id <> ? LIMIT ?) AS queue", run.runId, WAITING_COUNTED_MAX);
      const made = { waiting: counted?.waiting ?? 0 };
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  async find(runId: string): Promise<RunRow | undefined> {
    return (await looking(this.database.source.getRepository(RUN).findOneBy({ run_id: runId }))) ?? undefined;
  }

  /** Where a run stands now, without its texts; undefined when there is none. */
  standing(runId: string): Promise<Standing | undefined> {
    return this.database.read(() => row<Standing>('SELECT run_id, factory_uid, state, status_message, error_code, retryable, updated_at FROM run WHERE run_id = ?', runId));
  }

  /** Which of these runs belong to one of these factories. */
  async among(runIds: readonly string[], factoryUids: readonly string[]): Promise<Set<string>> {
    if (runIds.length === 0 || factoryUids.length === 0) return new Set();
    const found = await this.database.read(() =>
      rows<{ run_id: string }>(`SELECT run_id FROM run WHERE run_id IN (${placeholders(runIds.length)}) AND factory_uid IN (${placeholders(factoryUids.length)})`, ...runIds, ...factoryUids));
    return new Set(found.map(({ run_id: runId }) => runId));
  }

  /** How many runs wait in each factory that has any; those of no factory under ''. */
  async waiting(): Promise<Map<string, number>> {
    const found = await this.database.read(() =>
      rows<{ factory_uid: string | null; waiting: number }>("SELECT factory_uid, count(*) AS waiting FROM run WHERE state = 'QUEUED' GROUP BY factory_uid"));
    return new Map(found.map(({ factory_uid: uid, waiting }) => [uid ?? '', waiting]));
  }

  /** Claims up to `count` waiting runs in order of creation: QUEUED → CLAIMED with a higher epoch and a lease. */
  claim(owner: string, leaseMs: number, count: number, executionIds: readonly string[]): Promise<ClaimedRun[]> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const waiting = yield* rows<RunRow>(
        "SELECT run_id, epoch, factory_uid, automation_uid, entry_id, agent_config, interactive, conversation_id, parent_run_id, limits, network FROM run WHERE state = 'QUEUED' ORDER BY run_id LIMIT ? FOR UPDATE SKIP LOCKED",
        count,
      );
      const claimed: ClaimedRun[] = [];
      for (const [position, run] of waiting.entries()) {
        const executionId = executionIds[position] as string;
        yield* change(
          "UPDATE run SET state = 'CLAIMED', epoch = epoch + 1, lease_owner = ?, lease_until = ?, execution_id = ?, session_id = COALESCE(session_id, ?), updated_at = ? WHERE run_id = ? AND state = 'QUEUED'",
          owner, nowMs + leaseMs, executionId, run.run_id, nowMs, run.run_id,
        );
        yield* insert('execution', ['execution_id', 'run_id', 'epoch', 'owner', 'claimed_at'], [[executionId, run.run_id, run.epoch + 1, owner, nowMs]]);
        claimed.push({
          runId: run.run_id, executionId, epoch: run.epoch + 1, factoryUid: run.factory_uid ?? undefined, automationUid: run.automation_uid ?? undefined,
          entryId: run.entry_id ?? undefined, agentConfig: run.agent_config, interactive: run.interactive === 1, conversationId: run.conversation_id ?? run.run_id,
          parentRunId: run.parent_run_id ?? undefined, limits: run.limits ?? undefined, network: run.network ?? undefined,
        });
      }
      return claimed;
    });
  }

  /** CLAIMED → PENDING: the workspace is being prepared. False when the claim was lost. */
  prepare(claim: Claim): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const moved = yield* change("UPDATE run SET state = 'PENDING', updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'CLAIMED'", nowMs, claim.runId, claim.epoch);
      if (moved === 1) yield* change('UPDATE execution SET prepared_at = ? WHERE execution_id = ?', nowMs, claim.executionId);
      return moved === 1;
    });
  }

  /** PENDING → INPROGRESS: hands over what the agent has to do now, follow-ups that wait included. Undefined when the claim was lost or a cancel came first. */
  begin(claim: Claim): Promise<Task | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const run = yield* row<RunRow>('SELECT prompt, submitted_prompt, prompt_taken_at, mode FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE', claim.runId, claim.epoch);
      if (run === undefined) return undefined;
      const moved = yield* change(
        "UPDATE run SET state = 'INPROGRESS', prompt_taken_at = COALESCE(prompt_taken_at, ?), started_at = COALESCE(started_at, ?), updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'PENDING' AND cancel_requested_at IS NULL",
        nowMs, nowMs, nowMs, claim.runId, claim.epoch,
      );
      if (moved !== 1) return undefined;
      const isFirst = run.prompt_taken_at === null;
      yield* change(
        'UPDATE execution SET started_at = ?, took_prompt = ?, first_seq = (SELECT COALESCE(max(seq), 0) + 1 FROM run_event WHERE run_id = ?) WHERE execution_id = ?',
        nowMs, isFirst ? 1 : 0, claim.runId, claim.executionId,
      );
      return yield* takeTask(claim, run, isFirst, nowMs);
    });
  }

  /** Remembers which process an execution runs in, so that a restart can find what is left of it. */
  async noteProcess(claim: Claim, process: string, sandbox: string): Promise<void> {
    await this.database.run(() => change('UPDATE execution SET process = ?, sandbox = ? WHERE execution_id = ?', process, sandbox, claim.executionId));
  }

  /** Extends the lease and tells whether somebody wants the run cancelled; undefined when the claim was lost. */
  renew(claim: Claim, leaseMs: number): Promise<{ cancelRequested: boolean } | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const renewed = yield* row<{ cancel_requested_at: number | null }>(
        `UPDATE run SET lease_until = ? WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} RETURNING cancel_requested_at`,
        nowMs + leaseMs, claim.runId, claim.epoch,
      );
      return renewed && { cancelRequested: renewed.cancel_requested_at !== null };
    });
  }

  /**
   * Writes the end once: conditional on epoch and a live state, so that a cancel and an end cannot both win.
   * A cancel that was accepted makes every end CANCELLED; follow-ups that still wait queue the run again. False when the claim was lost.
   */
  finish(claim: Claim, ending: Ending): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const ended = yield* row<{ state: string }>(
        `UPDATE run SET state = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE 'CANCELLED' END,
          status_message = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE 'cancelled on request' END,
          error_code = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE NULL END, retryable = ?,
          lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ?
          WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} RETURNING state`,
        ending.state, ending.message, ending.errorCode ?? null, ending.retryable ? 1 : 0, nowMs, nowMs, claim.runId, claim.epoch,
      );
      if (ended === undefined) return false;
      yield* change('UPDATE execution SET outcome = ?, finished_at = ? WHERE execution_id = ?', ended.state, nowMs, claim.executionId);
      if (ended.state !== 'CANCELLED') yield* requeueForFollowups(claim.runId, nowMs);
      return true;
    });
  }

  /**
   * Stores the wish to cancel. `cancelled`: it was waiting and is cancelled now. `requested`: its supervisor will end it.
   * `repeated`: it is cancelled or being cancelled already. `ended`: another end came first.
   */
  cancel(runId: string, beside: Beside<CancelOutcome> = {}): Promise<CancelOutcome> {
    return this.database.run(() => cancelling(runId, beside));
  }

  /**
   * Stores a follow-up and, by `decide` on the run's state of this moment, what becomes of it.
   * `queued_prompt` joins it to the prompt; `handoff_execution` queues the ended run again.
   */
  followup(wanted: NewFollowup, decide: FollowupDecider, beside: Beside<FollowupOutcome> = {}): Promise<FollowupDecision | undefined> {
    return this.database.run(() => followingUp(wanted, decide, beside));
  }

  /** Appends to the run's log in order; a stale epoch writes nothing. Answers the last sequence number, undefined when the claim was lost. */
  append(claim: Claim, events: readonly RunEvent[]): Promise<number | undefined> {
    return this.database.run(function* () {
      const held = yield* row('SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE', claim.runId, claim.epoch);
      return held && (yield* appendToLog(claim.runId, claim.executionId, events));
    });
  }

  events(runId: string, after: number, limit: number): Promise<StoredEvent[]> {
    return this.database.read(function* () {
      const found = yield* rows<{ seq: number; execution_id: string | null; at: number; kind: string; body: string }>(
        'SELECT seq, execution_id, at, kind, body FROM run_event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?',
        runId, after, limit,
      );
      return found.map(({ seq, execution_id: executionId, at, kind, body }) => ({ seq, executionId: executionId ?? undefined, atMs: at, kind, body }));
    });
  }

  /**
   * Live runs that nobody works on: their lease has run out, or, where this process is the only one (`alone`), they belong to
   * another process, which therefore no longer exists. With what is left of their process.
   */
  abandoned(owner: string, alone: boolean): Promise<{ run: RunRow; process?: string; executionId: string }[]> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* rows<RunRow & { process: string | null }>(
        `SELECT r.*, e.process FROM run r LEFT JOIN execution e ON e.execution_id = r.execution_id
         WHERE r.state IN ${LIVE} AND (r.lease_until < ? OR (? = 1 AND r.lease_owner <> ?)) ORDER BY r.run_id LIMIT 200`,
        nowMs, alone ? 1 : 0, owner,
      );
      return found.map((run) => ({ run, process: run.process ?? undefined, executionId: run.execution_id ?? '' }));
    });
  }

  /** Puts a lost execution's run back into the queue, or ends it; conditional on the epoch that was lost. */
  takeOver(runId: string, epoch: number, verdict: 'requeue' | Ending): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const run = yield* row<RunRow>(`SELECT cancel_requested_at, execution_id FROM run WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} FOR UPDATE`, runId, epoch);
      if (run === undefined) return false;
      const ending = run.cancel_requested_at !== null ? CANCELLED_AFTER_LOSS : verdict;
      if (run.execution_id !== null) {
        yield* change('UPDATE execution SET outcome = ?, finished_at = ? WHERE execution_id = ?', ending === 'requeue' ? 'LOST' : ending.state, nowMs, run.execution_id);
      }
      if (ending === 'requeue') {
        if (run.execution_id !== null) yield* giveBack(runId, run.execution_id);
        yield* change("UPDATE run SET state = 'QUEUED', epoch = epoch + 1, takeovers = takeovers + 1, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE run_id = ?", nowMs, runId);
        return true;
      }
      yield* change(
        'UPDATE run SET state = ?, status_message = ?, error_code = ?, retryable = ?, epoch = epoch + 1, lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ? WHERE run_id = ?',
        ending.state, ending.message, ending.errorCode ?? null, ending.retryable ? 1 : 0, nowMs, nowMs, runId,
      );
      if (ending.state !== 'CANCELLED') yield* requeueForFollowups(runId, nowMs);
      return true;
    });
  }

  /** Which of these runs have ended before a time, or do not exist: nothing of theirs is needed any more. */
  async over(runIds: readonly string[], beforeMs: number): Promise<string[]> {
    if (runIds.length === 0) return [];
    const kept = await this.database.read(() =>
      rows<{ run_id: string }>(`SELECT run_id FROM run WHERE run_id IN (${placeholders(runIds.length)}) AND NOT (state IN ${ENDED} AND finished_at < ?)`, ...runIds, beforeMs));
    const needed = new Set(kept.map(({ run_id: runId }) => runId));
    return runIds.filter((runId) => !needed.has(runId));
  }

  /** Runs of these log entries, oldest first. */
  async startedBy(entryIds: readonly string[]): Promise<{ entryId: string; runId: string }[]> {
    if (entryIds.length === 0) return [];
    const found = await this.database.read(() =>
      rows<{ entry_id: string; run_id: string }>(`SELECT entry_id, run_id FROM run WHERE entry_id IN (${placeholders(entryIds.length)}) ORDER BY run_id`, ...entryIds));
    return found.map(({ entry_id: entryId, run_id: runId }) => ({ entryId, runId }));
  }
}

const CANCELLED_AFTER_LOSS: Ending = { state: 'CANCELLED', message: 'cancelled on request' };
