/** Who may ask and for whom: the installation's proofs, principals, and which factories there are to be limited to. contract 2. */
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/faults.ts';
import { READ_ONLY } from '../database/postgres/postgres-connections.ts';
import { databaseNow, insert, placeholders, row, rows } from '../database/transactions.ts';

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

export class AccessStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Stores the proofs on the first start; afterwards answers the stored ones to compare with. */
  installation(proofs: {
    masterKey: Uint8Array;
    uidKey: Uint8Array;
  }): Promise<{ masterKey: Uint8Array; uidKey: Uint8Array }> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      yield* insert(
        'installation',
        ['id', 'master_key_proof', 'uid_key_proof', 'created_at'],
        [[1, proofs.masterKey, proofs.uidKey, nowMs]],
        { ignoreConflicts: true },
      );
      const stored = yield* row<{ master_key_proof: Uint8Array; uid_key_proof: Uint8Array }>(
        'SELECT master_key_proof, uid_key_proof FROM installation WHERE id = 1',
      );
      return {
        masterKey: stored?.master_key_proof ?? new Uint8Array(0),
        uidKey: stored?.uid_key_proof ?? new Uint8Array(0),
      };
    });
  }

  principal(uid: string): Promise<Principal | undefined> {
    return this.database.read(function* () {
      const found = yield* row<{ uid: string; kind: Principal['kind']; display_name: string; email: string | null }>(
        'SELECT uid, kind, display_name, email FROM principal WHERE uid = ?',
        uid,
      );
      return (
        found && { uid: found.uid, kind: found.kind, displayName: found.display_name, email: found.email ?? undefined }
      );
    });
  }

  /** Cheap proof that the database answers, and not one that takes no writes. Throws StoreError. */
  async ping(): Promise<void> {
    if (this.database.dialect === 'sqlite') await this.database.read(() => row('SELECT 1 AS alive'));
    else if (
      (
        await this.database.read(() =>
          row<{ read_only: string }>("SELECT current_setting('transaction_read_only') AS read_only"),
        )
      )?.read_only !== 'off'
    )
      throw new StoreError('unavailable', READ_ONLY);
  }

  /** Those of these UIDs of which there is no live factory. */
  async unknownFactories(uids: readonly string[]): Promise<Set<string>> {
    if (uids.length === 0) return new Set();
    const live = await this.database.read(() =>
      rows<{ uid: string }>(
        `SELECT uid FROM factory WHERE deleted_at IS NULL AND uid IN (${placeholders(uids.length)})`,
        ...uids,
      ),
    );
    const known = new Set(live.map(({ uid }) => uid));
    return new Set(uids.filter((uid) => !known.has(uid)));
  }
}
