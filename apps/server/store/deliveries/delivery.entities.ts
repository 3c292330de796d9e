/**
 * Tables of deliveries: the log, and the identities that were accepted; and what the ID of a log entry says of its
 * time.
 */
import type { DeferredTable } from '../database/deferred-index.ts';
import { defineTable, type RowOf, type StoredRowOf } from '../database/table.ts';

/** The log. Internal columns: the payload, the slot of the rate limit, and how often the bytes were delivered again. */
export const DELIVERY = defineTable(
  'delivery',
  {
    entry_id: 'key',
    webhook_uid: 'text',
    factory_uid: 'text',
    delivery_id: 'text',
    outcome: 'text',
    size: 'int',
    size_exact: 'int',
    received_at: 'int',
    client_address: 'text',
    revision: 'text',
    entries: 'int',
    reason: 'text?',
    decision: 'text?',
    payload_encoding: 'text?',
    /** JSON of RefusalDetails. */
    refusal: 'text?',
    resent_from: 'text?',
  },
  { slot_at: 'int?', payload: 'bytes?', resends: 'int' },
);

/** Row of `delivery`, without the payload. */
export type DeliveryRow = RowOf<typeof DELIVERY>;

/** The same with everything that is stored. */
export type StoredDeliveryRow = StoredRowOf<typeof DELIVERY>;

/** The log by webhook, with what lists and charts ask for. Read it behind `catchUp`. */
export const DELIVERY_LOG: DeferredTable = {
  name: 'delivery_log',
  source: 'delivery',
  columns: ['webhook_uid', 'entry_id', 'outcome', 'received_at', 'entries'],
  leading: 'webhook_uid',
  order: 'entry_id',
};

/** What was accepted once is never accepted again; outlives the log. */
export const IDENTITY = defineTable('identity', {
  webhook_uid: 'key',
  hash: 'bytes key',
  accepted_at: 'int',
});

/**
 * An ID is made after the body was read, by a clock that may have stepped or differ from the database's: it names the
 * time of receipt, and that of the slot, to this many milliseconds. Entries of a span are found by their IDs, along the
 * log of their webhook.
 */
export const ENTRY_TIME_SLACK_MS = 300_000;
