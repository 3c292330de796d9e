/**
 * Tables of deliveries: the log, and the identities that were accepted; and what the ID of a log entry says of its
 * time.
 */
import type { DeferredTable } from '../database/deferred-index.ts';
import { defineTable, onlyOn, type RowOf, type StoredRowOf, variedOnPostgres } from '../database/table.ts';

/** The log. Internal columns: the payload, the slot of the rate limit, and how often the bytes were delivered again. */
export const DELIVERY = variedOnPostgres(
  { entry_id: 'uuid', entries: 'nullable', size_exact: 'nullable', resends: 'nullable' },
  defineTable(
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
  ),
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
  isNumbered: true,
};

/**
 * Identities that were accepted while several processes accepted, until one that accepts alone takes them over. The
 * primary key arbitrates between processes. What was accepted once is never accepted again: all outlive the log.
 */
export const SHARED_IDENTITY = onlyOn(
  'postgres',
  defineTable('shared_identity', { key: 'bytes key', accepted_at: 'int' }),
);

/** One row: the process that accepts alone, and counts rate slots in its memory; without one, all count in the log. */
export const RATE_OWNER = onlyOn(
  'postgres',
  defineTable('rate_owner', { id: 'int key', owner: 'text?', epoch: 'int', changed_at: 'int' }),
);

/** Keys of the batches that a process has accepted alone since it wrote its last run, oldest first. */
export const IDENTITY_BATCH = defineTable('identity_batch', { no: 'int key', keys: 'bytes', accepted_at: 'int' });

/**
 * And all older keys, in sorted runs. `state`: a `merging` run is written of the live ones of the level below it, up
 * to `last_input`; a `merged` one is in another by now. `newest_at`: none of its keys was accepted later.
 */
export const IDENTITY_RUN = defineTable('identity_run', {
  run: 'int key',
  level: 'int',
  state: 'text',
  size: 'int',
  last_input: 'int?',
  newest_at: 'int',
});

/** Parts of a run, in the order of their keys: `id` is the run's number × CHUNKS_PER_RUN + the place in it. */
export const IDENTITY_CHUNK = defineTable('identity_chunk', { id: 'int key', keys: 'bytes' });

/**
 * An ID is made after the body was read, by a clock that may have stepped or differ from the database's: it names the
 * time of receipt, and that of the slot, to this many milliseconds. Entries of a span are found by their IDs, along the
 * log of their webhook.
 */
export const ENTRY_TIME_SLACK_MS = 300_000;

/**
 * IDs of a process only grow: while its clock is set back they go on from where they were. An entry of that time is
 * found by when it was received although its ID names a time later by so much, in milliseconds. contract §1.4.
 */
export const ID_LEAD_MS_MAX = 86_400_000;
