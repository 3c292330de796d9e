/**
 * API keys as rows: by digest for the guard, by identifier for people. Nothing is remembered, so that a revocation
 * counts from the next request on. contract §2.
 */
import { API_KEY, PRINCIPAL, type ApiKeyRow, type PrincipalRow } from './access.entities.ts';
import { toPrincipal, type Access, type Principal, type Role } from './access.ts';
import { audit, type ChangedBy } from './audit.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';

/** A key without its text. `factories` undefined: not limited. Times in milliseconds since the epoch. */
export interface ApiKey {
  id: string;
  name: string;
  role: Role;
  principal: Principal;
  factories?: readonly string[];
  /** First characters of its text. */
  hint: string;
  createdAtMs: number;
  /** UID of the principal that made it; undefined for the first one. */
  createdBy?: string;
  expiresAtMs?: number;
  revokedAtMs?: number;
  lastUsedAtMs?: number;
  /** Of a key that a token was exchanged for: by which federated credential. */
  federatedCredentialId?: string;
}

/** A key on its way in; its text stays outside. */
export interface NewKey extends Pick<ApiKey, 'id' | 'name' | 'role' | 'factories' | 'hint' | 'expiresAtMs'> {
  /** SHA-256 of its text. */
  hash: Uint8Array;
  /** A principal that exists, by its UID, or one that is made with the key. */
  principal: string | Principal;
}

/** `also`: further statements of the same transaction. */
export interface RotateOptions {
  overlapMs: number;
  by: ChangedBy | undefined;
  also?: (made: ApiKey) => Transaction<void>;
}

/**
 * `ended`: revoked or run out. `last`: nobody could get in as an admin any more. `exchanged`: of a token, which ends by
 * itself.
 */
export type KeyRefusal = 'unknown' | 'ended' | 'last' | 'exchanged';

/** A key with its principal, as `KEY_COLUMNS` reads it. */
export type KeyRow = Omit<ApiKeyRow, 'principal_uid'> & Omit<PrincipalRow, 'created_at'>;

/** Of the key `k` and its principal `p`. */
export const KEY_COLUMNS =
  'k.id, k.name, k.role, k.factories, k.hint, k.created_at, k.created_by, k.expires_at, k.revoked_at, ' +
  'k.last_used_at, k.federated_credential_id, p.uid, p.kind, p.display_name, p.email';

/** Whether the key `k` lets somebody in at a time, its only parameter. */
export const IS_USABLE = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)';

const SELECT = `SELECT ${KEY_COLUMNS} FROM api_key k JOIN principal p ON p.uid = k.principal_uid`;

export class KeyStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** The access that a key gives now; undefined for unknown, expired and revoked ones. */
  find(hash: Uint8Array): Promise<Access | undefined> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* row<KeyRow>(`${SELECT} WHERE k.key_hash = ? AND ${IS_USABLE}`, hash, nowMs);
      return found && accessOfRow(found);
    });
  }

  /** Keys, newest first, from behind the key `after`. */
  list({
    limit,
    after,
    includeRevoked,
  }: {
    limit: number;
    after?: string;
    includeRevoked: boolean;
  }): Promise<ApiKey[]> {
    const conditions = [
      ...(includeRevoked ? [] : ['k.revoked_at IS NULL']),
      ...(after === undefined ? [] : ['k.id < ?']),
    ];
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    return this.database.read(function* () {
      return (yield* rows<KeyRow>(
        `${SELECT}${where} ORDER BY k.id DESC LIMIT ?`,
        ...(after === undefined ? [] : [after]),
        limit,
      )).map(toApiKey);
    });
  }

  get(id: string): Promise<ApiKey | undefined> {
    return this.database.read(() => keyOf(id));
  }

  /** Makes a key, and its principal if that is new; `also`: further statements of the same transaction. */
  create(wanted: NewKey, by: ChangedBy | undefined, also?: (made: ApiKey) => Transaction<void>): Promise<ApiKey> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const { id, name, role, factories, expiresAtMs, principal } = wanted;
      const uid = typeof principal === 'string' ? principal : principal.uid;
      if (typeof principal !== 'string') yield* addPrincipal(principal, nowMs);
      yield* insertInto(API_KEY, [toRow(wanted, uid, by?.principalUid, nowMs)]);
      yield* audit(by, {
        action: 'api_key.create',
        subject: id,
        details: { name, role, principal: uid, factories, expires_at: toText(expiresAtMs) },
      });
      const made = (yield* keyOf(id)) ?? unreachable();
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  /** Makes the first admin key when there is no key at all; true when it was made. */
  createFirst(first: Pick<NewKey, 'id' | 'hash' | 'hint'> & { principalUid: string }, by: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      if (yield* hasKeys()) return false;
      const principal = { uid: first.principalUid, kind: 'user', displayName: 'admin' } as const;
      yield* addPrincipal(principal, nowMs);
      // That insert waited for another replica that does the same: look again.
      if (yield* hasKeys()) return false;
      const key: NewKey = { ...first, name: 'first admin key', role: 'admin', principal };
      const made = yield* insertInto(API_KEY, [toRow(key, principal.uid, undefined, nowMs)], { ignoreConflicts: true });
      if (made !== 1) return false;
      yield* audit(by, {
        action: 'api_key.create',
        subject: key.id,
        details: { name: key.name, role: key.role, principal: principal.uid },
      });
      return true;
    });
  }

  hasKeys(): Promise<boolean> {
    return this.database.read(() => hasKeys());
  }

  /**
   * Changes label and end (null: none) of a key that is in use. The last admin key that lets somebody in is given no
   * earlier end.
   */
  edit(
    id: string,
    { name, expiresAtMs }: { name?: string; expiresAtMs?: number | null },
    by: ChangedBy | undefined,
  ): Promise<ApiKey | KeyRefusal> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const admins = yield* adminKeys(nowMs);
      const key = yield* keyOf(id, ' FOR UPDATE OF k');
      if (key === undefined) return 'unknown';
      if (!isUsable(key, nowMs)) return 'ended';
      if (key.federatedCredentialId !== undefined) return 'exchanged';
      const endMs = expiresAtMs === undefined ? key.expiresAtMs : (expiresAtMs ?? undefined);
      if (isLast(key, admins) && (endMs ?? Infinity) < (key.expiresAtMs ?? Infinity)) return 'last';
      yield* change('UPDATE api_key SET name = ?, expires_at = ? WHERE id = ?', name ?? key.name, endMs ?? null, id);
      yield* audit(by, {
        action: 'api_key.change',
        subject: id,
        details: { name, expires_at: expiresAtMs === null ? 'never' : toText(expiresAtMs) },
      });
      return (yield* keyOf(id)) ?? unreachable();
    });
  }

  /**
   * Makes a key that may what another one may, and gives that one an end: after the overlap, at once where that is
   * nothing, or at its own end if that is earlier. The new one lives as long as the old one was made for.
   */
  rotate(
    id: string,
    next: Pick<NewKey, 'id' | 'hash' | 'hint'>,
    { overlapMs, by, also }: RotateOptions,
  ): Promise<ApiKey | KeyRefusal> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      yield* adminKeys(nowMs); // in the order of everybody who wants to end one
      const old = yield* keyOf(id, ' FOR UPDATE OF k');
      if (old === undefined) return 'unknown';
      if (!isUsable(old, nowMs)) return 'ended';
      if (old.federatedCredentialId !== undefined) return 'exchanged';
      const lifeMs = old.expiresAtMs === undefined ? undefined : old.expiresAtMs - old.createdAtMs;
      const { name, role, factories, principal } = old;
      const expiresAtMs = lifeMs === undefined ? undefined : nowMs + lifeMs;
      const wanted = { ...next, name, role, factories, principal, expiresAtMs };
      yield* insertInto(API_KEY, [toRow(wanted, principal.uid, by?.principalUid, nowMs)]);
      const endMs = Math.min(nowMs + overlapMs, old.expiresAtMs ?? Infinity);
      yield* overlapMs === 0
        ? change('UPDATE api_key SET revoked_at = ? WHERE id = ?', nowMs, id)
        : change('UPDATE api_key SET expires_at = ? WHERE id = ?', endMs, id);
      yield* audit(by, {
        action: 'api_key.rotate',
        subject: id,
        details: { name, next: next.id, expires_at: toText(expiresAtMs), old_ends_at: toText(endMs) },
      });
      const made = (yield* keyOf(next.id)) ?? unreachable();
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  /**
   * Ends a key at once; one that was revoked before stays as it is. Of two that are revoked at once as the last ones,
   * one stays.
   */
  revoke(id: string, by: ChangedBy | undefined): Promise<'revoked' | KeyRefusal> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const admins = yield* adminKeys(nowMs);
      const key = yield* keyOf(id, ' FOR UPDATE OF k');
      if (key === undefined) return 'unknown';
      if (key.revokedAtMs !== undefined) return 'revoked';
      if (isLast(key, admins)) return 'last';
      yield* change('UPDATE api_key SET revoked_at = ? WHERE id = ?', nowMs, id);
      yield* audit(by, { action: 'api_key.revoke', subject: id, details: { name: key.name } });
      return 'revoked';
    });
  }

  /** Notes when keys were last used; an earlier time than the stored one changes nothing. */
  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    // two replicas that note the same keys do not wait for each other in a circle
    const inOrder = [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await this.database.run(function* () {
      for (const [id, atMs] of inOrder)
        yield* change(
          'UPDATE api_key SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)',
          atMs,
          id,
          atMs,
        );
    });
  }
}

function* keyOf(id: string, lock = ''): Transaction<ApiKey | undefined> {
  const found = yield* row<KeyRow>(`${SELECT} WHERE k.id = ?${lock}`, id);
  return found && toApiKey(found);
}

function* hasKeys(): Transaction<boolean> {
  return (yield* row('SELECT 1 AS present FROM api_key LIMIT 1')) !== undefined;
}

function* addPrincipal({ uid, kind, displayName, email }: Principal, nowMs: number): Transaction<void> {
  const principal = { uid, kind, display_name: displayName, email: email ?? null, created_at: nowMs };
  yield* insertInto(PRINCIPAL, [principal], { ignoreConflicts: true });
}

/**
 * IDs of the keys that let somebody in as an admin of everything now, held until the transaction ends: whoever wants to
 * end one waits here.
 */
function* adminKeys(nowMs: number): Transaction<string[]> {
  const held = yield* rows<{ id: string }>(
    "SELECT id FROM api_key WHERE role = 'admin' AND factories IS NULL AND revoked_at IS NULL " +
      'AND (expires_at IS NULL OR expires_at > ?) ORDER BY id FOR UPDATE',
    nowMs,
  );
  return held.map(({ id }) => id);
}

function isLast({ id }: ApiKey, admins: readonly string[]): boolean {
  return admins.length === 1 && admins[0] === id;
}

function isUsable({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): boolean {
  return revokedAtMs === undefined && (expiresAtMs === undefined || expiresAtMs > nowMs);
}

function toRow(
  { id, name, hash, role, factories, hint, expiresAtMs }: NewKey,
  principalUid: string,
  createdBy: string | undefined,
  nowMs: number,
) {
  return {
    id,
    principal_uid: principalUid,
    name,
    key_hash: hash,
    role,
    factories: factories === undefined ? null : JSON.stringify(factories),
    hint,
    created_at: nowMs,
    created_by: createdBy ?? null,
    expires_at: expiresAtMs ?? null,
  };
}

function toApiKey(found: KeyRow): ApiKey {
  return {
    id: found.id,
    name: found.name,
    role: found.role as Role,
    principal: toPrincipal(found),
    factories: found.factories === null ? undefined : (JSON.parse(found.factories) as string[]),
    hint: found.hint,
    createdAtMs: found.created_at,
    createdBy: found.created_by ?? undefined,
    expiresAtMs: found.expires_at ?? undefined,
    revokedAtMs: found.revoked_at ?? undefined,
    lastUsedAtMs: found.last_used_at ?? undefined,
    federatedCredentialId: found.federated_credential_id ?? undefined,
  };
}

/** What a key lets its holder do. */
export function accessOfRow(found: KeyRow): Access {
  const { id, principal, role, factories } = toApiKey(found);
  return { keyId: id, principal, role, factories };
}

function toText(ms: number | null | undefined): string | undefined {
  return ms === undefined || ms === null ? undefined : new Date(ms).toISOString();
}

function unreachable(): never {
  throw new Error('a row written in this transaction is not there');
}
