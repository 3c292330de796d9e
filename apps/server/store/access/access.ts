/**
 * Who may ask and for whom: the installation's proofs, principals, and which factories there are to be limited to.
 * contract §2.
 */
import type { Database } from '../database/database.ts';
import { StoreError, withStoreErrors } from '../database/store-errors.ts';
import { READ_ONLY } from '../database/postgres/postgres-connections.ts';
import { insertInto, type RowOf } from '../database/table.ts';
import { databaseNow, placeholders, row, rows } from '../database/transactions.ts';
import { INSTALLATION, PRINCIPAL, type PrincipalRow } from './access.entities.ts';

export type Role = 'admin' | 'manager' | 'operator' | 'viewer';

export interface Principal {
  uid: string;
  kind: 'user' | 'service_account';
  displayName: string;
  email?: string;
}

/** A principal out of its columns, however they were read. */
export function toPrincipal(found: Omit<PrincipalRow, 'created_at'>): Principal {
  const { uid, kind, display_name: displayName, email } = found;
  return { uid, kind: kind as Principal['kind'], displayName, email: email ?? undefined };
}

/** A key that is valid now. `factories` undefined: not limited. */
export interface Access {
  keyId: string;
  principal: Principal;
  role: Role;
  factories?: readonly string[];
}

/** What a database holds to recognize its keys; `nextMasterKey`: while the master key rotates. */
export interface InstallationProofs {
  masterKey: Uint8Array;
  uidKey: Uint8Array;
  nextMasterKey?: Uint8Array;
}

export class AccessStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Stores the proofs on the first start; afterwards answers the stored ones to compare with. */
  installation(proofs: { masterKey: Uint8Array; uidKey: Uint8Array }): Promise<InstallationProofs> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const first = { id: 1, master_key_proof: proofs.masterKey, uid_key_proof: proofs.uidKey, created_at: nowMs };
      yield* insertInto(INSTALLATION, [first], { ignoreConflicts: true });
      const stored = yield* row<RowOf<typeof INSTALLATION>>(
        'SELECT master_key_proof, uid_key_proof, next_master_key_proof FROM installation WHERE id = 1',
      );
      return {
        masterKey: stored?.master_key_proof ?? new Uint8Array(0),
        uidKey: stored?.uid_key_proof ?? new Uint8Array(0),
        ...(stored?.next_master_key_proof == null ? {} : { nextMasterKey: stored.next_master_key_proof }),
      };
    });
  }

  async principal(uid: string): Promise<Principal | undefined> {
    const found = await withStoreErrors(this.database.source.getRepository(PRINCIPAL).findOneBy({ uid }));
    return found === null ? undefined : toPrincipal(found);
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
