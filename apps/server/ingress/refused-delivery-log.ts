/** Log entries of refused deliveries, bounded a minute and webhook: further ones become one counted entry. contract 5 (Failed authentication). */
import { Injectable } from '@nestjs/common';
import { NOTHING_REFUSED, refusedLogDecision, type RefusalDetails, type RefusedLogState } from '#deliveries';
import { DeliveryStore, type RefusedEntry } from '../store/deliveries/deliveries.ts';
import { Clock } from '../process/injection-tokens.ts';

interface Kept {
  state: RefusedLogState;
  /** The counted entry that is open. `written` settles when it is stored: counting before that would count into nothing. */
  counted?: { entryId: string; written: Promise<void> };
}

@Injectable()
export class RefusedLog {
  private readonly kept = new Map<string, Kept>();
  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly clock: Clock,
  ) {}

  /** `details` are asked for only where the entry is its own: finding them out may take work, and a flood shall not cause it. */
  async write(entry: RefusedEntry, details: () => RefusalDetails): Promise<void> {
    const before = this.kept.get(entry.webhookUid) ?? { state: NOTHING_REFUSED };
    const { action, state } = refusedLogDecision(before.state, this.clock.nowMs());
    const named = { ...entry, deliveryId: entry.deliveryId === '' ? entry.entryId : entry.deliveryId };
    switch (action) {
      case 'entry':
        this.kept.set(entry.webhookUid, { ...before, state });
        return this.deliveries.logRefused({ ...named, refusal: JSON.stringify(details()) });
      case 'begin-count': {
        const written = this.deliveries.logRefused({ ...named, reason: 'counted' });
        this.kept.set(entry.webhookUid, { state, counted: { entryId: entry.entryId, written } });
        return written;
      }
      case 'add-to-count':
        if (before.counted === undefined) return;
        await before.counted.written; // when it failed, this one fails with it: 503, not a refusal that was not counted
        return this.deliveries.countRefused(before.counted.entryId);
    }
  }
}
