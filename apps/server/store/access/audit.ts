/**
 * The audit trail: written in the transaction of the change it records, so that neither exists without the other; read
 * newest first. contract §2.
 */
import { AUDIT_ENTRY, type AuditEntryRow } from './access.entities.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { databaseNow, rows, type SqlValue, type Transaction } from '../database/transactions.ts';

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
export interface AuditChange {
  action: string;
  subject: string;
  factoryUid?: string;
  details?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
}

/**
 * One change as it was written down. `displayName` is the UID where there is no principal of that UID: the service
 * itself has none.
 */
export interface AuditEntry {
  id: string;
  atMs: number;
  principal: { uid: string; displayName: string };
  keyId?: string;
  action: string;
  subject: string;
  factoryUid?: string;
  address?: string;
  details: Record<string, unknown>;
}

/** All of them are required to match. */
export interface AuditFilter {
  principalUid?: string;
  action?: string;
  subject?: string;
  factoryUid?: string;
  /** At this time or later. */
  sinceMs?: number;
  /** Before this time. */
  untilMs?: number;
}

/** Place of an entry in the trail. */
export type AuditCursor = readonly [atMs: number, id: string];

/** Who acts when the service does something at its start that nobody asks for over the API. */
const SYSTEM = 'system';

/** The service itself; `id` is the entry's. */
export function bySystem(id: string): ChangedBy {
  return { id, principalUid: SYSTEM };
}

/** Appends one entry; `by` undefined: nobody asked for it, nothing is written. */
export function* audit(
  by: ChangedBy | undefined,
  { action, subject, factoryUid, details }: AuditChange,
): Transaction<void> {
  if (by === undefined) return;
  const nowMs = yield* databaseNow();
  const entry = {
    id: by.id,
    at: nowMs,
    principal_uid: by.principalUid,
    key_id: by.keyId ?? null,
    action,
    subject,
    factory_uid: factoryUid ?? null,
    details: JSON.stringify(details ?? {}),
    address: by.address ?? null,
  };
  yield* insertInto(AUDIT_ENTRY, [entry]);
}

export class AuditStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Entries, newest first, from behind the place `after`. */
  list(filter: AuditFilter, limit: number, after?: AuditCursor): Promise<AuditEntry[]> {
    const conditions = conditionsOf(filter, after);
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ text }) => text).join(' AND ')}`;
    return this.database.longRead(function* () {
      const found = yield* rows<NamedEntryRow>(
        `SELECT e.id, e.at, e.principal_uid, p.display_name, e.key_id, e.action, e.subject, e.factory_uid, e.address,
          e.details
         FROM audit_entry e LEFT JOIN principal p ON p.uid = e.principal_uid ${where} ORDER BY e.at DESC, e.id DESC
         LIMIT ?`,
        ...conditions.flatMap(({ params }) => params),
        limit,
      );
      return found.map(toAuditEntry);
    });
  }
}

type NamedEntryRow = AuditEntryRow & { display_name: string | null };

function conditionsOf(filter: AuditFilter, after: AuditCursor | undefined): { text: string; params: SqlValue[] }[] {
  const { principalUid, action, subject, factoryUid, sinceMs, untilMs } = filter;
  const wanted: [text: string, value: SqlValue | undefined][] = [
    ['e.principal_uid = ?', principalUid],
    ['e.action = ?', action],
    ['e.subject = ?', subject],
    ['e.factory_uid = ?', factoryUid],
    ['e.at >= ?', sinceMs],
    ['e.at < ?', untilMs],
  ];
  return [
    ...wanted.flatMap(([text, value]) => (value === undefined ? [] : [{ text, params: [value] }])),
    ...(after === undefined ? [] : [{ text: '(e.at, e.id) < (?, ?)', params: [...after] }]),
  ];
}

function toAuditEntry(found: NamedEntryRow): AuditEntry {
  return {
    id: found.id,
    atMs: found.at,
    principal: { uid: found.principal_uid, displayName: found.display_name ?? found.principal_uid },
    keyId: found.key_id ?? undefined,
    action: found.action,
    subject: found.subject,
    factoryUid: found.factory_uid ?? undefined,
    address: found.address ?? undefined,
    details: JSON.parse(found.details) as Record<string, unknown>,
  };
}
