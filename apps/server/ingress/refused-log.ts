/** Log entries of refused deliveries, bounded a minute and webhook: further ones become one counted entry. contract 5 (Failed authentication). */
import { NOTHING_REFUSED, refusedLogDecision, type RefusedLogState } from '#deliveries';
import type { DeliveryStore, RefusedEntry } from '../store/deliveries.ts';

interface Kept {
  state: RefusedLogState;
  countedEntryId?: string;
}

export class RefusedLog {
  private readonly kept = new Map<string, Kept>();
  private readonly deliveries: DeliveryStore;
  private readonly nowMs: () => number;
  constructor(deliveries: DeliveryStore, nowMs: () => number) {
    this.deliveries = deliveries;
    this.nowMs = nowMs;
  }

  async write(entry: RefusedEntry): Promise<void> {
    const before = this.kept.get(entry.webhookUid) ?? { state: NOTHING_REFUSED };
    const { action, state } = refusedLogDecision(before.state, this.nowMs());
    const named = { ...entry, deliveryId: entry.deliveryId === '' ? entry.entryId : entry.deliveryId };
    switch (action) {
      case 'entry':
        this.kept.set(entry.webhookUid, { ...before, state });
        return this.deliveries.logRefused(named);
      case 'begin-count':
        this.kept.set(entry.webhookUid, { state, countedEntryId: entry.entryId });
        return this.deliveries.logRefused({ ...named, reason: 'counted' });
      case 'add-to-count':
        return this.deliveries.countRefused(before.countedEntryId ?? entry.entryId);
    }
  }
}
