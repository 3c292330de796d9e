/**
 * Rate windows of webhooks: the slots of the last minute, read from the log, or remembered where this process is its
 * only writer.
 */
import { RATE_WINDOW_MS } from '#deliveries';
import { firstUuidv7 } from '#runs';
import type { PendingDelivery } from './pending-deliveries.ts';
import { ENTRY_TIME_SLACK_MS } from './delivery.entities.ts';
import { catchUp } from '../database/deferred-index.ts';
import { matching, type Transaction } from '../database/transactions.ts';

/** Beyond this many webhooks, those without a slot in the last minute are forgotten. */
const WEBHOOKS_MAX = 20_000;

export class RateWindowCache {
  private readonly windows = new Map<string, readonly number[]>();

  all(): RateWindows {
    return this.windows;
  }

  /** Takes over what a committed batch left behind. */
  update(windows: RateWindows): void {
    for (const [uid, window] of windows) this.windows.set(uid, window);
    if (this.windows.size > WEBHOOKS_MAX) this.forget();
  }

  private forget(): void {
    const newest = Math.max(...[...this.windows.values()].slice(-1).map((window) => window.at(-1) ?? 0));
    for (const [uid, window] of this.windows)
      if ((window.at(-1) ?? 0) <= newest - RATE_WINDOW_MS) this.windows.delete(uid);
  }
}

/** Times of the slots that webhooks have taken within the last minute, by UID, oldest first. */
export type RateWindows = ReadonlyMap<string, readonly number[]>;

/** Batches of several replicas take turns at a webhook, so that its slots are counted exactly. */
export function* lockWebhooks(arrivals: readonly PendingDelivery[]): Transaction<void> {
  yield* matching(
    { columns: 'uid', table: 'webhook', keys: ['uid'], tail: 'ORDER BY uid FOR UPDATE' },
    unique(arrivals.map((arrival) => arrival.webhookUid)),
  );
}

export function* slotWindows(
  arrivals: readonly PendingDelivery[],
  remembered: RateWindows,
  nowMs: number,
): Transaction<Map<string, readonly number[]>> {
  const windows = new Map<string, readonly number[]>();
  for (const { webhookUid } of arrivals) windows.set(webhookUid, remembered.get(webhookUid) ?? []);
  const oldestEntry = firstUuidv7(nowMs - RATE_WINDOW_MS - ENTRY_TIME_SLACK_MS);
  const slots = {
    columns: 'l.webhook_uid, d.slot_at',
    table: 'delivery_log l CROSS JOIN delivery d',
    keys: ['l.webhook_uid'],
    and: 'AND l.entry_id >= ? AND d.entry_id = l.entry_id AND d.slot_at > ?',
    params: [oldestEntry, nowMs - RATE_WINDOW_MS],
    tail: 'ORDER BY slot_at',
  };
  const unknown = unique([...windows.keys()].filter((uid) => !remembered.has(uid)));
  if (unknown.length > 0) yield* catchUp('delivery_log', unknown.flat());
  const found = yield* matching<{ webhook_uid: string; slot_at: number }>(slots, unknown);
  for (const { webhook_uid: uid, slot_at: slotAt } of found) windows.set(uid, [...(windows.get(uid) ?? []), slotAt]);
  return windows;
}

/** As keys to look for: each once, in the order in which all lock them. */
export function unique(values: readonly string[]): [string][] {
  return [...new Set(values)].sort().map((value) => [value]);
}
