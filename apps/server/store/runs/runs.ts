/**
 * Runs as rows: every change of state is one conditional update on state and epoch. spec: States and transitions;
 * contract §3.
 */
import type { Meter } from '#agents';
import {
  type FollowupDecision,
  type FollowupOutcome,
  type LeasedState,
  type LiveBounds,
  NOBODY_SERVED,
  type RunEnd,
  type Served,
} from '#runs';
import type { Database } from '../database/database.ts';
import {
  type AbandonedRun,
  abandonedRuns,
  prepareRun,
  finishRun,
  beginRun,
  type ReclaimDecision,
  reclaimRun,
  releaseRun,
} from './run-executions.ts';
import { createRun, type CreateRunOptions, type NewRun } from './new-run.ts';
import { appendToLog, noteUsage, type RunEvent, type StoredRunEvent, storedUsage } from './run-log.ts';
import { claimRuns } from './run-claims.ts';
import { ANYWHERE, markUnplacedRuns, mayMarkReferring, type Placement, type Unplaced } from './run-placement.ts';
import {
  type CancelOutcome,
  cancelRun,
  type FollowupDecider,
  type NewFollowup,
  storeFollowup,
  type TransactionHook,
} from './run-commands.ts';
import { rootsOf } from './run-filters.ts';
import { OPEN_INTERRUPT } from './run-interrupts.ts';
import { takeLaterFollowups, type Task } from './run-tasks.ts';
import { catchUpQueue, waitingByFactory } from './waiting-runs.ts';
import { change, databaseNow, placeholders, row, rows } from '../database/transactions.ts';
import { RUN, type RunRow, LIVE_STATES, ENDED_STATES } from './run.entities.ts';

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

/** The status of a run, without its texts. */
export type RunStatus = Pick<
  RunRow,
  'run_id' | 'factory_uid' | 'state' | 'status_message' | 'error_code' | 'retryable' | 'updated_at'
>;

/** What somebody wants of a run that is worked on. */
export interface Renewal {
  cancelRequested: boolean;
  /** The turn is to be ended, and nothing new was said since. */
  interruptId?: string;
}

export class RunStore {
  private readonly database: Database;
  /** Whose turn it was last, of those that this process served. */
  private served: Served = NOBODY_SERVED;
  /** Whether a waiting run may say that there is no worker, as far as this process knows. */
  private unplaced: Unplaced = { mayLack: true, after: '' };
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Stores a new run with its files. Answers how many other runs wait, looking at no more than WAITING_COUNTED_MAX;
   * undefined when its factory was deleted meanwhile.
   */
  create(run: NewRun, options: CreateRunOptions = {}): Promise<{ waiting: number } | undefined> {
    return this.database.run(() => createRun(run, options));
  }

  async find(runId: string): Promise<RunRow | undefined> {
    return this.database.read(() =>
      row<RunRow>(`SELECT ${RUN.columns.join(', ')} FROM every_run WHERE run_id = ?`, runId),
    );
  }

  /** The status of a run, without its texts; undefined when there is none. */
  status(runId: string): Promise<RunStatus | undefined> {
    return this.database.read(() =>
      row<RunStatus>(
        'SELECT run_id, factory_uid, state, status_message, error_code, retryable, updated_at ' +
          'FROM every_run WHERE run_id = ?',
        runId,
      ),
    );
  }

  /** Which of these runs belong to one of these factories. */
  async among(runIds: readonly string[], factoryUids: readonly string[]): Promise<Set<string>> {
    if (runIds.length === 0 || factoryUids.length === 0) return new Set();
    const found = await this.database.read(() =>
      rows<{ run_id: string }>(
        `SELECT run_id FROM every_run WHERE run_id IN (${placeholders(runIds.length)}) ` +
          `AND factory_uid IN (${placeholders(factoryUids.length)})`,
        ...runIds,
        ...factoryUids,
      ),
    );
    return new Set(found.map(({ run_id: runId }) => runId));
  }

  /** For each of these runs the one at the top of those that it was started by, through these factories' runs. */
  async roots(runIds: readonly string[], factoryUids: readonly string[] | undefined): Promise<Map<string, string>> {
    if (runIds.length === 0) return new Map();
    const { text, params } = rootsOf(runIds, factoryUids);
    const found = await this.database.read(() => rows<{ run_id: string; root_run_id: string }>(text, ...params));
    return new Map(found.map(({ run_id: runId, root_run_id: root }) => [runId, root]));
  }

  /** How many runs wait in each factory that has any; those of no factory under ''. Counted away from acceptances. */
  async waiting(): Promise<Map<string, number>> {
    const found = await this.database.longRead(waitingByFactory);
    const counts = new Map<string, number>();
    for (const { uid, waiting } of found) counts.set(uid, (counts.get(uid) ?? 0) + waiting);
    return counts;
  }

  /**
   * Claims up to `count` waiting runs that may be worked on at `placement`, in fair order, within `bounds` over all
   * processes: QUEUED → CLAIMED with a higher epoch and a lease.
   */
  async claim(
    owner: string,
    leaseMs: number,
    count: number,
    executionIds: readonly string[],
    bounds: LiveBounds = {},
    placement: Placement = ANYWHERE,
  ): Promise<ClaimedRun[]> {
    // Outside the transaction others have their turn meanwhile.
    await this.database.read(() => catchUpQueue());
    const { claimed, served } = await this.database.run(() =>
      claimRuns({ owner, leaseMs, executionIds: executionIds.slice(0, count), bounds, placement }, this.served),
    );
    this.served = served;
    return claimed;
  }

  /**
   * Tells in the status of waiting runs that nobody works on the machine that they ask for, or nobody at all; takes it
   * back when somebody does.
   */
  async markUnplaced(): Promise<void> {
    // Outside the transaction others have their turn meanwhile.
    if (await this.database.read(() => mayMarkReferring(this.unplaced))) await this.database.read(() => catchUpQueue());
    this.unplaced = await this.database.run(() => markUnplacedRuns(this.unplaced));
  }

  /** CLAIMED → PENDING: the workspace is being prepared. False when the claim was lost. */
  prepare(claim: Claim): Promise<boolean> {
    return this.database.run(() => prepareRun(claim));
  }

  /**
   * PENDING → INPROGRESS: hands over what the agent has to do now, follow-ups that wait included. Undefined when the
   * claim was lost or a cancel came first.
   */
  begin(claim: Claim): Promise<Task | undefined> {
    return this.database.run(() => beginRun(claim));
  }

  /**
   * Hands over follow-ups that came since; undefined: there are none, or the execution is to end. `isInTurn`: the agent
   * works, so that what came behind an interrupt waits. Everything that was said before has to be in the log.
   */
  takeFollowups(claim: Claim, isInTurn = false): Promise<Task | undefined> {
    return this.database.run(() => takeLaterFollowups(claim, isInTurn));
  }

  /**
   * Remembers which process an execution runs in, so that a restart can find what is left of it. False when the claim
   * was lost.
   */
  async noteProcess(claim: Claim, process: string, sandbox: string): Promise<boolean> {
    const noted = await this.database.run(() =>
      change(
        'UPDATE execution SET process = ?, sandbox = ? WHERE execution_id = ? AND EXISTS (SELECT 1 ' +
          'FROM run r WHERE r.run_id = execution.run_id AND r.epoch = ?)',
        process,
        sandbox,
        claim.executionId,
        claim.epoch,
      ),
    );
    return noted === 1;
  }

  /** Extends the lease and tells what somebody wants of the run; undefined when the claim was lost. */
  renew(claim: Claim, leaseMs: number): Promise<Renewal | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const renewed = yield* row<{ cancel_requested_at: number | null; interrupt_id: string | null }>(
        `UPDATE run SET lease_until = ? WHERE run_id = ? AND epoch = ? AND state IN ${LIVE_STATES} ` +
          `RETURNING cancel_requested_at, ${OPEN_INTERRUPT} AS interrupt_id`,
        nowMs + leaseMs,
        claim.runId,
        claim.epoch,
      );
      return (
        renewed && {
          cancelRequested: renewed.cancel_requested_at !== null,
          interruptId: renewed.interrupt_id ?? undefined,
        }
      );
    });
  }

  /**
   * Writes the end once, in the log too: conditional on epoch and a live state, so that a cancel and an end cannot both
   * win.
   * A cancel that was accepted makes every end CANCELLED; follow-ups that still wait queue the run again, if the
   * execution had begun. False when the claim was lost.
   */
  finish(claim: Claim, ending: RunEnd): Promise<boolean> {
    return this.database.run(() => finishRun(claim, ending));
  }

  /**
   * Stores the wish to cancel. `cancelled`: it was waiting and is cancelled now. `requested`: its supervisor will end
   * it.
   * `repeated`: it is cancelled or being cancelled already. `ended`: another end came first.
   */
  cancel(runId: string, hook: TransactionHook<CancelOutcome> = {}): Promise<CancelOutcome> {
    return this.database.run(() => cancelRun(runId, hook));
  }

  /**
   * Stores a follow-up and, by `decide` on the run's state of this moment, what becomes of it.
   * `queued_prompt` joins it to the prompt; `handoff_execution` queues the ended run again.
   */
  followup(
    wanted: NewFollowup,
    decide: FollowupDecider,
    hook: TransactionHook<FollowupOutcome> = {},
  ): Promise<FollowupDecision | undefined> {
    return this.database.run(() => storeFollowup(wanted, decide, hook));
  }

  /**
   * Appends to the run's log in order, and stores what it has used meanwhile; a stale epoch writes nothing. Answers the
   * last sequence number, undefined when the claim was lost.
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
   * Live runs that nobody works on: their lease has run out, or, where this process is the only one (`alone`), they
   * belong to another process, which therefore no longer exists. With what is left of their process; at most
   * ABANDONED_MAX.
   */
  abandoned(owner: string, alone: boolean): Promise<AbandonedRun[]> {
    return this.database.read(() => abandonedRuns(owner, alone));
  }

  /** Puts a lost execution's run back into the queue, or ends it; conditional on the epoch that was lost. */
  reclaim(runId: string, epoch: number, verdict: ReclaimDecision): Promise<boolean> {
    return this.database.run(() => reclaimRun(runId, epoch, verdict));
  }

  /**
   * Gives a run back whose execution its own service has ended: queued again at once, for whoever claims it, and not
   * counted as lost. `decide` on the state of this moment. A cancel that was accepted ends it. False when the claim was
   * lost.
   */
  release(claim: Claim, decide: (state: LeasedState) => ReclaimDecision): Promise<boolean> {
    return this.database.run(() => releaseRun(claim, decide));
  }

  /** Which of these runs have ended before a time, or do not exist: nothing of theirs is needed any more. */
  async expired(runIds: readonly string[], beforeMs: number): Promise<string[]> {
    if (runIds.length === 0) return [];
    const found = await this.database.read(() =>
      rows<{ run_id: string }>(
        `SELECT run_id FROM every_run WHERE run_id IN (${placeholders(runIds.length)}) ` +
          `AND NOT (state IN ${ENDED_STATES} AND finished_at < ?)`,
        ...runIds,
        beforeMs,
      ),
    );
    const needed = new Set(found.map(({ run_id: runId }) => runId));
    return runIds.filter((runId) => !needed.has(runId));
  }
}
