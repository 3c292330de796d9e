/**
 * Entries of a run's log as rows: numbered from 1 on without gaps; and the usage that is written with them. contract
 * §3.1 (events), §3.5 (request_usage).
 */
import { type Meter, usedBy } from '#agents';
import { insertInto } from '../database/table.ts';
import { change, row, type Transaction } from '../database/transactions.ts';
import { RUN_EVENT } from './run.entities.ts';
import type { Claim } from './runs.ts';

/** Something that happened to a run; time in milliseconds since the epoch. */
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

/** Stores the count of a run, whose row is locked and whose claim holds. */
export function* noteUsage({ runId, epoch }: Claim, meter: Meter): Transaction<void> {
  const { tokens, costMicros, currency } = usedBy(meter);
  yield* change(
    'UPDATE run SET tokens = ?, cost_micros = ?, cost_currency = ?, usage_meter = ? WHERE run_id = ? AND epoch = ?',
    tokens ?? null,
    costMicros ?? null,
    currency ?? null,
    JSON.stringify(meter),
    runId,
    epoch,
  );
}

/** The count as the executions so far have left it; undefined where nothing was told. */
export function* storedUsage(runId: string): Transaction<string | undefined> {
  const found = yield* row<{ usage_meter: string | null }>('SELECT usage_meter FROM run WHERE run_id = ?', runId);
  return found?.usage_meter ?? undefined;
}
