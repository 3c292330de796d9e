/**
 * Events of factories as rows: written in the transaction of what they report, read newest first, bounded in number.
 * contract §9.
 */
import type { FactoryEvent } from '#reconcile';
import { LessThan } from 'typeorm';
import type { ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, type Transaction } from '../database/transactions.ts';
import { FACTORY_EVENT, type FactoryEventRow } from './factory.entities.ts';

/** Events of one factory that are kept: months of a busy one. */
export const EVENTS_RETAINED_MAX = 1_000;

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
export function* recordEvents(
  factoryUid: string,
  events: readonly NamedEvent[],
  atMs: number,
  passId?: string,
): Transaction<void> {
  if (events.length === 0) return;
  const rows = events.map(({ id, type, reason, message, revision }) => ({
    id,
    factory_uid: factoryUid,
    at: atMs,
    type,
    reason,
    message,
    revision: revision ?? null,
    pass_id: passId ?? null,
  }));
  yield* insertInto(FACTORY_EVENT, rows);
  yield* change(
    'DELETE FROM factory_event WHERE factory_uid = ? AND id < (SELECT id FROM factory_event ' +
      'WHERE factory_uid = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
    factoryUid,
    factoryUid,
    EVENTS_RETAINED_MAX - 1,
  );
}

/** Records a change that somebody asked for; `by` undefined: nobody did, nothing is recorded. */
export function* recordRequestedEvent(
  by: ChangedBy | undefined,
  factoryUid: string,
  event: FactoryEvent,
): Transaction<void> {
  if (by !== undefined) yield* recordEvents(factoryUid, [{ id: by.id, ...event }], yield* databaseNow());
}

export class EventStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Events of a factory, newest first, from before `before`. */
  async list(factoryUid: string, limit: number, before?: string): Promise<StoredFactoryEvent[]> {
    const where = { factory_uid: factoryUid, ...(before === undefined ? {} : { id: LessThan(before) }) };
    const events = this.database.source.getRepository(FACTORY_EVENT);
    return (await withStoreErrors(events.find({ where, order: { id: 'DESC' }, take: limit }))).map(toEvent);
  }
}

function toEvent(found: FactoryEventRow): StoredFactoryEvent {
  return {
    id: found.id,
    type: found.type as FactoryEvent['type'],
    reason: found.reason,
    message: found.message,
    atMs: found.at,
    revision: found.revision ?? undefined,
    passId: found.pass_id ?? undefined,
  };
}
