/** Runs as rows: every change of state is one conditional update on state and epoch. spec: States and transitions; contract 3. */
import { type Meter } from '#agents';
import {
  NOBODY_SERVED,
  type FollowupDecision,
  type FollowupOutcome,
  type LeasedState,
  type LiveBounds,
  type RunState,
  type Served,
} from '#runs';
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/faults.ts';
import { attach, type NewAttachment } from './attachments.ts';
import { audit } from '../access/audit.ts';
import { METADATA_COLUMNS, RUN_COLUMNS, toMetadataValues, toRunValues, type NewRun } from './new-run.ts';
import { closeQuestions } from './permissions.ts';
import { appendToLog, type RunEvent, type StoredRunEvent } from './run-log.ts';
import { claiming } from './run-claims.ts';
import { ANYWHERE, type Placement } from './run-placement.ts';
import {
  cancelling,
  followingUp,
  requeueForFollowups,
  type TransactionHook,
  type CancelOutcome,
  type FollowupDecider,
  type NewFollowup,
} from './run-commands.ts';
import { abandonedRuns, release, reclaim, type AbandonedRun, type ReclaimDecision } from './run-takeovers.ts';
import { takeMore, takeTask, type Task } from './run-tasks.ts';
import { noteUsage, storedUsage } from './run-usage.ts';
import { change, databaseNow, insert, placeholders, row, rows } from '../database/transactions.ts';
import { RUN, type RunRow } from './run.entities.ts';
import { notingUnplaced } from './unplaced-runs.ts';

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
export interface RunEnd {
  state: Extract<RunState, 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED'>;
  message: string;
  errorCode?: string;
  retryable?: boolean;
}

/** Where a run stands, without its texts. */
export type RunStatus = Pick<
  RunRow,
  'run_id' | 'factory_uid' | 'state' | 'status_message' | 'error_code' | 'retryable' | 'updated_at'
>;

/** Waiting runs that a create counts: more than any engine has places for. */
const WAITING_COUNTED_MAX = 1_000;

const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
const ENDED = "('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";

export class RunStore {
  private readonly database: Database;
  /** Whose turn it was last, of those that this process served. */
  private served: Served = NOBODY_SERVED;
  /** Whether a waiting run may say that there is no worker, as far as this process knows. */
  private mayLackWorkers = true;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Stores a new run with its files. Answers how many other runs wait, looking at no more than WAITING_COUNTED_MAX; undefined when its
   * factory was deleted meanwhile.
   */
  create(
    run: NewRun,
    {
      by,
      attachments = [],
      also,
    }: TransactionHook<{ waiting: number }> & { attachments?: readonly NewAttachment[] } = {},
  ): Promise<{ waiting: number } | undefined> {
    return this.database.run(function* () {
      // Shared: a deletion that comes later waits for us and cancels what we queue.
      const factory =
        run.factoryUid === undefined
          ? undefined
          : yield* row<{ deleted_at: number | null }>(
              'SELECT deleted_at FROM factory WHERE uid = ? FOR SHARE',
              run.factoryUid,
            );
      if (typeof factory?.deleted_at === 'number') return undefined;
      yield* insert('run', RUN_COLUMNS, [toRunValues(run)]);
      yield* insert('run_metadata', METADATA_COLUMNS, toMetadataValues(run));
      yield* attach(run.runId, '', attachments);
      yield* audit(by, { action: 'run.create', subject: run.runId, factoryUid: run.factoryUid });
      const counted = yield* row<{ waiting: number }>(
        "SELECT count(*) AS waiting FROM (SELECT 1 FROM run WHERE state = 'QUEUED' AND run_id <> ? LIMIT ?) AS queue",
        run.runId,
        WAITING_COUNTED_MAX,
      );
      const made = { waiting: counted?.waiting ?? 0 };
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  async find(runId: string): Promise<RunRow | undefined> {
    return (await withStoreErrors(this.database.source.getRepository(RUN).findOneBy({ run_id: runId }))) ?? undefined;
  }

  /** Where a run stands now, without its texts; undefined when there is none. */
  standing(runId: string): Promise<RunStatus | undefined> {
    return this.database.read(() =>
      row<RunStatus>(
        'SELECT run_id, factory_uid, state, status_message, error_code, retryable, updated_at FROM run WHERE run_id = ?',
        runId,
      ),
    );
  }

  /** Which of these runs belong to one of these factories. */
  async among(runIds: readonly string[], factoryUids: readonly string[]): Promise<Set<string>> {
    if (runIds.length === 0 || factoryUids.length === 0) return new Set();
    const found = await this.database.read(() =>
      rows<{ run_id: string }>(
        `SELECT run_id FROM run WHERE run_id IN (${placeholders(runIds.length)}) AND factory_uid IN (${placeholders(factoryUids.length)})`,
        ...runIds,
        ...factoryUids,
      ),
    );
    return new Set(found.map(({ run_id: runId }) => runId));
  }

  /** How many runs wait in each factory that has any; those of no factory under ''. */
  async waiting(): Promise<Map<string, number>> {
    const found = await this.database.read(() =>
      // In the order of the index.
      rows<{ uid: string; waiting: number }>(
        "SELECT COALESCE(factory_uid, '') AS uid, count(*) AS waiting FROM run WHERE state = 'QUEUED' GROUP BY COALESCE(worker_host, ''), COALESCE(factory_uid, '')",
      ),
    );
    const counts = new Map<string, number>();
    for (const { uid, waiting } of found) counts.set(uid, (counts.get(uid) ?? 0) + waiting);
    return counts;
  }

  /** Claims up to `count` waiting runs that may be worked on at `placement`, in fair order, within `bounds` over all processes: QUEUED → CLAIMED with a higher epoch and a lease. */
  async claim(
    owner: string,
    leaseMs: number,
    count: number,
    executionIds: readonly string[],
    bounds: LiveBounds = {},
    placement: Placement = ANYWHERE,
  ): Promise<ClaimedRun[]> {
    const { claimed, served } = await this.database.run(() =>
      claiming({ owner, leaseMs, executionIds: executionIds.slice(0, count), bounds, placement }, this.served),
    );
    this.served = served;
    return claimed;
  }

  /** Tells in the status of waiting runs that nobody works on the machine that they ask for, or nobody at all; takes it back when somebody does. */
  async noteUnplaced(): Promise<void> {
    this.mayLackWorkers = await this.database.run(() => notingUnplaced(this.mayLackWorkers));
  }

  /** CLAIMED → PENDING: the workspace is being prepared. False when the claim was lost. */
  prepare(claim: Claim): Promise<boolean> {
    return this.database.run(function* () {
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
    });
  }

  /** PENDING → INPROGRESS: hands over what the agent has to do now, follow-ups that wait included. Undefined when the claim was lost or a cancel came first. */
  begin(claim: Claim): Promise<Task | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const run = yield* row<RunRow>(
        'SELECT prompt, submitted_prompt, prompt_taken_at, mode FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE',
        claim.runId,
        claim.epoch,
      );
      if (run === undefined) return undefined;
      const moved = yield* change(
        "UPDATE run SET state = 'INPROGRESS', prompt_taken_at = COALESCE(prompt_taken_at, ?), started_at = COALESCE(started_at, ?), updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'PENDING' AND cancel_requested_at IS NULL",
        nowMs,
        nowMs,
        nowMs,
        claim.runId,
        claim.epoch,
      );
      if (moved !== 1) return undefined;
      const isFirst = run.prompt_taken_at === null;
      yield* change(
        'UPDATE execution SET started_at = ?, took_prompt = ?, first_seq = (SELECT COALESCE(max(seq), 0) + 1 FROM run_event WHERE run_id = ?) WHERE execution_id = ?',
        nowMs,
        isFirst ? 1 : 0,
        claim.runId,
        claim.executionId,
      );
      return yield* takeTask(claim, run, isFirst, nowMs);
    });
  }

  /** Hands over follow-ups that came since; undefined: there are none, or the execution is to end. Everything that was said before has to be in the log. */
  takeFollowups(claim: Claim): Promise<Task | undefined> {
    return this.database.run(() => takeMore(claim));
  }

  /** Remembers which process an execution runs in, so that a restart can find what is left of it. False when the claim was lost. */
  async noteProcess(claim: Claim, process: string, sandbox: string): Promise<boolean> {
    const noted = await this.database.run(() =>
      change(
        'UPDATE execution SET process = ?, sandbox = ? WHERE execution_id = ? AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = execution.run_id AND r.epoch = ?)',
        process,
        sandbox,
        claim.executionId,
        claim.epoch,
      ),
    );
    return noted === 1;
  }

  /** Extends the lease and tells whether somebody wants the run cancelled; undefined when the claim was lost. */
  renew(claim: Claim, leaseMs: number): Promise<{ cancelRequested: boolean } | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const renewed = yield* row<{ cancel_requested_at: number | null }>(
        `UPDATE run SET lease_until = ? WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} RETURNING cancel_requested_at`,
        nowMs + leaseMs,
        claim.runId,
        claim.epoch,
      );
      return renewed && { cancelRequested: renewed.cancel_requested_at !== null };
    });
  }

  /**
   * Writes the end once, in the log too: conditional on epoch and a live state, so that a cancel and an end cannot both win.
   * A cancel that was accepted makes every end CANCELLED; follow-ups that still wait queue the run again, if the execution had begun. False when the claim was lost.
   */
  finish(claim: Claim, ending: RunEnd): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const ended = yield* row<{ state: string; status_message: string }>(
        `UPDATE run SET state = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE 'CANCELLED' END,
          status_message = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE COALESCE(cancel_reason, 'cancelled on request') END,
          error_code = CASE WHEN cancel_requested_at IS NULL THEN ? ELSE NULL END, retryable = ?,
          lease_owner = NULL, lease_until = NULL, finished_at = ?, updated_at = ?
          WHERE run_id = ? AND epoch = ? AND state IN ${LIVE} RETURNING state, status_message`,
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
      const execution = yield* row<{ started_at: number | null }>(
        'UPDATE execution SET outcome = ?, finished_at = ? WHERE execution_id = ? RETURNING started_at',
        ended.state,
        nowMs,
        claim.executionId,
      );
      yield* appendToLog(claim.runId, claim.executionId, [
        { kind: 'status', atMs: nowMs, body: JSON.stringify({ state: ended.state, message: ended.status_message }) },
      ]);
      // What kept this execution from beginning would keep the next one too: what waits is told with the next message that people send.
      const hadBegun = typeof execution?.started_at === 'number';
      if (ended.state !== 'CANCELLED' && hadBegun) yield* requeueForFollowups(claim.runId, nowMs);
      return true;
    });
  }

  /**
   * Stores the wish to cancel. `cancelled`: it was waiting and is cancelled now. `requested`: its supervisor will end it.
   * `repeated`: it is cancelled or being cancelled already. `ended`: another end came first.
   */
  cancel(runId: string, beside: TransactionHook<CancelOutcome> = {}): Promise<CancelOutcome> {
    return this.database.run(() => cancelling(runId, beside));
  }

  /**
   * Stores a follow-up and, by `decide` on the run's state of this moment, what becomes of it.
   * `queued_prompt` joins it to the prompt; `handoff_execution` queues the ended run again.
   */
  followup(
    wanted: NewFollowup,
    decide: FollowupDecider,
    beside: TransactionHook<FollowupOutcome> = {},
  ): Promise<FollowupDecision | undefined> {
    return this.database.run(() => followingUp(wanted, decide, beside));
  }

  /**
   * Appends to the run's log in order, and stores what it has used meanwhile; a stale epoch writes nothing. Answers the last sequence
   * number, undefined when the claim was lost.
   */
  append(claim: Claim, events: readonly RunEvent[], used?: Meter): Promise<number | undefined> {
    return this.database.run(function* () {
      const held = yield* row(
        'SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE',
        claim.runId,
        claim.epoch,
      );
      if (held === undefined) return undefined;
      if (used !== undefined) yield* noteUsage(claim, used);
      return yield* appendToLog(claim.runId, claim.executionId, events);
    });
  }

  /** What the executions of a run have used so far, as it was stored; undefined where nothing was told. */
  usage(runId: string): Promise<string | undefined> {
    return this.database.read(() => storedUsage(runId));
  }

  events(runId: string, after: number, limit: number): Promise<StoredRunEvent[]> {
    return this.database.read(function* () {
      const found = yield* rows<{ seq: number; execution_id: string | null; at: number; kind: string; body: string }>(
        'SELECT seq, execution_id, at, kind, body FROM run_event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?',
        runId,
        after,
        limit,
      );
      return found.map(({ seq, execution_id: executionId, at, kind, body }) => ({
        seq,
        executionId: executionId ?? undefined,
        atMs: at,
        kind,
        body,
      }));
    });
  }

  /**
   * Live runs that nobody works on: their lease has run out, or, where this process is the only one (`alone`), they belong to
   * another process, which therefore no longer exists. With what is left of their process; at most ABANDONED_MAX.
   */
  abandoned(owner: string, alone: boolean): Promise<AbandonedRun[]> {
    return this.database.read(() => abandonedRuns(owner, alone));
  }

  /** Puts a lost execution's run back into the queue, or ends it; conditional on the epoch that was lost. */
  reclaim(runId: string, epoch: number, verdict: ReclaimDecision): Promise<boolean> {
    return this.database.run(() => reclaim(runId, epoch, verdict));
  }

  /**
   * Gives a run back whose execution its own service has ended: queued again at once, for whoever claims it, and not counted as
   * lost. `decide` on the state of this moment. A cancel that was accepted ends it. False when the claim was lost.
   */
  release(claim: Claim, decide: (state: LeasedState) => ReclaimDecision): Promise<boolean> {
    return this.database.run(() => release(claim, decide));
  }

  /** Which of these runs have ended before a time, or do not exist: nothing of theirs is needed any more. */
  async over(runIds: readonly string[], beforeMs: number): Promise<string[]> {
    if (runIds.length === 0) return [];
    const kept = await this.database.read(() =>
      rows<{ run_id: string }>(
        `SELECT run_id FROM run WHERE run_id IN (${placeholders(runIds.length)}) AND NOT (state IN ${ENDED} AND finished_at < ?)`,
        ...runIds,
        beforeMs,
      ),
    );
    const needed = new Set(kept.map(({ run_id: runId }) => runId));
    return runIds.filter((runId) => !needed.has(runId));
  }
}
