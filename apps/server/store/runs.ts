/** Runs as rows: every change of state is one conditional update on state and epoch. spec: States and transitions; contract 3. */
import { cancelDecision, runsOnPage, type FollowupDecision, type RunState } from '#runs';
import type { SelectQueryBuilder } from 'typeorm';
import type { Database } from './database.ts';
import { looking } from './faults.ts';
import { RUN_COLUMNS, toRunValues, type NewRun } from './new-run.ts';
import { change, databaseNow, insert, placeholders, row, rows, type SqlValue, type Work } from './statements.ts';
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
}

/** How an execution ended. */
export interface Ending {
  state: Extract<RunState, 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED'>;
  message: string;
  errorCode?: string;
  retryable?: boolean;
}

export interface RunEvent {
  kind: string;
  atMs: number;
  /** JSON text. */
  body: string;
}

export interface StoredEvent extends RunEvent {
  seq: number;
  executionId?: string;
}

export interface ListFilter {
  states?: readonly RunState[];
  factoryUids?: readonly string[];
  configName?: string;
  deliveryId?: string;
}

/** Place in the list ordered by updated_at, newest first. */
export interface ListKey {
  updatedAtMs: number;
  runId: string;
}

const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
const ENDED = "('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";

export class RunStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  async create(run: NewRun): Promise<void> {
    await this.database.run(() => insert('run', RUN_COLUMNS, [toRunValues(run)]));
  }

  async find(runId: string): Promise<RunRow | undefined> {
    return (await looking(this.database.source.getRepository(RUN).findOneBy({ run_id: runId }))) ?? undefined;
  }

  /**
   * Newest change first, from behind `after`; paged by key, so that a page costs the same wherever it is. Keys and sizes are read first:
   * a page ends where its rows would take too much memory. `next` is the place of its last run, while there are more.
   */
  async list(filter: ListFilter, limit: number, after?: ListKey): Promise<{ runs: RunRow[]; next?: ListKey }> {
    const sized = await looking(
      this.matching(filter, after)
        .select('run.run_id', 'run_id').addSelect('run.updated_at', 'updated_at').addSelect(ROW_BYTES, 'bytes')
        .limit(limit + 1).getRawMany<{ run_id: string; updated_at: number; bytes: number }>(),
    );
    const page = sized.slice(0, runsOnPage(sized.map(({ bytes }) => bytes), limit));
    const last = page.at(-1);
    if (last === undefined) return { runs: [] };
    const runs = await looking(this.matching(filter).andWhere('run.run_id IN (:...runIds)', { runIds: page.map(({ run_id: runId }) => runId) }).getMany());
    return { runs, next: sized.length > page.length ? { updatedAtMs: last.updated_at, runId: last.run_id } : undefined };
  }

  private matching(filter: ListFilter, after?: ListKey): SelectQueryBuilder<RunRow> {
    const query = this.database.source.getRepository(RUN).createQueryBuilder('run').orderBy('run.updated_at', 'DESC').addOrderBy('run.run_id', 'DESC');
    if (filter.states !== undefined) query.andWhere('run.state IN (:...states)', { states: filter.states });
    if (filter.factoryUids !== undefined) query.andWhere('run.factory_uid IN (:...factoryUids)', { factoryUids: filter.factoryUids });
    if (filter.configName !== undefined) query.andWhere('run.config_name = :configName', { configName: filter.configName });
    if (filter.deliveryId !== undefined) query.andWhere('run.delivery_id = :deliveryId', { deliveryId: filter.deliveryId });
    if (after !== undefined) {
      query.andWhere('(run.updated_at < :at OR (run.updated_at = :at AND run.run_id < :id))', { at: after.updatedAtMs, id: after.runId });
    }
    return query;
  }

  /** How many runs wait in each factory that has any. */
  async waiting(): Promise<Map<string, number>> {
    const found = await this.database.read(() =>
      rows<{ factory_uid: string; waiting: number }>("SELECT factory_uid, count(*) AS waiting FROM run WHERE state = 'QUEUED' AND factory_uid IS NOT NULL GROUP BY factory_uid"));
    return new Map(found.map(({ factory_uid: uid, waiting }) => [uid, waiting]));
  }

  /** Claims up to `count` waiting runs in order of creation: QUEUED → CLAIMED with a higher epoch and a lease. */
  claim(owner: string, leaseMs: number, count: number, executionIds: readonly string[]): Promise<ClaimedRun[]> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const waiting = yield* rows<RunRow>(
        "SELECT run_id, epoch, factory_uid, automation_uid, entry_id, agent_config FROM run WHERE state = 'QUEUED' ORDER BY run_id LIMIT ? FOR UPDATE SKIP LOCKED",
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
          entryId: run.entry_id ?? undefined, agentConfig: run.agent_config,
        });
      }
      return claimed;
    });
  }

  /** CLAIMED → PENDING: the workspace is being prepared. False when the claim was lost. */
  prepare(claim: Claim): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      return (yield* change("UPDATE run SET state = 'PENDING', updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'CLAIMED'", nowMs, claim.runId, claim.epoch)) === 1;
    });
  }

  /** PENDING → INPROGRESS: hands over what the agent has to do now, follow-ups that wait included. Undefined when the claim was lost or a cancel came first. */
  begin(claim: Claim): Promise<{ prompt: string } | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const run = yield* row<RunRow>('SELECT prompt, submitted_prompt, prompt_taken_at FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE', claim.runId, claim.epoch);
      if (run === undefined) return undefined;
      const moved = yield* change(
        "UPDATE run SET state = 'INPROGRESS', prompt_taken_at = COALESCE(prompt_taken_at, ?), started_at = COALESCE(started_at, ?), updated_at = ? WHERE run_id = ? AND epoch = ? AND state = 'PENDING' AND cancel_requested_at IS NULL",
        nowMs, nowMs, nowMs, claim.runId, claim.epoch,
      );
      if (moved !== 1) return undefined;
      const first = run.prompt_taken_at === null ? [run.submitted_prompt ?? run.prompt] : [];
      yield* change('UPDATE execution SET started_at = ?, took_prompt = ? WHERE execution_id = ?', nowMs, first.length, claim.executionId);
      const followups = yield* takeFollowups(claim, nowMs);
      const parts = [...first, ...followups];
      // Nothing new to do: the prompt again, rather than an agent without a task.
      return { prompt: (parts.length > 0 ? parts : [run.submitted_prompt ?? run.prompt]).join('\n\n') };
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
  cancel(runId: string): Promise<'cancelled' | 'requested' | 'repeated' | 'ended' | 'unknown'> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const run = yield* row<RunRow>('SELECT state, cancel_requested_at FROM run WHERE run_id = ? FOR UPDATE', runId);
      if (run === undefined) return 'unknown';
      const decision = cancelDecision(run.state as RunState, { cancelRequested: run.cancel_requested_at !== null });
      if (!decision.ok) return 'ended';
      if (decision.action === 'none') return 'repeated';
      if (decision.action === 'cancel-now') {
        yield* change(
          "UPDATE run SET state = 'CANCELLED', status_message = 'cancelled before it started', cancel_requested_at = ?, finished_at = ?, updated_at = ? WHERE run_id = ?",
          nowMs, nowMs, nowMs, runId,
        );
        return 'cancelled';
      }
      yield* change('UPDATE run SET cancel_requested_at = ?, updated_at = ? WHERE run_id = ?', nowMs, nowMs, runId);
      return 'requested';
    });
  }

  /**
   * Stores a follow-up and, by `decide` on the run's state of this moment, what becomes of it.
   * `queued_prompt` joins it to the prompt; `handoff_execution` queues the ended run again.
   */
  followup(
    wanted: { followupId: string; runId: string; principalUid: string; message: string },
    decide: (run: RunRow, around: { factoryDeleted: boolean; taskBytes: number }) => FollowupDecision,
  ): Promise<FollowupDecision | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      // The factory before the run, as its deletion locks them: a deletion that commits before us is seen, one that comes later waits for us.
      const factory = yield* row<{ deleted_at: number | null }>('SELECT deleted_at FROM factory WHERE uid = (SELECT factory_uid FROM run WHERE run_id = ?) FOR SHARE', wanted.runId);
      const run = yield* row<RunRow>('SELECT * FROM run WHERE run_id = ? FOR UPDATE', wanted.runId);
      if (run === undefined) return undefined;
      const taskBytes = (yield* waitingBytes(run)) + Buffer.byteLength(wanted.message);
      const decision = decide(run, { factoryDeleted: typeof factory?.deleted_at === 'number', taskBytes });
      if (!decision.ok) return decision;
      const takenAt = decision.outcome === 'queued_prompt' ? nowMs : null;
      yield* insert('followup', ['followup_id', 'run_id', 'at', 'principal_uid', 'message', 'outcome', 'taken_at'], [
        [wanted.followupId, wanted.runId, nowMs, wanted.principalUid, wanted.message, decision.outcome, takenAt],
      ]);
      if (decision.outcome === 'queued_prompt') {
        const joined = `${run.submitted_prompt ?? run.prompt}\n\n${wanted.message}`;
        yield* change('UPDATE run SET submitted_prompt = ?, updated_at = ? WHERE run_id = ?', joined, nowMs, wanted.runId);
      }
      if (decision.outcome === 'handoff_execution') yield* requeueForFollowups(wanted.runId, nowMs);
      return decision;
    });
  }

  /** Appends to the run's log in order; a stale epoch writes nothing. Answers the last sequence number, undefined when the claim was lost. */
  append(claim: Claim, events: readonly RunEvent[]): Promise<number | undefined> {
    return this.database.run(function* () {
      const held = yield* row('SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE', claim.runId, claim.epoch);
      if (held === undefined) return undefined;
      const last = yield* row<{ seq: number | null }>('SELECT max(seq) AS seq FROM run_event WHERE run_id = ?', claim.runId);
      const start = last?.seq ?? 0;
      const values = events.map(({ kind, atMs, body }, position): SqlValue[] => [claim.runId, start + position + 1, claim.executionId, atMs, kind, body]);
      yield* insert('run_event', ['run_id', 'seq', 'execution_id', 'at', 'kind', 'body'], values);
      return start + events.length;
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

/** What a row takes in memory, as far as people decide it; both databases know it without reading the text. */
const ROW_BYTES = 'octet_length(run.prompt) + COALESCE(octet_length(run.submitted_prompt), octet_length(run.prompt)) + octet_length(run.agent_config)';

const CANCELLED_AFTER_LOSS: Ending = { state: 'CANCELLED', message: 'cancelled on request' };

/** Bytes that the next execution of a run will be handed. */
function* waitingBytes(run: RunRow): Work<number> {
  const found = yield* row<{ bytes: number | string | null }>('SELECT sum(octet_length(message)) AS bytes FROM followup WHERE run_id = ? AND taken_at IS NULL', run.run_id);
  return Number(found?.bytes ?? 0) + (run.prompt_taken_at === null ? Buffer.byteLength(run.submitted_prompt ?? run.prompt) : 0);
}

function* takeFollowups({ runId, executionId }: Claim, nowMs: number): Work<string[]> {
  const waiting = yield* rows<{ followup_id: string; message: string }>('SELECT followup_id, message FROM followup WHERE run_id = ? AND taken_at IS NULL ORDER BY followup_id', runId);
  if (waiting.length > 0) yield* change('UPDATE followup SET taken_at = ?, execution_id = ? WHERE run_id = ? AND taken_at IS NULL', nowMs, executionId, runId);
  return waiting.map(({ message }) => message);
}

/** What a lost execution had taken on is to be done again by the next. */
function* giveBack(runId: string, executionId: string): Work<void> {
  yield* change('UPDATE followup SET taken_at = NULL, execution_id = NULL WHERE run_id = ? AND execution_id = ?', runId, executionId);
  yield* change('UPDATE run SET prompt_taken_at = NULL WHERE run_id = ? AND EXISTS (SELECT 1 FROM execution e WHERE e.execution_id = ? AND e.took_prompt = 1)', runId, executionId);
}

function* requeueForFollowups(runId: string, nowMs: number): Work<void> {
  // Locked until we commit: a deletion of the factory that came before is seen, one that comes later cancels what we queue.
  const factory = yield* row<{ deleted_at: number | null }>(
    `SELECT deleted_at FROM factory WHERE uid =
      (SELECT r.factory_uid FROM run r WHERE r.run_id = ? AND EXISTS (SELECT 1 FROM followup f WHERE f.run_id = r.run_id AND f.taken_at IS NULL)) FOR SHARE`,
    runId,
  );
  if (typeof factory?.deleted_at === 'number') return;
  yield* change(
    `UPDATE run SET state = 'QUEUED', takeovers = 0, cancel_requested_at = NULL, status_message = NULL, error_code = NULL, retryable = NULL, updated_at = ?
     WHERE run_id = ? AND state IN ${ENDED} AND EXISTS (SELECT 1 FROM followup f WHERE f.run_id = run.run_id AND f.taken_at IS NULL)`,
    nowMs, runId,
  );
}
