/** Entries of the delivery log as the API shows them. spec: Webhook delivery (log entry). */
import type { Delivery } from '#contracts';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import type { DeliveryRow } from '../store/tables.ts';
import { toTime } from '../http/times.ts';

/** What became of an accepted delivery, as it is stored: in the wire's spelling. */
type Decision = Pick<Delivery, 'started' | 'skipped'>;

/** `payloadUrl`: where the stored bytes of an accepted delivery are. Why one was refused is for those who may know. */
export function toDeliveryItem(entry: DeliveryRow, showsReason: boolean, payloadUrl: string): Delivery {
  const decision = entry.decision === null ? {} : (JSON.parse(entry.decision) as Decision);
  return {
    entry_id: entry.entry_id, delivery_id: entry.delivery_id, outcome: OUTCOMES[entry.outcome as OutcomeKind], size: entry.size, size_exact: entry.size_exact === 1,
    received_at: toTime(entry.received_at), client_address: entry.client_address, revision: entry.revision, count: entry.entries,
    ...(entry.reason !== null && showsReason ? { refused_because: entry.reason } : {}),
    ...decision,
    ...(entry.outcome === 'accepted' ? { payload_url: payloadUrl } : {}),
  };
}
