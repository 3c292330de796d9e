/** Managed secrets as they lie in their tables, and who may use which. contract §2. */
import type { RunGrant } from '#definitions';
import type { SecretRow } from './secret.entities.ts';
import type { Grants, Secret, SecretUsage, SecretUser } from './secrets.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';

/** Owner of what concerns everybody; any other owner is a factory's UID. */
export const TEAM = 'team';

type VersionedRow = Omit<SecretRow, 'created_at'> & { usable_for: string | null };

const SELECT = `SELECT s.id, s.owner, s.name, s.grant_factories, s.grant_uses, s.grant_runs, s.grant_hosts, s.version,
  s.updated_at, v.usable_for
  FROM secret s LEFT JOIN secret_value v ON v.secret_id = s.id AND v.version = s.version`;

/** `lock`: a trailing clause that holds its row. */
export function* findSecret(owner: string, name: string, lock = ''): Transaction<Secret | undefined> {
  const found = yield* row<VersionedRow>(`${SELECT} WHERE s.owner = ? AND s.name = ?${lock}`, owner, name);
  return found && toSecret(found);
}

/** Secrets of an owner in order of their names, from behind the name `after`. */
export function* listSecrets(owner: string, limit: number, after: string): Transaction<Secret[]> {
  return (yield* rows<VersionedRow>(
    `${SELECT} WHERE s.owner = ? AND s.name > ? ORDER BY s.name LIMIT ?`,
    owner,
    after,
    limit,
  )).map(toSecret);
}

/** Secrets of the team and of the factory that are granted to it for one use. */
export function* visibleSecrets(factoryUid: string, use: SecretUsage): Transaction<Map<string, Secret>> {
  const found = yield* rows<VersionedRow>(
    `${SELECT} WHERE s.owner = 'team' OR s.owner = ? ORDER BY s.name`,
    factoryUid,
  );
  const visible = new Map<string, Secret>();
  const granted = found.map(toSecret).filter((secret) => isGranted(secret, secret.grants, factoryUid, use));
  for (const secret of granted.filter(({ owner }) => owner === 'team')) visible.set(secret.name, secret);
  for (const secret of granted.filter(({ owner }) => owner !== 'team')) visible.set(secret.name, secret);
  return visible;
}

/** Of secrets that a factory may use for runs, those that only some runs may have. */
export function runGrantsOf(secrets: ReadonlyMap<string, Secret>): Map<string, RunGrant> {
  return new Map(
    [...secrets].flatMap(([name, { grants }]) => (Array.isArray(grants.runs) ? [[name, grants.runs]] : [])),
  );
}

/** Whether a secret with these grants may be used by a factory for this; to everybody else it does not exist. */
export function isGranted(
  { owner }: Pick<Secret, 'owner'>,
  { factories, uses }: Pick<Grants, 'factories' | 'uses'>,
  factoryUid: string,
  use: SecretUsage,
): boolean {
  return uses.includes(use) && (owner === factoryUid || factories === '*' || factories.includes(factoryUid));
}

/** What a SecretUser is read from. */
export interface SecretUserRow {
  uid: string;
  factory_uid: string;
  slug: string;
  auth_mode: string;
  signature_scheme: string | null;
}

export const USER_COLUMNS = 'uid, factory_uid, slug, auth_mode, signature_scheme';

/** Live webhooks that are bound to a secret. */
export function* webhooksUsing(secretId: string): Transaction<SecretUser[]> {
  const found = yield* rows<SecretUserRow>(
    `SELECT ${USER_COLUMNS} FROM webhook WHERE secret_id = ? AND deleted_at IS NULL ORDER BY factory_uid, slug`,
    secretId,
  );
  return found.map(toSecretUser);
}

export function toSecretUser(user: SecretUserRow): SecretUser {
  return {
    webhookUid: user.uid,
    factoryUid: user.factory_uid,
    webhookSlug: user.slug,
    authMode: user.auth_mode,
    signatureScheme: user.signature_scheme,
  };
}

function toSecret(found: VersionedRow): Secret {
  return {
    id: found.id,
    owner: found.owner,
    name: found.name,
    grants: {
      factories: JSON.parse(found.grant_factories) as Grants['factories'],
      uses: JSON.parse(found.grant_uses) as SecretUsage[],
      runs: JSON.parse(found.grant_runs) as Grants['runs'],
      hosts: found.grant_hosts === null ? null : (JSON.parse(found.grant_hosts) as Grants['hosts']),
    },
    version: found.version,
    usableFor: found.usable_for === null ? undefined : (JSON.parse(found.usable_for) as Secret['usableFor']),
    updatedAtMs: found.updated_at,
  };
}
