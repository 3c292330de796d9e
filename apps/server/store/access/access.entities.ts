/** Tables of who may ask: the installation, principals, API keys, sessions, the audit trail, idempotency keys. */
import { defineTable, type RowOf } from '../database/table.ts';

/** One row: proofs that the keys on disk are the ones of this database; `next…`: while the master key rotates. */
export const INSTALLATION = defineTable('installation', {
  id: 'int key',
  master_key_proof: 'bytes',
  uid_key_proof: 'bytes',
  created_at: 'int',
  next_master_key_proof: 'bytes?',
});

/** Users and service accounts. */
export const PRINCIPAL = defineTable('principal', {
  uid: 'key',
  kind: 'text',
  display_name: 'text',
  email: 'text?',
  created_at: 'int',
});

/** Row of `principal`. */
export type PrincipalRow = RowOf<typeof PRINCIPAL>;

/** API keys by their digest; `factories`: JSON of UIDs, null for all; `federated_…`: of a token that was exchanged. */
export const API_KEY = defineTable(
  'api_key',
  {
    id: 'key',
    principal_uid: 'text',
    name: 'text',
    role: 'text',
    factories: 'text?',
    hint: 'text',
    created_at: 'int',
    created_by: 'text?',
    expires_at: 'int?',
    revoked_at: 'int?',
    last_used_at: 'int?',
    federated_credential_id: 'text?',
  },
  { key_hash: 'bytes' },
);

/** Row of `api_key`, without the digest. */
export type ApiKeyRow = RowOf<typeof API_KEY>;

/** Whose tokens are exchanged for keys; `claims`: JSON of the values that each may have; `factories` as in keys. */
export const FEDERATED_CREDENTIAL = defineTable(
  'federated_credential',
  {
    id: 'key',
    name: 'text',
    issuer: 'text',
    audience: 'text',
    claims: 'text',
    role: 'text',
    factories: 'text?',
    created_at: 'int',
    created_by: 'text?',
    updated_at: 'int',
    last_used_at: 'int?',
  },
  { principal_uid: 'text' },
);

/** Row of `federated_credential`, without the UID of its service account. */
export type FederatedCredentialRow = RowOf<typeof FEDERATED_CREDENTIAL>;

/** Tokens that were exchanged, by a digest, until they run out. */
export const EXCHANGED_TOKEN = defineTable('exchanged_token', { digest: 'bytes key', expires_at: 'int' });

/** Signed-in browsers: SHA-256 of the cookie, and the key whose rights they have. */
export const BROWSER_SESSION = defineTable('browser_session', {
  hash: 'bytes key',
  key_id: 'text',
  created_at: 'int',
  expires_at: 'int',
});

/** What was changed by whom; `details`: JSON without secrets, payloads or prompts. */
export const AUDIT_ENTRY = defineTable('audit_entry', {
  id: 'key',
  at: 'int',
  principal_uid: 'text',
  key_id: 'text?',
  action: 'text',
  subject: 'text',
  factory_uid: 'text?',
  details: 'text',
  address: 'text?',
});

/** Row of `audit_entry`. */
export type AuditEntryRow = RowOf<typeof AUDIT_ENTRY>;

/** The first answer to each idempotency key; without a status the request is in progress. */
export const IDEMPOTENCY = defineTable('idempotency', {
  principal_uid: 'key',
  scope: 'key',
  idempotency_key: 'key',
  request_hash: 'bytes',
  status: 'int?',
  answer: 'text?',
  at: 'int',
  lease_until: 'int',
});

/** Row of `idempotency`. */
export type IdempotencyRow = RowOf<typeof IDEMPOTENCY>;
