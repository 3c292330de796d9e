/** What is applied in a factory, as people look at it: every object with the file and revision that decided it. contract 4 (status). */
import type { AppliedObject } from '#reconcile';
import type { Database } from '../database/database.ts';
import { rows } from '../database/transactions.ts';

export interface InventoryEntry {
  kind: AppliedObject['kind'];
  uid: string;
  slug: string;
  /** File that decides it, relative to the factory's root. */
  path: string;
  /** Object ID that git gives the file; absent for what was made over the API. */
  blob?: string;
  revision: string;
  enabled: boolean;
  /** Of a webhook: whether it has a secret to authenticate with; true for everything else. */
  hasSecret: boolean;
}

/** Order in which people look for things. */
const KIND_ORDER: readonly string[] = ['webhook', 'automation', 'environment', 'skill'];

const INVENTORY = `SELECT 'webhook' AS kind, uid, slug, path, blob, revision, enabled, CASE WHEN secret_version IS NULL THEN 0 ELSE 1 END AS has_secret FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL
  UNION ALL SELECT 'automation', uid, slug, path, blob, revision, enabled, 1 FROM automation WHERE factory_uid = ? AND deleted_at IS NULL
  UNION ALL SELECT kind, uid, slug, path, blob, revision, 1, 1 FROM resource WHERE factory_uid = ? AND deleted_at IS NULL`;

export class InventoryStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Every live object, by kind and name. */
  async list(factoryUid: string): Promise<InventoryEntry[]> {
    const found = await this.database.read(() =>
      rows<{
        kind: AppliedObject['kind'];
        uid: string;
        slug: string;
        path: string;
        blob: string | null;
        revision: string;
        enabled: number;
        has_secret: number;
      }>(INVENTORY, factoryUid, factoryUid, factoryUid),
    );
    const entries = found.map(({ enabled, blob, has_secret: hasSecret, ...entry }) => ({
      ...entry,
      blob: blob ?? undefined,
      enabled: enabled === 1,
      hasSecret: hasSecret === 1,
    }));
    return entries.sort(
      (a, b) => KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) || (a.slug < b.slug ? -1 : 1),
    );
  }
}
