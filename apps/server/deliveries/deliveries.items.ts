/** Entries of the delivery log as the API shows them. spec: Webhook delivery (log entry). */
import type { Delivery } from '#contracts';
import { OUTCOMES, type OutcomeKind, type RefusalDetails } from '#deliveries';
import type { Access } from '../store/access/access.ts';
import { parseDecision } from '../store/deliveries/delivery-entries.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { toTime } from '../http/queries.ts';

/** What became of an accepted delivery. */
type Decision = Pick<Delivery, 'started' | 'skipped'>;

/** Why a delivery was refused, in the service's words, and which mistake would explain it, is for managers. */
export function toDeliveryItem(entry: DeliveryRow, { role }: Access, publicUrl: string): Delivery {
  const isManagers = role === 'admin' || role === 'manager';
  const decision = entry.decision === null ? {} : (parseDecision(entry.decision) as Decision);
  return {
    entry_id: entry.entry_id,
    delivery_id: entry.delivery_id,
    outcome: OUTCOMES[entry.outcome as OutcomeKind],
    size: entry.size,
    size_exact: entry.size_exact === 1,
    received_at: toTime(entry.received_at),
    client_address: entry.client_address,
    revision: entry.revision,
    count: entry.entries,
    ...(entry.reason !== null && isManagers ? { refused_because: entry.reason } : {}),
    ...(entry.refusal === null
      ? {}
      : { refusal: toRefusalItem(JSON.parse(entry.refusal) as RefusalDetails, isManagers) }),
    ...(entry.resent_from === null ? {} : { resent_from: entry.resent_from }),
    ...decision,
    ...(entry.outcome === 'accepted' ? { payload_url: payloadUrl(entry, publicUrl) } : {}),
  };
}

function toRefusalItem({ check, header, skewSeconds, hint }: RefusalDetails, isManagers: boolean): Delivery['refusal'] {
  return {
    check,
    ...(header === undefined ? {} : { header }),
    ...(skewSeconds === undefined ? {} : { skew_seconds: skewSeconds }),
    ...(hint === undefined || !isManagers ? {} : { hint }),
  };
}

/** Where the stored bytes of an accepted delivery are. */
function payloadUrl(
  { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId }: DeliveryRow,
  publicUrl: string,
): string {
  return `${publicUrl}/api/v1/factory/${factoryUid}/webhooks/${webhookUid}/deliveries/${entryId}/payload`;
}
