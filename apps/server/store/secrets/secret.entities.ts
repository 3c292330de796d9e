/** Tables of managed secrets: what each is called and granted for, and its sealed versions. */
import { defineTable, type RowOf } from '../database/table.ts';

/** `owner`: `team` or a factory's UID; `version` 0 while no value is set; grants are JSON. */
export const SECRET = defineTable('secret', {
  id: 'key',
  owner: 'text',
  name: 'text',
  grant_factories: 'text',
  grant_uses: 'text',
  grant_runs: 'text',
  grant_hosts: 'text?',
  version: 'int',
  created_at: 'int',
  updated_at: 'int',
});

/** Row of `secret`. */
export type SecretRow = RowOf<typeof SECRET>;

/**
 * Sealed values: the newest version, and those that a webhook still serves. `usable_for`: JSON by mode of
 * authentication; `wrapped_by`: name of its master key, null for those of before keys had names.
 */
export const SECRET_VALUE = defineTable('secret_value', {
  secret_id: 'key',
  version: 'int key',
  wrapped_key: 'bytes',
  sealed: 'bytes',
  usable_for: 'text',
  created_at: 'int',
  wrapped_by: 'text?',
});

/** Row of `secret_value`. */
export type SecretValueRow = RowOf<typeof SECRET_VALUE>;
