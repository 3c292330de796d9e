/** Managed secrets as rows: names, owners, grants, versions and sealed bytes. Opening them is not this folder's business. contract 2. */
import type { Database } from './database.ts';
import { LostRace } from './faults.ts';
import { bumpServing } from './serving-version.ts';
import { change, databaseNow, insert, row, rows, type Work } from './statements.ts';

export const SECRET_USES = ['webhook', 'run', 'git', 'forge'] as const;
export type SecretUse = (typeof SECRET_USES)[number];
export type SecretMode = 'token' | 'url_token' | 'signature' | 'standard_webhooks';

/** `factories`: every factory, or these UIDs. */
export interface Grants {
  factories: '*' | string[];
  uses: SecretUse[];
}

/** A managed secret without its value. `owner` is `team` or a factory's UID. */
export interface Secret {
  id: string;
  owner: string;
  name: string;
  grants: Grants;
  /** 0 while no value has been set. */
  version: number;
  usableFor?: Readonly<Record<SecretMode, boolean>>;
  updatedAtMs: number;
}

export interface SealedSecret {
  secretId: string;
  version: number;
  wrappedKey: Uint8Array;
  sealed: Uint8Array;
}

/** A value on its way in: sealed by the caller once id and version are known. */
export interface NewValue {
  seal(secretId: string, version: number): { wrappedKey: Uint8Array; sealed: Uint8Array };
  usableFor: Readonly<Record<SecretMode, boolean>>;
}

export interface SecretUser {
  webhookUid: string;
  factoryUid: string;
  webhookSlug: string;
  authMode: string;
  signatureScheme: string | null;
}

interface SecretRow {
  id: string;
  owner: string;
  name: string;
  grant_factories: string;
  grant_uses: string;
  version: number;
  updated_at: number;
  usable_for: string | null;
}

const SELECT = `SELECT s.id, s.owner, s.name, s.grant_factories, s.grant_uses, s.version, s.updated_at, v.usable_for
  FROM secret s LEFT JOIN secret_value v ON v.secret_id = s.id AND v.version = s.version`;

export class SecretStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  list(owner: string): Promise<Secret[]> {
    return this.database.read(function* () {
      return (yield* rows<SecretRow>(`${SELECT} WHERE s.owner = ? ORDER BY s.name`, owner)).map(toSecret);
    });
  }

  find(owner: string, name: string): Promise<Secret | undefined> {
    return this.database.read(() => findSecret(owner, name));
  }

  /** Secrets that this factory may use for this purpose, by name; its own come before the team's of the same name. */
  visibleTo(factoryUid: string, use: SecretUse): Promise<Map<string, Secret>> {
    return this.database.read(() => visibleSecrets(factoryUid, use));
  }

  /** Creates or changes. A value makes a new version; grants that are not given stay. Answers what is stored now. */
  put(wanted: { id: string; owner: string; name: string; value?: NewValue; grants?: Grants }): Promise<{ secret: Secret; created: boolean }> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const existing = yield* findSecret(wanted.owner, wanted.name, ' FOR UPDATE OF s');
      if (existing === undefined) yield* create(wanted, nowMs);
      const before = existing ?? (yield* findSecret(wanted.owner, wanted.name)) ?? unreachable();
      if (wanted.value !== undefined) yield* addVersion(before.id, before.version + 1, wanted.value, nowMs);
      if (wanted.grants !== undefined && existing !== undefined) yield* setGrants(existing.id, wanted.grants, nowMs);
      return { secret: (yield* findSecret(wanted.owner, wanted.name)) ?? unreachable(), created: existing === undefined };
    });
  }

  /** Deletes a secret and every value of it; webhooks that used it refuse everything from this commit on. */
  remove(id: string): Promise<void> {
    return this.database.run(function* () {
      for (const { factory_uid: factoryUid } of yield* rows<{ factory_uid: string }>('SELECT DISTINCT factory_uid FROM webhook WHERE secret_id = ? ORDER BY factory_uid', id)) {
        yield* bumpServing(factoryUid);
      }
      yield* change('UPDATE webhook SET secret_id = NULL, secret_version = NULL WHERE secret_id = ?', id);
      yield* change('DELETE FROM secret_value WHERE secret_id = ?', id);
      yield* change('DELETE FROM secret WHERE id = ?', id);
    });
  }

  /** Live webhooks that are bound to a secret. */
  usersOf(secretId: string): Promise<SecretUser[]> {
    return this.database.read(function* () {
      const found = yield* rows<{ uid: string; factory_uid: string; slug: string; auth_mode: string; signature_scheme: string | null }>(
        'SELECT uid, factory_uid, slug, auth_mode, signature_scheme FROM webhook WHERE secret_id = ? AND deleted_at IS NULL ORDER BY factory_uid, slug',
        secretId,
      );
      return found.map((user) => ({
        webhookUid: user.uid,
        factoryUid: user.factory_uid,
        webhookSlug: user.slug,
        authMode: user.auth_mode,
        signatureScheme: user.signature_scheme,
      }));
    });
  }

  /** The newest sealed value of a secret, undefined while none is set. */
  newest(id: string): Promise<SealedSecret | undefined> {
    return this.database.read(function* () {
      const found = yield* row<{ secret_id: string; version: number; wrapped_key: Uint8Array; sealed: Uint8Array }>(
        'SELECT secret_id, version, wrapped_key, sealed FROM secret_value WHERE secret_id = ? ORDER BY version DESC LIMIT 1',
        id,
      );
      return found && { secretId: found.secret_id, version: found.version, wrappedKey: found.wrapped_key, sealed: found.sealed };
    });
  }
}

/** Secrets of the team and of the factory that are granted to it for one use. */
export function* visibleSecrets(factoryUid: string, use: SecretUse): Work<Map<string, Secret>> {
  const found = yield* rows<SecretRow>(`${SELECT} WHERE s.owner = 'team' OR s.owner = ? ORDER BY s.name`, factoryUid);
  const visible = new Map<string, Secret>();
  const granted = found.map(toSecret).filter(({ grants, owner }) => grants.uses.includes(use) && (owner === factoryUid || covers(grants, factoryUid)));
  for (const secret of granted.filter(({ owner }) => owner === 'team')) visible.set(secret.name, secret);
  for (const secret of granted.filter(({ owner }) => owner !== 'team')) visible.set(secret.name, secret);
  return visible;
}

/** Drops the values that are neither the newest version nor served by a webhook: a rotated-out value does not stay on disk. */
export function* dropUnboundValues(): Work<void> {
  yield* change(`DELETE FROM secret_value WHERE version < (SELECT s.version FROM secret s WHERE s.id = secret_value.secret_id)
    AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.secret_id = secret_value.secret_id AND w.secret_version = secret_value.version AND w.deleted_at IS NULL)`);
}

/** Deletes every secret that is a factory's own, values included, and unbinds what used them. */
export function* dropSecretsOf(owner: string): Work<void> {
  const own = 'SELECT id FROM secret WHERE owner = ?';
  yield* change(`UPDATE webhook SET secret_id = NULL, secret_version = NULL WHERE secret_id IN (${own})`, owner);
  yield* change(`DELETE FROM secret_value WHERE secret_id IN (${own})`, owner);
  yield* change('DELETE FROM secret WHERE owner = ?', owner);
}

function covers(grants: Grants, factoryUid: string): boolean {
  return grants.factories === '*' || grants.factories.includes(factoryUid);
}

function* findSecret(owner: string, name: string, lock = ''): Work<Secret | undefined> {
  const found = yield* row<SecretRow>(`${SELECT} WHERE s.owner = ? AND s.name = ?${lock}`, owner, name);
  return found && toSecret(found);
}

function* create(wanted: { id: string; owner: string; name: string; grants?: Grants }, nowMs: number): Work<void> {
  const grants = wanted.grants ?? { factories: wanted.owner === 'team' ? '*' : [wanted.owner], uses: ['webhook'] };
  const made = yield* insert(
    'secret',
    ['id', 'owner', 'name', 'grant_factories', 'grant_uses', 'version', 'created_at', 'updated_at'],
    [[wanted.id, wanted.owner, wanted.name, JSON.stringify(grants.factories), JSON.stringify(grants.uses), 0, nowMs, nowMs]],
    { ignoreConflicts: true },
  );
  if (made !== 1) throw new LostRace('the secret was made elsewhere');
}

function* addVersion(secretId: string, version: number, value: NewValue, nowMs: number): Work<void> {
  const { wrappedKey, sealed } = value.seal(secretId, version);
  yield* insert(
    'secret_value',
    ['secret_id', 'version', 'wrapped_key', 'sealed', 'usable_for', 'created_at'],
    [[secretId, version, wrappedKey, sealed, JSON.stringify(value.usableFor), nowMs]],
  );
  yield* change('UPDATE secret SET version = ?, updated_at = ? WHERE id = ?', version, nowMs, secretId);
}

function* setGrants(id: string, grants: Grants, nowMs: number): Work<void> {
  const { factories, uses } = grants;
  yield* change('UPDATE secret SET grant_factories = ?, grant_uses = ?, updated_at = ? WHERE id = ?', JSON.stringify(factories), JSON.stringify(uses), nowMs, id);
}

function toSecret(found: SecretRow): Secret {
  return {
    id: found.id,
    owner: found.owner,
    name: found.name,
    grants: { factories: JSON.parse(found.grant_factories) as Grants['factories'], uses: JSON.parse(found.grant_uses) as SecretUse[] },
    version: found.version,
    usableFor: found.usable_for === null ? undefined : (JSON.parse(found.usable_for) as Secret['usableFor']),
    updatedAtMs: found.updated_at,
  };
}

function unreachable(): never {
  throw new Error('a row written in this transaction is not there');
}
