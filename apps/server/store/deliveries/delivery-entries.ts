/** Stored bytes that are delivered again: which time it is, and what is committed with it. contract 5 (Log). */
import { audit } from '../access/audit.ts';
import type { StartDecision } from './pending-deliveries.ts';
import type { TransactionHook } from '../runs/run-commands.ts';
import { change, placeholders, rows, type Transaction } from '../database/transactions.ts';
import type { DeliveryRow } from './delivery.entities.ts';

/** A wish to deliver the bytes of an accepted entry again. */
export interface ResendRequest extends TransactionHook<DeliveryRow> {
  /** The entry. */
  of: string;
  /** The delivery as it is the `n`-th time, from 1: only its transaction knows which time it is. Asked once more where that starts over. */
  as(n: number): StartDecision & { deliveryId: string; identity: Uint8Array };
}

/** One that was accepted. */
export interface AcceptedResend {
  verdict: Pick<ResendRequest, 'of' | 'by' | 'also'>;
  n: number;
  factoryUid: string;
  /** The new entry, once it is written. */
  entry(): DeliveryRow;
}

/** Which time comes next for each of these entries; those that are gone are absent. Their webhook is locked, so that nobody else counts meanwhile. */
export function* nextResends(entryIds: readonly string[]): Transaction<Map<string, number>> {
  const wanted = [...new Set(entryIds)];
  if (wanted.length === 0) return new Map();
  const found = yield* rows<{ entry_id: string; resends: number }>(
    `SELECT entry_id, resends FROM delivery WHERE entry_id IN (${placeholders(wanted.length)})`,
    ...wanted,
  );
  return new Map(found.map(({ entry_id: entryId, resends }) => [entryId, resends + 1]));
}

/** Counts it, and writes down who asked. */
export function* noteResend({ verdict: { of, by, also }, n, factoryUid, entry }: AcceptedResend): Transaction<void> {
  yield* change('UPDATE delivery SET resends = ? WHERE entry_id = ?', n, of);
  const written = entry();
  yield* audit(by, {
    action: 'delivery.resend',
    subject: of,
    factoryUid,
    details: { webhook: written.webhook_uid, entry: written.entry_id },
  });
  if (also !== undefined) yield* also(written);
}
