/**
 * Which entries of the delivery log are old: beyond 7 days, not among the latest 50 of their class, and needed by no
 * live run. spec: Limits (Delivery log retention); contract §5.9 (Log).
 */
import {
  OUTCOMES,
  RETAINED_ENTRIES_MIN,
  retentionClass,
  retentionCutoffMs,
  type OutcomeKind,
  type RetentionClass,
} from '#deliveries';
import { firstUuidv7, isEnded, RUN_STATES, uuidv7TimeMs } from '#runs';
import { catchUpIfRoom } from '../database/deferred-index.ts';
import { ENTRY_TIME_SLACK_MS } from '../deliveries/delivery.entities.ts';
import { change, inSlices, placeholders, rows, type Transaction } from '../database/transactions.ts';
import { materializeOldest } from '../runs/waiting-runs.ts';
import type { SweepBatch, Sweep, WeightedTarget } from './sweeps.ts';

/** Webhooks scanned in one statement: a log that is one flood of refusals takes a tenth of a second of it. */
const WEBHOOKS_PER_SCAN = 25;

/** Entries found in one look. */
const ENTRIES_PER_SCAN = 2_000;

/** Bytes whose removal costs about what a small row does. */
const BYTES_PER_WEIGHT = 16_384;
const DELIVERY_ROUND_MS = 600_000;

/** States of runs that may still need their payload. */
const OPEN_STATES = `('${RUN_STATES.filter((state) => !isEnded(state)).join("', '")}')`;

/** The log, webhook after webhook; deleted ones too. */
export function deliverySweep(): Sweep<string> {
  return { name: 'deliveries', everyMs: DELIVERY_ROUND_MS, scan: scanDeliveries, remove: removeDeliveries };
}

/**
 * Of one webhook: entries before these of each class may go; '' where fewer than 50 are there. Only ever moves up, so
 * that an old answer keeps too much at most.
 */
type RetentionLimits = Record<RetentionClass, string>;

/** Behind which entry of a webhook a look goes on. Stored as text. */
interface LogCursor {
  webhookUid: string;
  /** '' with no limits: behind the webhook, or before the first one. */
  entryId: string;
  limits?: RetentionLimits;
}

function* scanDeliveries(text: string, nowMs: number): Transaction<SweepBatch<string>> {
  // Where no room is left for copies this is what makes some. An entry that is missing lets less go.
  yield* catchUpIfRoom('delivery_log');
  const place = parseCursor(text);
  const cutoffMs = retentionCutoffMs(nowMs);
  if (place.limits !== undefined) return yield* scanEntries(place, place.limits, cutoffMs);
  const page = yield* logPositions(place.webhookUid);
  for (const position of page) {
    const limits = { accepted: position.accepted_limit ?? '', rejected: position.rejected_limit ?? '' };
    if (!hasOld(position, limits, firstUuidv7(cutoffMs + ENTRY_TIME_SLACK_MS))) continue;
    return yield* scanEntries({ webhookUid: position.uid, entryId: '', limits }, limits, cutoffMs);
  }
  const last = page.at(-1)?.uid ?? '';
  const isOver = page.length < WEBHOOKS_PER_SCAN;
  return { targets: [], place: isOver ? '' : last, isOver };
}

/** No entry has it, and all have a higher one. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

interface LogPosition {
  uid: string;
  accepted_oldest: string | null;
  accepted_limit: string | null;
  rejected_oldest: string | null;
  rejected_limit: string | null;
}

/**
 * The next webhooks, with the oldest entry of each class and the oldest that must be kept. Along the log, all in
 * one statement.
 */
function logPositions(after: string): Transaction<LogPosition[]> {
  const oldest = (kept: RetentionClass) =>
    '(SELECT d.entry_id FROM delivery_log d WHERE d.webhook_uid = w.uid ' +
    `AND d.outcome IN (${OUTCOMES_OF[kept]}) ORDER BY d.entry_id LIMIT 1) AS ${kept}_oldest`;
  const limit = (kept: RetentionClass) =>
    '(SELECT d.entry_id FROM delivery_log d WHERE d.webhook_uid = w.uid ' +
    `AND d.outcome IN (${OUTCOMES_OF[kept]}) ORDER BY d.entry_id DESC ` +
    `LIMIT 1 OFFSET ${RETAINED_ENTRIES_MIN - 1}) AS ${kept}_limit`;
  return rows<LogPosition>(
    `SELECT w.uid, ${oldest('accepted')}, ${limit('accepted')}, ${oldest('rejected')}, ${limit('rejected')}
     FROM (SELECT uid FROM webhook WHERE uid > ? ORDER BY uid LIMIT ${WEBHOOKS_PER_SCAN}) w ORDER BY w.uid`,
    after,
  );
}

function hasOld(
  { accepted_oldest: accepted, rejected_oldest: rejected }: LogPosition,
  limits: RetentionLimits,
  cutoffId: string,
): boolean {
  const isOld = (oldest: string | null, limit: string) => oldest !== null && oldest < limit && oldest < cutoffId;
  return isOld(accepted, limits.accepted) || isOld(rejected, limits.rejected);
}

function* scanEntries(
  { webhookUid, entryId }: LogCursor,
  limits: RetentionLimits,
  cutoffMs: number,
): Transaction<SweepBatch<string>> {
  const until = [limits.accepted, limits.rejected, ''].reduce((a, b) => (a > b ? a : b));
  const found = yield* rows<{ entry_id: string; outcome: OutcomeKind; size: number }>(
    'SELECT l.entry_id, l.outcome, d.size FROM delivery_log l CROSS JOIN delivery d WHERE l.webhook_uid = ? ' +
      'AND l.entry_id > ? AND l.entry_id < ? AND l.entry_id < ? AND l.received_at < ? AND d.entry_id = l.entry_id ' +
      'ORDER BY l.entry_id LIMIT ?',
    webhookUid,
    entryId === '' ? BEFORE_ALL : entryId,
    until === '' ? BEFORE_ALL : until,
    firstUuidv7(cutoffMs + ENTRY_TIME_SLACK_MS),
    cutoffMs,
    ENTRIES_PER_SCAN,
  );
  const old = found.filter(({ entry_id: id, outcome }) => id < limits[retentionClass(outcome)]);
  const referred = yield* referredEntries(old.map(({ entry_id: id }) => id));
  const targets = old
    .filter(({ entry_id: id }) => !referred.has(id))
    .map(({ entry_id: target, size }): WeightedTarget<string> => ({
      target,
      weight: 1 + Math.floor(size / BYTES_PER_WEIGHT),
    }));
  const last = found.length === ENTRIES_PER_SCAN ? found.at(-1) : undefined;
  return {
    targets,
    place: last === undefined ? webhookUid : formatCursor({ webhookUid, entryId: last.entry_id, limits }),
    isOver: false,
  };
}

/**
 * Those of these entries, in their order, that a run that waits refers to, and perhaps others. Whatever the ID of the
 * run: clocks step. A run is stored with the entry that it refers to, so that none refers to these later. Looks at all
 * that wait, as they have no index by entry: away from acceptances that is cheap.
 */
function* referredEntries(entryIds: readonly string[]): Transaction<Set<string>> {
  const [first, last] = [entryIds[0], entryIds.at(-1)];
  if (first === undefined || last === undefined) return new Set();
  const text = 'SELECT entry_id FROM waiting_run WHERE entry_id >= ? AND entry_id <= ?';
  const found = yield* rows<{ entry_id: string }>(text, first, last);
  return new Set(found.map(({ entry_id: id }) => id));
}

/** Runs that a removal makes rows of at most, before the entries that they refer to may go. */
const MATERIALIZED_MAX = 500;

function* removeDeliveries(entryIds: readonly string[]): Transaction<number> {
  // What still waits since then refers to these entries: its rows come first, and where they are too many at once the
  // entries go in a later round.
  const newestMs = Math.max(...entryIds.map(uuidv7TimeMs)) + ENTRY_TIME_SLACK_MS;
  if ((yield* materializeOldest(MATERIALIZED_MAX, newestMs)) === MATERIALIZED_MAX) return 0;
  let removed = 0;
  for (const some of inSlices(entryIds)) {
    removed += yield* change(
      `DELETE FROM delivery WHERE entry_id IN (${placeholders(some.length)}) AND NOT EXISTS (SELECT 1 ` +
        `FROM run r WHERE r.entry_id = CAST(delivery.entry_id AS TEXT) AND r.state IN ${OPEN_STATES})`,
      ...some,
    );
  }
  return removed;
}

const OUTCOMES_OF: Readonly<Record<RetentionClass, string>> = {
  accepted: outcomesOf('accepted'),
  rejected: outcomesOf('rejected'),
};

function outcomesOf(kept: RetentionClass): string {
  return (Object.keys(OUTCOMES) as OutcomeKind[])
    .filter((kind) => retentionClass(kind) === kept)
    .map((kind) => `'${kind}'`)
    .join(', ');
}

function formatCursor({ webhookUid, entryId, limits }: LogCursor): string {
  return [webhookUid, entryId, limits?.accepted, limits?.rejected].join(' ');
}

function parseCursor(text: string): LogCursor {
  const [webhookUid = '', entryId, accepted, rejected] = text.split(' ');
  return entryId === undefined || accepted === undefined || rejected === undefined
    ? { webhookUid, entryId: '' }
    : { webhookUid, entryId, limits: { accepted, rejected } };
}
