/** Tables of factories: their state, passes, approvals, accepted revisions and events. */
import { defineTable, type RowOf } from '../database/table.ts';

/** Factories, deleted ones too. Internal columns: the lease of the process that reconciles. */
export const FACTORY = defineTable(
  'factory',
  {
    uid: 'key',
    slug: 'text',
    name: 'text',
    description: 'text',
    source: 'text',
    definition: 'text',
    service_account_uid: 'text',
    suspended: 'int',
    serving_version: 'int',
    generation_requested: 'int',
    generation_handled: 'int',
    revision_seen: 'text?',
    revision_attempted: 'text?',
    revision_applied: 'text?',
    condition: 'text',
    /** JSON of the conditions with their times. */
    conditions: 'text',
    /** JSON of SyncPolicy. */
    sync_policy: 'text',
    /** JSON of Rewrite; null: never. */
    rewrite: 'text?',
    /** JSON of HowApplied; null: nothing was, or by an older version. */
    how_applied: 'text?',
    failures: 'int',
    created_at: 'int',
    updated_at: 'int',
    deleted_at: 'int?',
  },
  { lease_owner: 'text?', lease_until: 'int', fence: 'int' },
);

/** Row of `factory`. */
export type FactoryRow = RowOf<typeof FACTORY>;

/** Recorded passes; lists are JSON. `revision_id`: the commit alone. */
export const PASS = defineTable('sync_pass', {
  id: 'key',
  factory_uid: 'text',
  triggers: 'text',
  started_at: 'int',
  finished_at: 'int',
  ending: 'text',
  reason: 'text?',
  message: 'text?',
  revision: 'text?',
  problems: 'text',
  changes: 'text',
  held: 'text',
  digest: 'text?',
  timings: 'text',
  rewritten_from: 'text?',
  superseded: 'int',
  revision_id: 'text?',
});

/** Row of `sync_pass`. */
export type PassRow = RowOf<typeof PASS>;

/** Approved digests. */
export const APPROVAL = defineTable('approval', {
  factory_uid: 'key',
  digest: 'key',
  at: 'int',
  principal_uid: 'text',
});

/** Accepted revisions; how `ordinal`, `lost` and `tip` relate: migration 4. */
export const REVISION = defineTable('revision', {
  factory_uid: 'key',
  revision: 'key',
  ordinal: 'int',
  seen_at: 'int',
  lost: 'int',
  tip: 'int',
  pass_id: 'text?',
});

/** What happened to a factory, for people. */
export const FACTORY_EVENT = defineTable('factory_event', {
  id: 'key',
  factory_uid: 'text',
  at: 'int',
  type: 'text',
  reason: 'text',
  message: 'text',
  revision: 'text?',
  pass_id: 'text?',
});

/** Row of `factory_event`. */
export type FactoryEventRow = RowOf<typeof FACTORY_EVENT>;
