/** Events of factories as rows: written in the transaction of what they tell of, read newest first, the newest kept. contract 9. */
import type { FactoryEvent } from '#reconcile';
import type { ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { change, databaseNow, insert, rows, type Transaction } from '../database/transactions.ts';

/** Events of one factory that are kept: months of a busy one. */
export const EVENTS_KEPT = 1_000;

/** An event with a name of its own: a UUIDv7, by which events are in order. */
export interface NamedEvent extends FactoryEvent {
  id: string;
}

/** An event as it was written down. */
export interface StoredFactoryEvent extends NamedEvent {
  atMs: number;
  passId?: string;
}

/** Appends events of one moment, and lets go of those beyond the newest. */
export function* tell(
  factoryUid: string,
  events: readonly NamedEvent[],
  atMs: number,
  passId?: string,
): Transaction<void> {
  if (events.length === 0) return;
  const columns = ['id', 'factory_uid', 'at', 'type', 'reason', 'message', 'revision', 'pass_id'] as const;
  yield* insert(
    'factory_event',
    columns,
    events.map(({ id, type, reason, message, revision }) => [
      id,
      factoryUid,
      atMs,
      type,
      reason,
      message,
      revision ?? null,
      passId ?? null,
    ]),
  );
  yield* change(
    'DELETE FROM factory_event WHERE factory_uid = ? AND id < (SELECT id FROM factory_event WHERE factory_uid = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
    factoryUid,
    factoryUid,
    EVENTS_KEPT - 1,
  );
}

/** Tells of a change that somebody asked for; `by` undefined: nobody did, nothing is told. */
export function* tellAsked(by: ChangedBy | undefined, factoryUid: string, event: FactoryEvent): Transaction<void> {
  if (by !== undefined) yield* tell(factoryUid, [{ id: by.id, ...event }], yield* databaseNow());
}

interface EventRow {
  id: string;
  at: number;
  type: FactoryEvent['type'];
  reason: string;
  message: string;
  revision: string | null;
  pass_id: string | null;
}

export class EventStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Events of a factory, newest first, from before `before`. */
  async list(factoryUid: string, limit: number, before?: string): Promise<StoredFactoryEvent[]> {
    const found = await this.database.read(() =>
      rows<EventRow>(
        `SELECT id, at, type, reason, message, revision, pass_id FROM factory_event WHERE factory_uid = ? ${before === undefined ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
        factoryUid,
        ...(before === undefined ? [] : [before]),
        limit,
      ),
    );
    return found.map(({ at, pass_id: passId, revision, ...event }) => ({
      ...event,
      atMs: at,
      revision: revision ?? undefined,
      passId: passId ?? undefined,
    }));
  }
}
