/**
 * Which recorded passes and events of factories are old: never the latest 50, and no pass that a status still names;
 * and entries of the audit trail. contract §2, §9.
 */
import { RETAINED_ENTRIES_MIN, retentionCutoffMs } from '#deliveries';
import { revisionId } from '#reconcile';
import { change, inSlices, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import type { SweepBatch, Sweep } from './sweeps.ts';

/** Rows of one kind found in one look. */
const ROWS_PER_SCAN = 500;
const HISTORY_ROUND_MS = 21_600_000;

interface OldRow {
  table: 'sync_pass' | 'factory_event';
  id: string;
}

/** Passes that ended, and events that happened, longer ago than this; factory after factory, deleted ones too. */
export function historySweep(days: number): Sweep<OldRow> {
  return {
    name: 'factory history',
    everyMs: HISTORY_ROUND_MS,
    scan: (place, nowMs) => scanHistory(place, retentionCutoffMs(nowMs, days)),
    remove: removeHistory,
  };
}

function* scanHistory(place: string, cutoffMs: number): Transaction<SweepBatch<OldRow>> {
  // Behind a pass of this factory, or behind the factory.
  const [uid = '', behindId] = place.split(' ');
  const factory = yield* row<FactoryRevisions>(
    'SELECT uid, revision_seen, revision_attempted, revision_applied FROM factory ' +
      `WHERE uid ${behindId === undefined ? '>' : '>='} ? ORDER BY uid LIMIT 1`,
    uid,
  );
  if (factory === undefined) return { targets: [], place: '', isOver: true };
  const passes = yield* oldPasses(factory.uid, factory.uid === uid ? (behindId ?? '') : '', cutoffMs);
  const events = yield* oldEvents(factory.uid, cutoffMs);
  const needed = passes.length === 0 ? new Set<string>() : yield* neededPasses(factory, passes);
  const targets = [
    ...passes.filter((id) => !needed.has(id)).map((id): OldRow => ({ table: 'sync_pass', id })),
    ...events.map((id): OldRow => ({ table: 'factory_event', id })),
  ];
  const last = passes.length === ROWS_PER_SCAN ? passes.at(-1) : undefined;
  // A pass may hold a page of problems.
  return {
    targets: targets.map((target) => ({ target, weight: target.table === 'sync_pass' ? 4 : 1 })),
    place: last === undefined ? factory.uid : `${factory.uid} ${last}`,
    isOver: false,
  };
}

interface FactoryRevisions {
  uid: string;
  revision_seen: string | null;
  revision_attempted: string | null;
  revision_applied: string | null;
}

function* oldPasses(uid: string, behindId: string, cutoffMs: number): Transaction<string[]> {
  const found = yield* rows<{ id: string }>(
    `SELECT id FROM sync_pass WHERE factory_uid = ? AND id > ? AND finished_at < ?
     AND id < (SELECT id FROM sync_pass WHERE factory_uid = ? ORDER BY id DESC
     LIMIT 1 OFFSET ${RETAINED_ENTRIES_MIN - 1}) ORDER BY id LIMIT ?`,
    uid,
    behindId,
    cutoffMs,
    uid,
    ROWS_PER_SCAN,
  );
  return found.map(({ id }) => id);
}

/** There are 1,000 at most. */
function* oldEvents(uid: string, cutoffMs: number): Transaction<string[]> {
  const found = yield* rows<{ id: string }>(
    `SELECT id FROM factory_event WHERE factory_uid = ? AND at < ?
     AND id < (SELECT id FROM factory_event WHERE factory_uid = ? ORDER BY id DESC
     LIMIT 1 OFFSET ${RETAINED_ENTRIES_MIN - 1}) ORDER BY id LIMIT ?`,
    uid,
    cutoffMs,
    uid,
    ROWS_PER_SCAN,
  );
  return found.map(({ id }) => id);
}

/**
 * The pass that applied last, and the last one of every revision that serves, is seen, or decided an object that is
 * there: what status and inventory tell of.
 */
function* neededPasses(
  { uid, revision_seen: seen, revision_attempted: attempted, revision_applied: applied }: FactoryRevisions,
  among: readonly string[],
): Transaction<Set<string>> {
  const appliedLast = yield* row<{ id: string }>(
    "SELECT id FROM sync_pass WHERE factory_uid = ? AND ending = 'applied' ORDER BY id DESC LIMIT 1",
    uid,
  );
  const served = yield* rows<{ revision: string }>(
    `SELECT revision FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL UNION SELECT revision FROM automation
      WHERE factory_uid = ? AND deleted_at IS NULL
     UNION SELECT revision FROM resource WHERE factory_uid = ? AND deleted_at IS NULL`,
    uid,
    uid,
    uid,
  );
  const needed = new Set(appliedLast === undefined ? [] : [appliedLast.id]);
  const newest = among.at(-1) as string;
  for (const id of new Set(
    [seen, attempted, applied, ...served.map(({ revision }) => revision)]
      .filter((revision) => revision !== null)
      .map(revisionId),
  )) {
    const last = yield* row<{ id: string }>(
      'SELECT id FROM sync_pass WHERE factory_uid = ? AND revision_id = ? ORDER BY id DESC LIMIT 1',
      uid,
      id,
    );
    if (last !== undefined && last.id <= newest) needed.add(last.id);
  }
  return needed;
}

function* removeHistory(targets: readonly OldRow[]): Transaction<number> {
  let removed = 0;
  for (const table of ['sync_pass', 'factory_event'] as const) {
    for (const some of inSlices(targets.filter((target) => target.table === table))) {
      removed += yield* change(
        `DELETE FROM ${table} WHERE id IN (${placeholders(some.length)})`,
        ...some.map(({ id }) => id),
      );
    }
  }
  return removed;
}
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
