/**
 * Requests to end the turn that an agent works on, and the wait for what it is told next, each with the run's state,
 * its log and its audit entry in one transaction. contract §3.13 (Interrupt).
 */
import type { InterruptDecision } from '#runs';
import { audit } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';
import { closeQuestions } from './permissions.ts';
import type { TransactionHook } from './run-commands.ts';
import { appendToLog } from './run-log.ts';
import { RUN, RUN_INTERRUPT, type RunRow } from './run.entities.ts';
import type { Claim } from './runs.ts';
import { materializeRuns } from './waiting-runs.ts';

/** Somebody wants a turn ended. */
export interface NewInterrupt {
  interruptId: string;
  runId: string;
  principalUid: string;
}

/** What becomes of an interrupt, by the run of this moment. */
export type InterruptDecider = (run: RunRow, facts: { isInterrupted: boolean }) => InterruptDecision;

/** In the log and in the run's status. */
const REQUESTED = 'an interrupt was requested: the agent is asked to end its turn';
const WAITING = 'interrupted: it waits to be told how to go on';

/** The interrupt that an execution has not gone on from yet, as part of a statement about its run. */
export const OPEN_INTERRUPT =
  '(SELECT min(i.interrupt_id) FROM run_interrupt i WHERE i.run_id = run.run_id ' +
  'AND i.execution_id = run.execution_id AND i.closed_at IS NULL)';

export class InterruptStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Stores an interrupt, where `decide` says so; undefined: there is no such run. */
  request(
    wanted: NewInterrupt,
    decide: InterruptDecider,
    hook: TransactionHook<InterruptDecision> = {},
  ): Promise<InterruptDecision | undefined> {
    return this.database.run(() => storeInterrupt(wanted, decide, hook));
  }

  /** Whether the execution was told nothing new since this interrupt. */
  async isOpen(claim: Claim, interruptId: string): Promise<boolean> {
    const found = await this.database.read(() =>
      row(
        'SELECT 1 AS open FROM run_interrupt WHERE run_id = ? AND interrupt_id = ? AND execution_id = ? ' +
          'AND closed_at IS NULL',
        claim.runId,
        interruptId,
        claim.executionId,
      ),
    );
    return found !== undefined;
  }

  /**
   * INPROGRESS → BLOCKED: the turn was interrupted, and nothing else is to be done yet. False when the claim was lost
   * or the run is to be cancelled.
   */
  block(claim: Claim): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const held = yield* row(
        "SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? AND state IN ('INPROGRESS', 'BLOCKED') " +
          'AND cancel_requested_at IS NULL FOR UPDATE',
        claim.runId,
        claim.epoch,
      );
      if (held === undefined) return false;
      yield* closeQuestions(claim.runId);
      yield* change(
        "UPDATE run SET state = 'BLOCKED', status_message = ?, updated_at = ? WHERE run_id = ?",
        WAITING,
        nowMs,
        claim.runId,
      );
      yield* appendToLog(claim.runId, claim.executionId, [statusEntry(WAITING, nowMs)]);
      return true;
    });
  }

  /** BLOCKED → INPROGRESS: nobody said anything in time, and the run ends. The interrupt stays open for its end. */
  unblock(claim: Claim): Promise<void> {
    return this.database.run(function* () {
      yield* change(
        "UPDATE run SET state = 'INPROGRESS', status_message = NULL WHERE run_id = ? AND epoch = ? " +
          "AND state = 'BLOCKED'",
        claim.runId,
        claim.epoch,
      );
    });
  }
}

function* storeInterrupt(
  { interruptId, runId, principalUid }: NewInterrupt,
  decide: InterruptDecider,
  { by, also }: TransactionHook<InterruptDecision>,
): Transaction<InterruptDecision | undefined> {
  const nowMs = yield* databaseNow();
  yield* materializeRuns([runId]);
  const run = yield* row<RunRow>(`SELECT ${RUN.columns.join(', ')} FROM run WHERE run_id = ? FOR UPDATE`, runId);
  if (run === undefined) return undefined;
  const decision = decide(run, { isInterrupted: yield* isInterrupted(runId) });
  if (!decision.ok) return decision;
  if (decision.action === 'ask') {
    const executionId = run.execution_id ?? '';
    yield* insertInto(RUN_INTERRUPT, [
      {
        run_id: runId,
        interrupt_id: interruptId,
        execution_id: executionId,
        at: nowMs,
        principal_uid: principalUid,
        closed_at: null,
      },
    ]);
    yield* appendToLog(runId, executionId, [statusEntry(REQUESTED, nowMs)]);
    yield* audit(by, { action: 'run.interrupt', subject: runId, factoryUid: run.factory_uid ?? undefined });
  }
  if (also !== undefined) yield* also(decision);
  return decision;
}

/** Whether the execution of a run, whose row is locked, was interrupted and told nothing since. */
export function* isInterrupted(runId: string): Transaction<boolean> {
  const found = yield* row<{ open: string | null }>(
    `SELECT ${OPEN_INTERRUPT} AS open FROM run WHERE run_id = ?`,
    runId,
  );
  return typeof found?.open === 'string';
}

/** The execution of a run, whose row is locked, goes on with something else, or is over. */
export function* closeInterrupts(runId: string, nowMs: number): Transaction<void> {
  yield* change('UPDATE run_interrupt SET closed_at = ? WHERE run_id = ? AND closed_at IS NULL', nowMs, runId);
}

function statusEntry(text: string, atMs: number): { kind: string; atMs: number; body: string } {
  return { kind: 'status', atMs, body: JSON.stringify({ text }) };
}
