/** Entries of a run's log as rows: numbered from 1 on without gaps. contract 3 (events). */
import { insertInto } from '../database/table.ts';
import { row, type Transaction } from '../database/transactions.ts';
import { RUN_EVENT } from './run.entities.ts';

/** Something to be told of a run; time in milliseconds since the epoch. */
export interface RunEvent {
  kind: string;
  atMs: number;
  /** JSON text. */
  body: string;
}

/** The same in its place; without an execution where there was none. */
export interface StoredRunEvent extends RunEvent {
  seq: number;
  executionId?: string;
}

/** Appends to a run's log, whose row is locked; answers the last sequence number. */
export function* appendToLog(
  runId: string,
  executionId: string | undefined,
  events: readonly RunEvent[],
): Transaction<number> {
  const start = (yield* nextSeq(runId)) - 1;
  const entries = events.map(({ kind, atMs, body }, position) => ({
    run_id: runId,
    seq: start + position + 1,
    execution_id: executionId ?? null,
    at: atMs,
    kind,
    body,
  }));
  yield* insertInto(RUN_EVENT, entries);
  return start + events.length;
}

/** Number of the next entry of a run's log, whose row is locked. */
export function* nextSeq(runId: string): Transaction<number> {
  const last = yield* row<{ seq: number | null }>('SELECT max(seq) AS seq FROM run_event WHERE run_id = ?', runId);
  return (last?.seq ?? 0) + 1;
}
