/** Applied definitions as rows: what is, the transaction that makes it what should be, and the binding of webhooks to secret versions. contract 9. */
import type {
  AutomationDefinition,
  EnvironmentDefinition,
  FactoryDefinition,
  SkillDefinition,
  SkillFile,
  WebhookDefinition,
} from '#definitions';
import type { Actual, AppliedObject, HowApplied, Rebinding } from '#reconcile';
import type { Database } from '../database/database.ts';
import { FenceLostError } from '../database/store-errors.ts';
import { deleteFiles, saveFiles, toResourceFiles } from './resource-files.ts';
import { bumpServing } from '../serving/serving.ts';
import { deleteUnboundValues } from '../secrets/secret-changes.ts';
import { visibleSecrets } from '../secrets/secret-rows.ts';
import type { Secret } from '../secrets/secrets.ts';
import {
  change,
  databaseNow,
  insert,
  placeholders,
  row,
  rows,
  type SqlValue,
  type Transaction,
} from '../database/transactions.ts';

/** A plan made concrete: what to write for each change, under which revision and fence. */
export interface Application {
  factoryUid: string;
  fence: number;
  revision: string;
  factory: FactoryDefinition;
  /** What must be known when this revision is judged again. */
  how?: HowApplied;
  /** Objects to create or update. */
  upserts: readonly AppliedObject[];
  deletions: readonly { kind: 'webhook' | 'automation' | 'environment' | 'skill'; uid: string }[];
  /** Path → text of the files behind webhooks and automations, whether they change or not: a comment is no change of a definition. */
  texts?: ReadonlyMap<string, string>;
  /** Path → object ID that git gives the file, of everything that applies, whether it changes or not. */
  blobs?: ReadonlyMap<string, string>;
  /** Path of a SKILL.md → the files beside it, of all skills that apply, whether they change or not: that one is executable is no change of a definition. */
  skillFiles?: ReadonlyMap<string, readonly SkillFile[]>;
}

/** What references are checked against. */
export interface WebhookFacts {
  live: Map<string, string>;
  deleted: Set<string>;
}

interface BoundWebhook {
  uid: string;
  slug: string;
  path: string;
  secret_name: string;
  secret_id: string | null;
  secret_version: number | null;
}

export class DefinitionStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Everything that is applied in a factory now. */
  actual(factoryUid: string): Promise<Actual> {
    return this.database.read(function* () {
      const factory = yield* row<{ definition: string }>('SELECT definition FROM factory WHERE uid = ?', factoryUid);
      const objects = [
        ...(yield* appliedObjects<WebhookDefinition>('webhook', "'webhook'", factoryUid)),
        ...(yield* appliedObjects<AutomationDefinition>('automation', "'automation'", factoryUid)),
        ...(yield* appliedObjects<EnvironmentDefinition | SkillDefinition>('resource', 'kind', factoryUid)),
      ];
      return {
        factory: factory && (JSON.parse(factory.definition) as FactoryDefinition),
        objects: objects as AppliedObject[],
      };
    });
  }

  /** What the files of several factories say of the factory itself, by UID. */
  async factories(uids: readonly string[]): Promise<Map<string, FactoryDefinition>> {
    if (uids.length === 0) return new Map();
    const found = await this.database.read(() =>
      rows<{ uid: string; definition: string }>(
        `SELECT uid, definition FROM factory WHERE uid IN (${placeholders(uids.length)})`,
        ...uids,
      ),
    );
    return new Map(found.map(({ uid, definition }) => [uid, JSON.parse(definition) as FactoryDefinition]));
  }

  webhookFacts(factoryUid: string): Promise<WebhookFacts> {
    return this.database.read(function* () {
      const found = yield* rows<{ uid: string; slug: string; deleted_at: number | null }>(
        'SELECT uid, slug, deleted_at FROM webhook WHERE factory_uid = ?',
        factoryUid,
      );
      const facts: WebhookFacts = { live: new Map(), deleted: new Set() };
      for (const { uid, slug, deleted_at: deletedAt } of found) {
        if (deletedAt === null) facts.live.set(uid, slug);
        else facts.deleted.add(uid);
      }
      return facts;
    });
  }

  /** Writes a plan in one transaction and makes it the serving state. Throws FenceLostError when another replica took the factory over. */
  apply(application: Application): Promise<void> {
    const skillFiles = toResourceFiles(application.skillFiles);
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const { factoryUid, fence, revision } = application;
      const before = yield* row<{ definition: string }>('SELECT definition FROM factory WHERE uid = ?', factoryUid);
      // A name that the file decided goes with it; one that was given over the API stays.
      const named = before !== undefined && (JSON.parse(before.definition) as FactoryDefinition).name !== undefined;
      // Seen, too: should nobody come to record this pass, what was accepted before must not count as waiting.
      const holds = yield* change(
        "UPDATE factory SET definition = ?, name = COALESCE(?, CASE WHEN ? = 1 THEN slug ELSE name END), description = COALESCE(?, ''), revision_applied = ?, revision_seen = ?, how_applied = ?, updated_at = ? WHERE uid = ? AND fence = ? AND deleted_at IS NULL",
        JSON.stringify(application.factory),
        application.factory.name ?? null,
        named ? 1 : 0,
        application.factory.description ?? null,
        revision,
        revision,
        application.how === undefined ? null : JSON.stringify(application.how),
        nowMs,
        factoryUid,
        fence,
      );
      if (holds !== 1) throw new FenceLostError('the lease of this pass was taken over');
      const secrets = yield* visibleSecrets(factoryUid, 'webhook');
      for (const object of application.upserts) yield* writeObject(object, application, secrets, nowMs);
      for (const { kind, uid } of application.deletions) yield* deleteObject(kind, uid, revision, nowMs);
      yield* deleteFiles(application.deletions.map(({ uid }) => uid));
      yield* saveFiles(factoryUid, skillFiles);
      yield* adoptFilePaths(factoryUid);
      yield* updateFileColumn(factoryUid, 'text', ['webhook', 'automation'], application.texts ?? new Map());
      yield* updateFileColumn(
        factoryUid,
        'blob',
        ['webhook', 'automation', 'resource'],
        application.blobs ?? new Map(),
      );
      yield* bumpServing(factoryUid);
      yield* deleteUnboundValues();
    });
  }

  /** Step 0 of a pass: moves every webhook of the factory to the newest version of its secret, all in one transaction. Throws FenceLostError. */
  rebindSecrets(factoryUid: string, fence: number): Promise<Rebinding[]> {
    return this.database.run(function* () {
      const held = yield* row(
        'SELECT 1 AS held FROM factory WHERE uid = ? AND fence = ? FOR UPDATE',
        factoryUid,
        fence,
      );
      if (held === undefined) throw new FenceLostError('the lease of this pass was taken over');
      const moved = yield* bindWebhooks(factoryUid);
      if (moved.length > 0) {
        yield* bumpServing(factoryUid);
        yield* deleteUnboundValues();
      }
      return moved;
    });
  }

  /** Slugs of enabled webhooks that have no secret to authenticate anybody with, in order. */
  async webhooksWithoutSecret(factoryUid: string): Promise<string[]> {
    const found = await this.database.read(() =>
      rows<{ slug: string }>(
        'SELECT slug FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL AND enabled = 1 AND secret_version IS NULL',
        factoryUid,
      ),
    );
    return found.map(({ slug }) => slug).toSorted((a, b) => (a < b ? -1 : 1));
  }

  /** Factories that a change of a secret concerns: a live webhook names it, their last pass complained of it, or their git host wants it. */
  async factoriesNaming(secretName: string): Promise<string[]> {
    const found = await this.database.read(() =>
      rows<{ uid: string }>(
        `SELECT uid FROM factory f WHERE deleted_at IS NULL AND (
          EXISTS (SELECT 1 FROM webhook w WHERE w.factory_uid = f.uid AND w.secret_name = ? AND w.deleted_at IS NULL)
          OR EXISTS (SELECT 1 FROM sync_pass p WHERE p.factory_uid = f.uid AND p.problems LIKE ? AND p.id = (SELECT max(id) FROM sync_pass q WHERE q.factory_uid = f.uid))
          OR source LIKE ?) ORDER BY uid`,
        secretName,
        `%${secretName}%`,
        `%"credentialSecret":"${secretName}"%`,
      ),
    );
    return found.map(({ uid }) => uid);
  }
}

/** Binds every live webhook of a factory to the newest version of the secret that it names; answers those that moved. The caller bumps the serving version. */
export function* bindWebhooks(factoryUid: string): Transaction<Rebinding[]> {
  const secrets = yield* visibleSecrets(factoryUid, 'webhook');
  const webhooks = yield* rows<BoundWebhook>(
    'SELECT uid, slug, path, secret_name, secret_id, secret_version FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug',
    factoryUid,
  );
  const moved: Rebinding[] = [];
  for (const webhook of webhooks) {
    const binding = bindingOf(secrets.get(webhook.secret_name));
    if (binding.id === webhook.secret_id && binding.version === webhook.secret_version) continue;
    yield* change(
      'UPDATE webhook SET secret_id = ?, secret_version = ? WHERE uid = ?',
      binding.id,
      binding.version,
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

function* appliedObjects<T>(
  table: string,
  kind: string,
  factoryUid: string,
): Transaction<{ kind: string; uid: string; slug: string; path: string; definition: T }[]> {
  const found = yield* rows<{ kind: string; uid: string; slug: string; path: string; definition: string }>(
    `SELECT ${kind} AS kind, uid, slug, path, definition FROM ${table} WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug`,
    factoryUid,
  );
  return found.map((object) => ({ ...object, definition: JSON.parse(object.definition) as T }));
}

/** Where and under which revision an object is written. */
export interface DefinitionLocation {
  factoryUid: string;
  revision: string;
  /** Label of a webhook or automation; its slug where nobody chose one. */
  name?: string;
}

/** Makes or changes an object; a deleted one of the same UID comes back. Binds a webhook to its secret as `secrets` have it. */
export function* writeObject(
  object: AppliedObject,
  { factoryUid, revision, name }: DefinitionLocation,
  secrets: Map<string, Secret>,
  nowMs: number,
): Transaction<void> {
  const table = tableOf(object.kind);
  const special = kindColumns(object, name ?? object.slug, secrets);
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
    `UPDATE ${table} SET ${names.map((column) => `${column} = ?`).join(', ')}, version = version + 1 WHERE uid = ? AND factory_uid = ?`,
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

/** What was managed on the dashboard before stands in files now, whose names are its names. */
function* adoptFilePaths(factoryUid: string): Transaction<void> {
  for (const [table, before, behind] of [
    ['webhook', 'webhooks/', '.yaml'],
    ['automation', 'automations/', '/automation.md'],
  ] as const) {
    yield* change(
      `UPDATE ${table} SET name = slug, path = ? || slug || ? WHERE factory_uid = ? AND path = '' AND deleted_at IS NULL`,
      before,
      behind,
      factoryUid,
    );
  }
}

/** Keeps what is known of each file that applies: its exact text, which an edit is proposed on, or what git calls it. Writes only what differs. */
function* updateFileColumn(
  factoryUid: string,
  column: 'text' | 'blob',
  tables: readonly string[],
  current: ReadonlyMap<string, string>,
): Transaction<void> {
  if (current.size === 0) return;
  for (const table of tables) {
    const kept = yield* rows<{ uid: string; path: string; value: string | null }>(
      `SELECT uid, path, ${column} AS value FROM ${table} WHERE factory_uid = ? AND deleted_at IS NULL`,
      factoryUid,
    );
    for (const { uid, path, value } of kept) {
      const wanted = current.get(path);
      if (wanted !== undefined && wanted !== value)
        yield* change(`UPDATE ${table} SET ${column} = ? WHERE uid = ?`, wanted, uid);
    }
  }
}

function kindColumns(object: AppliedObject, name: string, secrets: Map<string, Secret>): Record<string, SqlValue> {
  switch (object.kind) {
    case 'webhook': {
      const { authMode, signatureScheme, secretName, deliveryIdHeader, enabled } = object.definition;
      const binding = bindingOf(secrets.get(secretName));
      return {
        name,
        auth_mode: authMode,
        signature_scheme: signatureScheme ?? null,
        secret_name: secretName,
        secret_id: binding.id,
        secret_version: binding.version,
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

function bindingOf(secret: Secret | undefined): { id: string | null; version: number | null } {
  if (secret === undefined) return { id: null, version: null };
  return { id: secret.id, version: secret.version === 0 ? null : secret.version };
}

function tableOf(kind: AppliedObject['kind']): string {
  if (kind === 'webhook' || kind === 'automation') return kind;
  return 'resource';
}
