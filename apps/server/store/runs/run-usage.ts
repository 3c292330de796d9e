/** What runs have used up, as columns: written with the log of the execution that used it, under its epoch. contract 3 (request_usage). */
import { usedBy, type Meter } from '#agents';
import type { Claim } from './runs.ts';
import { change, row, type Transaction } from '../database/transactions.ts';

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
