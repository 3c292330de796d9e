/** Pruning of the delivery log, a few webhooks at a time, so that it never holds up an acceptance for long. spec: Delivery log retention; contract 5 (Log). */
import { RETAINED_ENTRIES_MIN, retentionClass, retentionCutoffMs, OUTCOMES, type OutcomeKind, type RetentionClass } from '#deliveries';
import { change, row, rows, type Work } from './statements.ts';

/** Webhooks looked at in one transaction. */
const WEBHOOKS_PER_STEP = 20;
/** Entries removed of one webhook and class in one transaction. */
const ENTRIES_PER_STEP = 500;
const DAY_MS = 86_400_000;

const KINDS = Object.keys(OUTCOMES) as OutcomeKind[];
const CLASSES: readonly RetentionClass[] = ['accepted', 'rejected'];

/** One step behind webhook `after`; `last` is where the next step goes on, '' after the last webhook. */
export function* pruneSome(after: string, nowMs: number, identityRetentionDays: number | undefined): Work<{ removed: number; last: string }> {
  const webhooks = yield* rows<{ uid: string }>('SELECT uid FROM webhook WHERE uid > ? ORDER BY uid LIMIT ?', after, WEBHOOKS_PER_STEP);
  let removed = 0;
  for (const { uid } of webhooks) {
    for (const kept of CLASSES) removed += yield* pruneClass(uid, kept, retentionCutoffMs(nowMs));
    if (identityRetentionDays !== undefined) {
      yield* change('DELETE FROM identity WHERE webhook_uid = ? AND accepted_at < ?', uid, nowMs - identityRetentionDays * DAY_MS);
    }
  }
  return { removed, last: webhooks.length === WEBHOOKS_PER_STEP ? (webhooks.at(-1)?.uid ?? '') : '' };
}

function* pruneClass(webhookUid: string, kept: RetentionClass, cutoffMs: number): Work<number> {
  const outcomes = KINDS.filter((kind) => retentionClass(kind) === kept)
    .map((kind) => `'${kind}'`)
    .join(', ');
  const oldestKept = yield* row<{ entry_id: string }>(
    `SELECT entry_id FROM delivery WHERE webhook_uid = ? AND outcome IN (${outcomes}) ORDER BY entry_id DESC LIMIT 1 OFFSET ?`,
    webhookUid, RETAINED_ENTRIES_MIN - 1,
  );
  if (oldestKept === undefined) return 0;
  return yield* change(
    `DELETE FROM delivery WHERE entry_id IN (
       SELECT d.entry_id FROM delivery d WHERE d.webhook_uid = ? AND d.outcome IN (${outcomes}) AND d.entry_id < ? AND d.received_at < ?
       AND NOT EXISTS (SELECT 1 FROM run r WHERE r.entry_id = d.entry_id AND r.state IN ('QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED'))
       ORDER BY d.entry_id LIMIT ?)`,
    webhookUid, oldestKept.entry_id, cutoffMs, ENTRIES_PER_STEP,
  );
}
