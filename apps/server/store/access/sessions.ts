/**
 * Browsers that are signed in, by the digest of what they hold. What one may do is asked of its key each time, so that
 * a session ends with its key on every replica. contract §2.
 */
import { BROWSER_SESSION } from './access.entities.ts';
import type { Access } from './access.ts';
import { audit, type ChangedBy } from './audit.ts';
import type { Database } from '../database/database.ts';
import { accessOfRow, IS_USABLE, KEY_COLUMNS, type KeyRow } from './keys.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row } from '../database/transactions.ts';

/** Sessions of one key at most: a person's browsers. Whoever signs in once more ends the oldest. */
export const SESSIONS_OF_KEY_MAX = 20;

/** Rows forgotten in one transaction, so that it never holds up an acceptance for long. */
const PRUNED_PER_STEP = 500;

/** A session on its way in; the token stays outside. */
export interface NewSession {
  /** SHA-256 of the token. */
  hash: Uint8Array;
  keyId: string;
  lifetimeMs: number;
}

export class SessionStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Signs a browser in; answers when it has to do so again. The key's oldest sessions make room. */
  open({ hash, keyId, lifetimeMs }: NewSession, by: ChangedBy | undefined): Promise<number> {
    return this.database.run(function* () {
      yield* row('SELECT id FROM api_key WHERE id = ? FOR UPDATE', keyId); // two that sign in at once count each other
      const nowMs = yield* databaseNow();
      const latest =
        'SELECT hash FROM browser_session WHERE key_id = ? ORDER BY created_at DESC, hash ' +
        `LIMIT ${SESSIONS_OF_KEY_MAX - 1}`;
      yield* change(`DELETE FROM browser_session WHERE key_id = ? AND hash NOT IN (${latest})`, keyId, keyId);
      const session = { hash, key_id: keyId, created_at: nowMs, expires_at: nowMs + lifetimeMs };
      yield* insertInto(BROWSER_SESSION, [session]);
      yield* audit(by, { action: 'session.create', subject: keyId });
      return nowMs + lifetimeMs;
    });
  }

  /**
   * What a session may do now, and until when; undefined for unknown and ended ones, and for those of a key that is
   * valid no more.
   */
  find(hash: Uint8Array): Promise<{ access: Access; expiresAtMs: number } | undefined> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* row<KeyRow & { session_end: number }>(
        `SELECT ${KEY_COLUMNS}, s.expires_at AS session_end
         FROM browser_session s JOIN api_key k ON k.id = s.key_id JOIN principal p ON p.uid = k.principal_uid
         WHERE s.hash = ? AND s.expires_at > ? AND ${IS_USABLE}`,
        hash,
        nowMs,
        nowMs,
      );
      return (
        found && { access: accessOfRow(found), expiresAtMs: Math.min(found.session_end, found.expires_at ?? Infinity) }
      );
    });
  }

  /** Signs a browser out. One that somebody else signed out a moment ago is out all the same. */
  close(hash: Uint8Array, by: ChangedBy | undefined): Promise<void> {
    return this.database.run(function* () {
      const closed = yield* row<{ key_id: string }>(
        'DELETE FROM browser_session WHERE hash = ? RETURNING key_id',
        hash,
      );
      if (closed !== undefined) yield* audit(by, { action: 'session.delete', subject: closed.key_id });
    });
  }

  /** Forgets sessions that have run out, at most some hundred; answers how many. */
  prune(): Promise<number> {
    return this.database.run(function* () {
      const old = `SELECT hash FROM browser_session WHERE expires_at <= ? ORDER BY expires_at LIMIT ${PRUNED_PER_STEP}`;
      return yield* change(`DELETE FROM browser_session WHERE hash IN (${old})`, yield* databaseNow());
    });
  }
}
