/**
 * Changes of managed secrets, inside the transaction that they belong to: values, grants, deletion, and what that takes
 * away from webhooks. contract §2.
 */
import { secretUse } from '#authentication';
import { audit, type AuditChange, type ChangedBy } from '../access/audit.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { sealingKey } from './master-keys.ts';
import { SECRET, SECRET_VALUE } from './secret.entities.ts';
import { referencesTo, webhooksToBind } from './secret-references.ts';
import { findSecret, isGranted, TEAM, webhooksUsing } from './secret-rows.ts';
import type { Grants, NewValue, Secret, SecretRemoval, SecretUser, WantedSecret } from './secrets.ts';
import { bumpServing } from '../serving/serving.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, type Transaction } from '../database/transactions.ts';

/** These webhooks could not authenticate with the value: nothing was written. */
export class UnusableSecretError extends Error {
  readonly users: readonly SecretUser[];
  constructor(users: readonly SecretUser[]) {
    super('a webhook cannot use the value');
    this.users = users;
  }
}

/**
 * Creates or changes. A value that a webhook could not authenticate with, one that has it or one that will be bound to
 * it next, throws UnusableSecretError; a webhook that loses its grant refuses everything from the commit on.
 */
export function* putSecret(
  wanted: WantedSecret,
  by: ChangedBy | undefined,
): Transaction<{ secret: Secret; created: boolean }> {
  const nowMs = yield* databaseNow();
  const existing = yield* findSecret(wanted.owner, wanted.name, ' FOR UPDATE OF s');
  if (existing === undefined) yield* create(wanted, nowMs);
  const before = existing ?? (yield* findSecret(wanted.owner, wanted.name)) ?? unreachable();
  const users = existing === undefined ? [] : yield* webhooksUsing(existing.id);
  const gained = yield* webhooksToBind({ ...before, grants: mergedGrants(before, wanted.grants) });
  if (wanted.value !== undefined) {
    refuseUnusable(wanted.value.usableFor, [...users, ...gained]);
    yield* addVersion(before.id, before.version + 1, wanted.value, nowMs);
    yield* deleteUnboundValues();
  }
  if (wanted.grants !== undefined && existing !== undefined) {
    if (wanted.value === undefined) {
      // Who waits for it already is let down by its value, and not by what is granted now.
      const meant = new Set((yield* webhooksToBind(existing)).map(({ webhookUid }) => webhookUid));
      refuseUnusable(
        existing.usableFor,
        gained.filter(({ webhookUid }) => !meant.has(webhookUid)),
      );
    }
    yield* regrant(existing, mergedGrants(existing, wanted.grants), users, nowMs);
  }
  const secret = (yield* findSecret(wanted.owner, wanted.name)) ?? unreachable();
  if (existing === undefined || wanted.value !== undefined || wanted.grants !== undefined)
    yield* audit(by, changeOf(wanted, secret, existing === undefined));
  return { secret, created: existing === undefined };
}

/** The first host that a value goes to is its secret's from then on, whoever is second. */
export function* bindHost(
  { id, owner, name }: Pick<Secret, 'id' | 'owner' | 'name'>,
  host: string,
  by: ChangedBy,
): Transaction<void> {
  const bound = yield* change(
    'UPDATE secret SET grant_hosts = ? WHERE id = ? AND grant_hosts IS NULL',
    JSON.stringify([host]),
    id,
  );
  if (bound === 1)
    yield* audit(by, {
      action: 'secret.bind',
      subject: name,
      factoryUid: factoryOf(owner),
      details: { hosts: [host] },
    });
}

/** Deletes a secret and every value of it; one that is used only with `force`. */
export function* removeSecret(
  { owner, name, force }: { owner: string; name: string; force: boolean },
  by: ChangedBy | undefined,
): Transaction<SecretRemoval> {
  const secret = yield* findSecret(owner, name, ' FOR UPDATE OF s');
  if (secret === undefined) return { kind: 'unknown' };
  const usedBy = (yield* referencesTo([secret])).get(secret.id) ?? [];
  if (usedBy.length > 0 && !force) return { kind: 'used', usedBy };
  yield* unbind(yield* webhooksUsing(secret.id));
  yield* change('DELETE FROM secret_value WHERE secret_id = ?', secret.id);
  yield* change('DELETE FROM secret WHERE id = ?', secret.id);
  yield* audit(by, {
    action: 'secret.delete',
    subject: name,
    factoryUid: factoryOf(owner),
    details: { version: secret.version, force },
  });
  return { kind: 'removed' };
}

/**
 * Drops the values that are neither the newest version nor accepted by a webhook: a rotated-out value does not stay on
 * disk.
 */
export function* deleteUnboundValues(): Transaction<void> {
  const nowMs = yield* databaseNow();
  yield* change(
    `DELETE FROM secret_value WHERE version < (SELECT s.version FROM secret s
    WHERE s.id = secret_value.secret_id)
    AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.secret_id = secret_value.secret_id AND w.deleted_at IS NULL
    AND (w.secret_version = secret_value.version
    OR (w.previous_secret_version = secret_value.version AND w.previous_secret_until > ?)))`,
    nowMs,
  );
}

/** Of a webhook that authenticates nobody, neither with the value of before. */
const UNBOUND = 'secret_id = NULL, secret_version = NULL, previous_secret_version = NULL, previous_secret_until = NULL';

/** Drops what no webhook accepts any more, where an overlap has ended. */
export function* endOverlaps(): Transaction<void> {
  const nowMs = yield* databaseNow();
  const ended = yield* change(
    'UPDATE webhook SET previous_secret_version = NULL, previous_secret_until = NULL WHERE previous_secret_until <= ?',
    nowMs,
  );
  if (ended > 0) yield* deleteUnboundValues();
}

/** Deletes every secret that is a factory's own, values included, and unbinds what used them. */
export function* deleteSecretsOf(owner: string): Transaction<void> {
  const own = 'SELECT id FROM secret WHERE owner = ?';
  yield* change(`UPDATE webhook SET ${UNBOUND} WHERE secret_id IN (${own})`, owner);
  yield* change(`DELETE FROM secret_value WHERE secret_id IN (${own})`, owner);
  yield* change('DELETE FROM secret WHERE owner = ?', owner);
}

function refuseUnusable(usableFor: NewValue['usableFor'] | undefined, users: readonly SecretUser[]): void {
  const unfit = users.filter(
    ({ authMode, signatureScheme }) =>
      usableFor !== undefined &&
      !usableFor[secretUse(authMode as 'token' | 'url_token' | 'signature', signatureScheme ?? undefined)],
  );
  if (unfit.length > 0) throw new UnusableSecretError(unfit);
}

function* regrant(secret: Secret, grants: Grants, users: readonly SecretUser[], nowMs: number): Transaction<void> {
  yield* setGrants(secret.id, grants, nowMs);
  yield* unbind(users.filter(({ factoryUid }) => !isGranted(secret, grants, factoryUid, 'webhook')));
}

/** Takes its secret away from each of these webhooks; what was decided with it is decided again. */
function* unbind(users: readonly SecretUser[]): Transaction<void> {
  for (const factoryUid of new Set(users.map((user) => user.factoryUid))) yield* bumpServing(factoryUid);
  for (const { webhookUid } of users) yield* change(`UPDATE webhook SET ${UNBOUND} WHERE uid = ?`, webhookUid);
}

/** A factory's own secret is for that factory, whatever is asked. */
function mergedGrants(
  { owner, grants: before }: Pick<Secret, 'owner' | 'grants'>,
  wanted: Partial<Grants> = {},
): Grants {
  const { factories = before.factories, uses = before.uses, runs = before.runs, hosts = before.hosts } = wanted;
  return { factories: owner === TEAM ? factories : [owner], uses, runs, hosts };
}

function changeOf({ value, grants }: WantedSecret, secret: Secret, created: boolean): AuditChange {
  const { factories, uses, runs, hosts } = secret.grants;
  return {
    action: created ? 'secret.create' : 'secret.change',
    subject: secret.name,
    factoryUid: factoryOf(secret.owner),
    details: {
      version: secret.version,
      value: value !== undefined,
      ...(created || grants !== undefined
        ? { factories, uses, ...(uses.includes('run') ? { runs } : {}), ...(hosts === null ? {} : { hosts }) }
        : {}),
    },
  };
}

function factoryOf(owner: string): string | undefined {
  return owner === TEAM ? undefined : owner;
}

function* create(wanted: WantedSecret, nowMs: number): Transaction<void> {
  const grants = mergedGrants(
    { owner: wanted.owner, grants: { factories: '*', uses: ['webhook'], runs: 'files', hosts: null } },
    wanted.grants,
  );
  const secret = {
    id: wanted.id,
    owner: wanted.owner,
    name: wanted.name,
    grant_factories: JSON.stringify(grants.factories),
    grant_uses: JSON.stringify(grants.uses),
    grant_runs: JSON.stringify(grants.runs),
    grant_hosts: hostsText(grants),
    version: 0,
    created_at: nowMs,
    updated_at: nowMs,
  };
  const made = yield* insertInto(SECRET, [secret], { ignoreConflicts: true });
  if (made !== 1) throw new LostRaceError('the secret was made elsewhere');
}

function* addVersion(secretId: string, version: number, value: NewValue, nowMs: number): Transaction<void> {
  const wrappedBy = yield* sealingKey();
  const { wrappedKey, sealed } = value.seal(secretId, version, wrappedBy);
  const row = {
    secret_id: secretId,
    version,
    wrapped_key: wrappedKey,
    sealed,
    usable_for: JSON.stringify(value.usableFor),
    created_at: nowMs,
    wrapped_by: wrappedBy ?? null,
  };
  yield* insertInto(SECRET_VALUE, [row]);
  yield* change('UPDATE secret SET version = ?, updated_at = ? WHERE id = ?', version, nowMs, secretId);
}

function* setGrants(id: string, grants: Grants, nowMs: number): Transaction<void> {
  const { factories, uses, runs } = grants;
  yield* change(
    'UPDATE secret SET grant_factories = ?, grant_uses = ?, grant_runs = ?, grant_hosts = ?, updated_at = ? ' +
      'WHERE id = ?',
    JSON.stringify(factories),
    JSON.stringify(uses),
    JSON.stringify(runs),
    hostsText(grants),
    nowMs,
    id,
  );
}

function hostsText({ hosts }: Grants): string | null {
  return hosts === null ? null : JSON.stringify(hosts);
}

function unreachable(): never {
  throw new Error('a row written in this transaction is not there');
}
