/**
 * Agent identities as rows, each change with its audit entry. One of a factory is there as long as its factory is.
 * contract §3.14 (Agent identities).
 */
import type { AgentIdentitySettings } from '#agents';
import { audit, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, lock, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import type { VisibleFactories } from './run-history.ts';
import { AGENT_IDENTITY, type AgentIdentityRow } from './run.entities.ts';

/** A list is one answer, and each may have a prompt of 32 KiB. */
export const AGENT_IDENTITIES_MAX = 200;

/** An identity; times in milliseconds since the epoch. */
export interface AgentIdentity {
  uid: string;
  factoryUid?: string;
  name: string;
  settings: AgentIdentitySettings;
  createdAtMs: number;
  updatedAtMs: number;
}

type AlsoStored = (made: AgentIdentity) => Transaction<void>;

const SELECT = `SELECT ${AGENT_IDENTITY.columns.map((name) => `a.${name}`).join(', ')} FROM agent_identity a`;
const IS_THERE =
  '(a.factory_uid IS NULL OR EXISTS (SELECT 1 FROM factory f WHERE f.uid = a.factory_uid AND f.deleted_at IS NULL))';

export class AgentIdentityStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Those of these factories, in the order in which they were made; `visible` undefined: all. */
  list(visible: VisibleFactories): Promise<AgentIdentity[]> {
    if (visible?.length === 0) return Promise.resolve([]);
    const seen = visible === undefined ? '' : ` AND a.factory_uid IN (${placeholders(visible.length)})`;
    return this.database.read(function* () {
      const text = `${SELECT} WHERE ${IS_THERE}${seen} ORDER BY a.uid LIMIT ${AGENT_IDENTITIES_MAX}`;
      return (yield* rows<AgentIdentityRow>(text, ...(visible ?? []))).map(toIdentity);
    });
  }

  find(uid: string): Promise<AgentIdentity | undefined> {
    return this.database.read(() => identityOf(uid));
  }

  /** `full`: there are as many as there may be. `also`: further statements of the same transaction. */
  create(
    { uid, factoryUid, name, settings }: Pick<AgentIdentity, 'uid' | 'factoryUid' | 'name' | 'settings'>,
    by: ChangedBy,
    also?: AlsoStored,
  ): Promise<AgentIdentity | 'full' | 'no-factory'> {
    return this.database.run(function* () {
      // Counted by one at a time: on PostgreSQL two would not see each other.
      yield* lock('agent identities');
      if (factoryUid !== undefined) {
        const factory = yield* row('SELECT 1 FROM factory WHERE uid = ? AND deleted_at IS NULL FOR SHARE', factoryUid);
        if (factory === undefined) return 'no-factory';
      }
      const found = yield* row<{ n: number }>(`SELECT count(*) AS n FROM agent_identity a WHERE ${IS_THERE}`);
      if (Number(found?.n) >= AGENT_IDENTITIES_MAX) return 'full';
      const nowMs = yield* databaseNow();
      const made = {
        uid,
        factory_uid: factoryUid ?? null,
        name,
        settings: JSON.stringify(settings),
        created_at: nowMs,
        created_by: by.principalUid,
        updated_at: nowMs,
      };
      yield* insertInto(AGENT_IDENTITY, [made]);
      yield* audit(by, { action: 'agent_identity.create', subject: uid, factoryUid, details: { name } });
      if (also !== undefined) yield* also(toIdentity(made));
      return toIdentity(made);
    });
  }

  /** Changes one by what it is at this moment; `changed` undefined: it stays. Undefined: there is none. */
  change(
    uid: string,
    changed: (before: AgentIdentity) => Pick<AgentIdentity, 'name' | 'settings'> | undefined,
    by: ChangedBy,
  ): Promise<AgentIdentity | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const before = yield* identityOf(uid, ' FOR UPDATE OF a');
      if (before === undefined) return undefined;
      const after = changed(before);
      if (after === undefined) return before;
      const { name, settings } = after;
      // Two changes of one millisecond are two.
      const updatedAtMs = Math.max(nowMs, before.updatedAtMs + 1);
      yield* change(
        'UPDATE agent_identity SET name = ?, settings = ?, updated_at = ? WHERE uid = ?',
        name,
        JSON.stringify(settings),
        updatedAtMs,
        uid,
      );
      yield* audit(by, {
        action: 'agent_identity.change',
        subject: uid,
        factoryUid: before.factoryUid,
        details: { name },
      });
      return { ...before, name, settings, updatedAtMs };
    });
  }

  /** False: there is none. `used`: names of the schedules whose runs have it, for which it stays. */
  remove(uid: string, by: ChangedBy): Promise<boolean | { used: string[] }> {
    return this.database.run(function* () {
      const before = yield* identityOf(uid, ' FOR UPDATE OF a');
      if (before === undefined) return false;
      const users = yield* rows<{ name: string }>(
        'SELECT name FROM scheduled_agent WHERE agent_identity_uid = ? ORDER BY name',
        uid,
      );
      if (users.length > 0) return { used: users.map(({ name }) => name) };
      yield* change('DELETE FROM agent_identity WHERE uid = ?', uid);
      yield* audit(by, {
        action: 'agent_identity.delete',
        subject: uid,
        factoryUid: before.factoryUid,
        details: { name: before.name },
      });
      return true;
    });
  }
}

function* identityOf(uid: string, lock = ''): Transaction<AgentIdentity | undefined> {
  const found = yield* row<AgentIdentityRow>(`${SELECT} WHERE a.uid = ? AND ${IS_THERE}${lock}`, uid);
  return found && toIdentity(found);
}

function toIdentity(found: AgentIdentityRow): AgentIdentity {
  return {
    uid: found.uid,
    factoryUid: found.factory_uid ?? undefined,
    name: found.name,
    settings: JSON.parse(found.settings) as AgentIdentitySettings,
    createdAtMs: found.created_at,
    updatedAtMs: found.updated_at,
  };
}
