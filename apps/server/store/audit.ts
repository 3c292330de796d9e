/** The audit trail: written in the transaction of the change it tells of, so that neither exists without the other. contract 2. */
import { databaseNow, insert, type Work } from './statements.ts';

/** Who changes something, and from where. */
export interface ChangedBy {
  /** UUIDv7 of the entry. */
  id: string;
  principalUid: string;
  /** The key that was used; undefined for what the service does by itself. */
  keyId?: string;
  address?: string;
}

/** What was changed. `action` is `noun.verb`; `details` never holds a secret, a payload or a prompt. */
export interface Change {
  action: string;
  subject: string;
  factoryUid?: string;
  details?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
}

/** Appends one entry; `by` undefined: nobody asked for it over the API, nothing is written. */
export function* audit(by: ChangedBy | undefined, { action, subject, factoryUid, details }: Change): Work<void> {
  if (by === undefined) return;
  const nowMs = yield* databaseNow();
  const columns = ['id', 'at', 'principal_uid', 'key_id', 'action', 'subject', 'factory_uid', 'details', 'address'] as const;
  yield* insert('audit_entry', columns, [[by.id, nowMs, by.principalUid, by.keyId ?? null, action, subject, factoryUid ?? null, JSON.stringify(details ?? {}), by.address ?? null]]);
}
