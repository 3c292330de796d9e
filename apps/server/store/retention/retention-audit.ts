/** Which entries of the audit trail are old. contract 2. */
import { retentionCutoffMs } from '#deliveries';
import { change, inSlices, placeholders, rows, type Transaction } from '../database/transactions.ts';
import type { SweepStep, Sweep } from './sweeps.ts';

const ENTRIES_PER_LOOK = 1_000;
const ROUND_MS = 3_600_000;

/** Entries older than this, oldest first. */
export function auditSweep(days: number): Sweep<string> {
  return { name: 'audit', everyMs: ROUND_MS, look: (_place, nowMs) => look(retentionCutoffMs(nowMs, days)), remove };
}

/** What was found before is gone: the oldest are always in front. */
function* look(cutoffMs: number): Transaction<SweepStep<string>> {
  const found = yield* rows<{ id: string }>(
    'SELECT id FROM audit_entry WHERE at < ? ORDER BY at, id LIMIT ?',
    cutoffMs,
    ENTRIES_PER_LOOK,
  );
  return {
    targets: found.map(({ id: target }) => ({ target, weight: 1 })),
    place: '',
    isOver: found.length < ENTRIES_PER_LOOK,
  };
}

function* remove(ids: readonly string[]): Transaction<number> {
  let removed = 0;
  for (const some of inSlices(ids))
    removed += yield* change(`DELETE FROM audit_entry WHERE id IN (${placeholders(some.length)})`, ...some);
  return removed;
}
