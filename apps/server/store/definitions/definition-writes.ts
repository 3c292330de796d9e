/**
 * How applied definitions are written: objects, their files' columns, and the binding of webhooks to secret versions.
 * contract §9.
 */
import type { WebhookDefinition } from '#definitions';
import { overlappedBinding, type AppliedObject, type Rebinding, type SecretBinding } from '#reconcile';
import { change, databaseNow, insert, row, rows, type SqlValue, type Transaction } from '../database/transactions.ts';
import { visibleSecrets } from '../secrets/secret-rows.ts';
import type { Secret } from '../secrets/secrets.ts';

interface BoundWebhook {
  uid: string;
  slug: string;
  path: string;
  secret_name: string;
  definition: string;
  secret_id: string | null;
  secret_version: number | null;
  previous_secret_version: number | null;
  previous_secret_until: number | null;
}

const BINDING_COLUMNS = 'secret_id, secret_version, previous_secret_version, previous_secret_until';

/**
 * Binds every live webhook of a factory to the newest version of the secret that it names; answers those that moved.
 * The caller bumps the serving version.
 */
export function* bindWebhooks(factoryUid: string): Transaction<Rebinding[]> {
  const secrets = yield* visibleSecrets(factoryUid, 'webhook');
  const webhooks = yield* rows<BoundWebhook>(
    `SELECT uid, slug, path, secret_name, definition, ${BINDING_COLUMNS} FROM webhook WHERE factory_uid = ? ` +
      'AND deleted_at IS NULL ORDER BY slug',
    factoryUid,
  );
  const moved: Rebinding[] = [];
  const nowMs = yield* databaseNow();
  for (const webhook of webhooks) {
    const binding = bindingOf(secrets.get(webhook.secret_name));
    if (binding.id === webhook.secret_id && binding.version === webhook.secret_version) continue;
    const { secretOverlapMinutes: overlapMinutes } = JSON.parse(webhook.definition) as WebhookDefinition;
    const columns = bindingColumns(webhook, binding, { overlapMinutes, nowMs });
    yield* change(
      `UPDATE webhook SET ${Object.keys(columns)
        .map((column) => `${column} = ?`)
        .join(', ')} WHERE uid = ?`,
      ...Object.values(columns),
      webhook.uid,
    );
    moved.push({
      webhookUid: webhook.uid,
      slug: webhook.slug,
      path: webhook.path,
      secretName: webhook.secret_name,
      version: binding.version ?? undefined,
    });
  }
  return moved;
}

/** Where and under which revision an object is written. */
export interface DefinitionLocation {
  factoryUid: string;
  revision: string;
  /** Label of a webhook or automation; its slug where nobody chose one. */
  name?: string;
}

/**
 * Makes or changes an object; a deleted one of the same UID comes back. Binds a webhook to its secret as `secrets` have
 * it.
 */
export function* writeObject(
  object: AppliedObject,
  { factoryUid, revision, name }: DefinitionLocation,
  secrets: Map<string, Secret>,
  nowMs: number,
): Transaction<void> {
  const table = tableOf(object.kind);
  const bound = object.kind === 'webhook' ? yield* storedBinding(object.uid) : undefined;
  const special = kindColumns(object, name ?? object.slug, { secrets, bound, nowMs });
  const columns: Record<string, SqlValue> = {
    factory_uid: factoryUid,
    slug: object.slug,
    path: object.path,
    definition: JSON.stringify(object.definition),
    revision,
    blob: null,
    updated_at: nowMs,
    deleted_at: null,
    ...special,
  };
  const names = Object.keys(columns);
  const updated = yield* change(
    `UPDATE ${table} SET ${names.map((column) => `${column} = ?`).join(', ')}, version = version + 1 ` +
      'WHERE uid = ? AND factory_uid = ?',
    ...Object.values(columns),
    object.uid,
    factoryUid,
  );
  if (updated === 1) return;
  yield* insert(table, ['uid', ...names, 'version', 'created_at'], [[object.uid, ...Object.values(columns), 1, nowMs]]);
}

/** Deletes an object; its row stays, so that its UID is remembered and can come back. */
export function* deleteObject(
  kind: AppliedObject['kind'],
  uid: string,
  revision: string,
  nowMs: number,
): Transaction<void> {
  yield* change(`UPDATE ${tableOf(kind)} SET deleted_at = ?, revision = ? WHERE uid = ?`, nowMs, revision, uid);
}

/** What was managed on the dashboard before is managed by files now, whose names are its names. */
export function* adoptFilePaths(factoryUid: string): Transaction<void> {
  for (const [table, before, behind] of [
    ['webhook', 'webhooks/', '.yaml'],
    ['automation', 'automations/', '/automation.md'],
  ] as const) {
    yield* change(
      `UPDATE ${table} SET name = slug, path = ? || slug || ? WHERE factory_uid = ? AND path = '' ` +
        'AND deleted_at IS NULL',
      before,
      behind,
      factoryUid,
    );
  }
}

/**
 * Keeps what is known of each file that applies: its exact text, which an edit is proposed on, or what git calls it.
 * Writes only what differs.
 */
export function* updateFileColumn(
  factoryUid: string,
  column: 'text' | 'blob',
  tables: readonly string[],
  current: ReadonlyMap<string, string>,
): Transaction<void> {
  if (current.size === 0) return;
  for (const table of tables) {
    const stored = yield* rows<{ uid: string; path: string; value: string | null }>(
      `SELECT uid, path, ${column} AS value FROM ${table} WHERE factory_uid = ? AND deleted_at IS NULL`,
      factoryUid,
    );
    for (const { uid, path, value } of stored) {
      const wanted = current.get(path);
      if (wanted !== undefined && wanted !== value)
        yield* change(`UPDATE ${table} SET ${column} = ? WHERE uid = ?`, wanted, uid);
    }
  }
}

interface BindingFacts {
  secrets: Map<string, Secret>;
  /** What a webhook was bound to before. */
  bound: StoredBinding | undefined;
  nowMs: number;
}

function kindColumns(
  object: AppliedObject,
  name: string,
  { secrets, bound, nowMs }: BindingFacts,
): Record<string, SqlValue> {
  switch (object.kind) {
    case 'webhook': {
      const { authMode, signatureScheme, secretName, deliveryIdHeader, enabled } = object.definition;
      const { secretOverlapMinutes: overlapMinutes } = object.definition;
      return {
        name,
        auth_mode: authMode,
        signature_scheme: signatureScheme ?? null,
        secret_name: secretName,
        ...bindingColumns(bound, bindingOf(secrets.get(secretName)), { overlapMinutes, nowMs }),
        delivery_id_header: deliveryIdHeader ?? null,
        enabled: enabled ? 1 : 0,
      };
    }
    case 'automation':
      return { name, enabled: object.definition.enabled ? 1 : 0 };
    default:
      return { kind: object.kind };
  }
}

type StoredBinding = Pick<
  BoundWebhook,
  'secret_id' | 'secret_version' | 'previous_secret_version' | 'previous_secret_until'
>;

/** Of a webhook that is there; one that was deleted begins anew. */
function* storedBinding(uid: string): Transaction<StoredBinding | undefined> {
  return yield* row<StoredBinding>(`SELECT ${BINDING_COLUMNS} FROM webhook WHERE uid = ? AND deleted_at IS NULL`, uid);
}

/** What a webhook is bound to next, with the value of before where that is accepted for a while. */
function bindingColumns(
  before: StoredBinding | undefined,
  next: { id: string | null; version: number | null },
  overlap: { overlapMinutes: number | undefined; nowMs: number },
): Record<keyof StoredBinding, SqlValue> {
  const stored: SecretBinding | undefined = before && {
    secretId: before.secret_id,
    version: before.secret_version,
    previousVersion: before.previous_secret_version,
    previousUntilMs: before.previous_secret_until,
  };
  const bound = overlappedBinding(stored, { secretId: next.id, version: next.version }, overlap);
  return {
    secret_id: bound.secretId,
    secret_version: bound.version,
    previous_secret_version: bound.previousVersion,
    previous_secret_until: bound.previousUntilMs,
  };
}

function bindingOf(secret: Secret | undefined): { id: string | null; version: number | null } {
  if (secret === undefined) return { id: null, version: null };
  return { id: secret.id, version: secret.version === 0 ? null : secret.version };
}

function tableOf(kind: AppliedObject['kind']): string {
  if (kind === 'webhook' || kind === 'automation') return kind;
  return 'resource';
}
