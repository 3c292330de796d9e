/** Who may ask: the installation's proofs, principals, API keys by hash, and the audit trail. contract 2. */
import type { Database } from './database.ts';
import { change, databaseNow, insert, row } from './statements.ts';

export type Role = 'admin' | 'manager' | 'operator' | 'viewer';

export interface Principal {
  uid: string;
  kind: 'user' | 'service_account';
  displayName: string;
  email?: string;
}

/** A key that is valid now. `factories` undefined: not limited. */
export interface Access {
  keyId: string;
  principal: Principal;
  role: Role;
  factories?: readonly string[];
}

export interface AuditEntry {
  id: string;
  principalUid: string;
  action: string;
  subject: string;
  factoryUid?: string;
  /** JSON text; names and versions only. */
  details: string;
  address?: string;
}

export class AccessStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Stores the proofs on the first start; afterwards answers the stored ones to compare with. */
  installation(proofs: { masterKey: Uint8Array; uidKey: Uint8Array }): Promise<{ masterKey: Uint8Array; uidKey: Uint8Array }> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      yield* insert('installation', ['id', 'master_key_proof', 'uid_key_proof', 'created_at'], [[1, proofs.masterKey, proofs.uidKey, nowMs]], { ignoreConflicts: true });
      const stored = yield* row<{ master_key_proof: Uint8Array; uid_key_proof: Uint8Array }>('SELECT master_key_proof, uid_key_proof FROM installation WHERE id = 1');
      return { masterKey: stored?.master_key_proof ?? new Uint8Array(0), uidKey: stored?.uid_key_proof ?? new Uint8Array(0) };
    });
  }

  async hasKeys(): Promise<boolean> {
    return (await this.database.read(() => row('SELECT 1 AS present FROM api_key LIMIT 1'))) !== undefined;
  }

  /** Makes the first admin key when there is no key at all; true when it was made. */
  createFirstKey(key: { id: string; principalUid: string; hash: Uint8Array }): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      if (yield* row('SELECT 1 AS present FROM api_key LIMIT 1')) return false;
      yield* insert('principal', ['uid', 'kind', 'display_name', 'created_at'], [[key.principalUid, 'user', 'admin', nowMs]], { ignoreConflicts: true });
      // That insert waited for another replica that does the same: look again.
      if (yield* row('SELECT 1 AS present FROM api_key LIMIT 1')) return false;
      const columns = ['id', 'principal_uid', 'name', 'key_hash', 'role', 'created_at'] as const;
      return (yield* insert('api_key', columns, [[key.id, key.principalUid, 'first admin key', key.hash, 'admin', nowMs]], { ignoreConflicts: true })) === 1;
    });
  }

  /** The access that a key gives now; undefined for unknown, expired and revoked ones. */
  find(hash: Uint8Array): Promise<Access | undefined> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* row<{ id: string; role: Role; factories: string | null; uid: string; kind: Principal['kind']; display_name: string; email: string | null }>(
        `SELECT k.id, k.role, k.factories, p.uid, p.kind, p.display_name, p.email FROM api_key k JOIN principal p ON p.uid = k.principal_uid
         WHERE k.key_hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`,
        hash, nowMs,
      );
      return (
        found && {
          keyId: found.id,
          principal: { uid: found.uid, kind: found.kind, displayName: found.display_name, email: found.email ?? undefined },
          role: found.role,
          factories: found.factories === null ? undefined : (JSON.parse(found.factories) as string[]),
        }
      );
    });
  }

  principal(uid: string): Promise<Principal | undefined> {
    return this.database.read(function* () {
      const found = yield* row<{ uid: string; kind: Principal['kind']; display_name: string; email: string | null }>('SELECT uid, kind, display_name, email FROM principal WHERE uid = ?', uid);
      return found && { uid: found.uid, kind: found.kind, displayName: found.display_name, email: found.email ?? undefined };
    });
  }

  async audit(entry: AuditEntry): Promise<void> {
    await this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const { id, principalUid, action, subject, factoryUid, details, address } = entry;
      const columns = ['id', 'at', 'principal_uid', 'action', 'subject', 'factory_uid', 'details', 'address'] as const;
      yield* insert('audit_entry', columns, [[id, nowMs, principalUid, action, subject, factoryUid ?? null, details, address ?? null]]);
    });
  }

  /** Cheap proof that the database answers. */
  async ping(): Promise<void> {
    await this.database.read(() => row('SELECT 1 AS alive'));
  }

  async revoke(keyId: string): Promise<void> {
    await this.database.run(function* () {
      return yield* change('UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', yield* databaseNow(), keyId);
    });
  }
}
