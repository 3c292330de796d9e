/** Which entries of the audit trail are old. contract 2. */
import { retentionCutoffMs } from '#deliveries';
import { change, inSlices, placeholders, rows, type Transaction } from '../database/transactions.ts';
import type { SweepBatch, Sweep } from './sweeps.ts';

const AUDIT_ENTRIES_PER_SCAN = 1_000;
const AUDIT_ROUND_MS = 3_600_000;

/** Entries older than this, oldest first. */
export function auditSweep(days: number): Sweep<string> {
  return {
    name: 'audit',
    everyMs: AUDIT_ROUND_MS,
    scan: (_place, nowMs) => scanAudit(retentionCutoffMs(nowMs, days)),
    remove: removeAuditEntries,
  };
}

/** What was found before is gone: the oldest are always in front. */
function* scanAudit(cutoffMs: number): Transaction<SweepBatch<string>> {
  const found = yield* rows<{ id: string }>(
    'SELECT id FROM audit_entry WHERE at < ? ORDER BY at, id LIMIT ?',
    cutoffMs,
    AUDIT_ENTRIES_PER_SCAN,
  );
  return {
    targets: found.map(({ id: target }) => ({ target, weight: 1 })),
    place: '',
    isOver: found.length < AUDIT_ENTRIES_PER_SCAN,
  };
}

function* removeAuditEntries(ids: readonly string[]): Transaction<number> {
  let removed = 0;
  for (const some of inSlices(ids))
    removed += yield* change(`DELETE FROM audit_entry WHERE id IN (${placeholders(some.length)})`, ...some);
  return removed;
}
