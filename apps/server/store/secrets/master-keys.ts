/**
 * The master key as the database knows it: by its proof, beside the one that comes next while it rotates, and by the
 * name that every sealed value carries. contract §2.3 (Encryption at rest).
 */
import { masterKeyNameOf } from '#management';
import { audit, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { REPLICA_LIVE_MS } from '../database/replicas.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import type { SealedSecret } from './secrets.ts';

/** Values that change their key in one transaction: it lasts milliseconds. */
const VALUES_AT_ONCE = 100;

/** Proofs of the keys. `next` undefined: it does not rotate. */
export interface MasterKeyState {
  current: Uint8Array;
  next?: Uint8Array;
}

/**
 * What became of the wish to begin. `lacking`: processes that could not read what the next key wraps. `other`: it
 * rotates to another key already.
 */
export type RotationStart = { ok: true } | { ok: false; reason: 'lacking'; processes: string[] } | RotationConflict;
type RotationConflict = { ok: false; reason: 'other' };

/** Gives a sealed value to another master key: what is stored then. */
export type Rewrap = (value: SealedSecret) => Uint8Array;

export class MasterKeyStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  state(): Promise<MasterKeyState | undefined> {
    return this.database.read(() => stateOf(''));
  }

  /** From now on values are sealed under the next key. The same key again is no error. */
  begin(next: Uint8Array, by: ChangedBy): Promise<RotationStart> {
    const name = masterKeyNameOf(next);
    return this.database.run(function* (): Transaction<RotationStart> {
      const state = yield* stateOf(' FOR UPDATE');
      if (state?.next !== undefined)
        return masterKeyNameOf(state.next) === name ? { ok: true } : { ok: false, reason: 'other' };
      const nowMs = yield* databaseNow();
      const living = yield* rows<{ owner: string; master_keys: string }>(
        'SELECT owner, master_keys FROM replica WHERE seen_at > ? ORDER BY owner',
        nowMs - REPLICA_LIVE_MS,
      );
      const lacking = living.filter(({ master_keys: keys }) => !keys.split(',').includes(name));
      if (lacking.length > 0) return { ok: false, reason: 'lacking', processes: lacking.map(({ owner }) => owner) };
      yield* change('UPDATE installation SET next_master_key_proof = ? WHERE id = 1', next);
      yield* audit(by, { action: 'master_key.rotate', subject: name, details: { state: 'begun' } });
      return { ok: true };
    });
  }

  /** How many values another key than the one of this name wraps. */
  async remaining(name: string): Promise<number> {
    const found = await this.database.read(() =>
      row<{ count: number }>(`SELECT count(*) AS count FROM secret_value WHERE ${OTHERS}`, name),
    );
    return found?.count ?? 0;
  }

  /**
   * Rewraps the next few values behind a place; answers the place behind them, undefined at the end. A value that
   * cannot be opened stays as it is and is named.
   */
  rewrapSome(
    name: string,
    behind: RewrapPlace,
    rewrap: Rewrap,
  ): Promise<{ place: RewrapPlace | undefined; rewrapped: number; damaged: string[] }> {
    return this.database.run(function* () {
      const found = yield* rows<ValueRow>(
        `SELECT v.secret_id, v.version, v.wrapped_key, v.sealed, v.wrapped_by, s.name FROM secret_value v
         JOIN secret s ON s.id = v.secret_id WHERE ${OTHERS}
         AND (v.secret_id > ? OR (v.secret_id = ? AND v.version > ?))
         ORDER BY v.secret_id, v.version LIMIT ${VALUES_AT_ONCE} FOR UPDATE OF v`,
        name,
        behind.secretId,
        behind.secretId,
        behind.version,
      );
      const damaged: string[] = [];
      for (const value of found) {
        const wrapped = attempt(() => rewrap(toSealed(value)));
        if (wrapped === undefined) damaged.push(value.name);
        else
          yield* change(
            'UPDATE secret_value SET wrapped_key = ?, wrapped_by = ? WHERE secret_id = ? AND version = ?',
            wrapped,
            name,
            value.secret_id,
            value.version,
          );
      }
      const last = found.length < VALUES_AT_ONCE ? undefined : found.at(-1);
      const place = last && { secretId: last.secret_id, version: last.version };
      return { place, rewrapped: found.length - damaged.length, damaged };
    });
  }

  /** The next key is the only one from now on; false while a value is left that another one wraps. */
  finish(next: Uint8Array, by: ChangedBy): Promise<boolean> {
    const name = masterKeyNameOf(next);
    return this.database.run(function* () {
      const state = yield* stateOf(' FOR UPDATE');
      if (state?.next === undefined || masterKeyNameOf(state.next) !== name) return false;
      const left = yield* row(`SELECT 1 AS present FROM secret_value WHERE ${OTHERS} LIMIT 1`, name);
      if (left !== undefined) return false;
      yield* change('UPDATE installation SET master_key_proof = ?, next_master_key_proof = NULL WHERE id = 1', next);
      yield* audit(by, { action: 'master_key.rotate', subject: name, details: { state: 'finished' } });
      return true;
    });
  }
}

/** Where a look through all values is. */
export interface RewrapPlace {
  secretId: string;
  version: number;
}

const OTHERS = '(wrapped_by IS NULL OR wrapped_by <> ?)';

/**
 * Name of the key that values are sealed under now; no rotation ends before this transaction. Undefined before an
 * installation has said which keys it has.
 */
export function* sealingKey(): Transaction<string | undefined> {
  const state = yield* stateOf(' FOR SHARE');
  return state && masterKeyNameOf(state.next ?? state.current);
}

function* stateOf(lock: string): Transaction<MasterKeyState | undefined> {
  const found = yield* row<{ master_key_proof: Uint8Array; next_master_key_proof: Uint8Array | null }>(
    `SELECT master_key_proof, next_master_key_proof FROM installation WHERE id = 1${lock}`,
  );
  return found && { current: found.master_key_proof, next: found.next_master_key_proof ?? undefined };
}

interface ValueRow {
  secret_id: string;
  version: number;
  wrapped_key: Uint8Array;
  sealed: Uint8Array;
  wrapped_by: string | null;
  name: string;
}

function toSealed(found: ValueRow): SealedSecret {
  const { secret_id: secretId, version, wrapped_key: wrappedKey, sealed, wrapped_by: wrappedBy } = found;
  return { secretId, version, wrappedKey, sealed, wrappedBy: wrappedBy ?? undefined };
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
