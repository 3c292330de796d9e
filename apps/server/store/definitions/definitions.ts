/** Applied definitions as rows: what is applied, and the transaction that applies a plan. contract §9. */
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
import { change, databaseNow, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { adoptFilePaths, bindWebhooks, deleteObject, updateFileColumn, writeObject } from './definition-writes.ts';

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
  /**
   * Path → text of the files behind webhooks and automations, whether they change or not: a comment is no change of a
   * definition.
   */
  texts?: ReadonlyMap<string, string>;
  /** Path → object ID that git gives the file, of everything that applies, whether it changes or not. */
  blobs?: ReadonlyMap<string, string>;
  /**
   * Path of a SKILL.md → the files beside it, of all skills that apply, whether they change or not: that one is
   * executable is no change of a definition.
   */
  skillFiles?: ReadonlyMap<string, readonly SkillFile[]>;
}

/** What references are checked against. */
export interface WebhookFacts {
  live: Map<string, string>;
  deleted: Set<string>;
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

  /**
   * Writes a plan in one transaction and makes it the serving state. Throws FenceLostError when another replica took
   * the factory over.
   */
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
        'UPDATE factory SET definition = ?, name = COALESCE(?, CASE WHEN ? = 1 THEN slug ' +
          "ELSE name END), description = COALESCE(?, ''), revision_applied = ?, revision_seen = ?, how_applied = " +
          '?, updated_at = ? WHERE uid = ? AND fence = ? AND deleted_at IS NULL',
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

  /**
   * Step 0 of a pass: moves every webhook of the factory to the newest version of its secret, all in one transaction.
   * Throws FenceLostError.
   */
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
        'SELECT slug FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL AND enabled = 1 ' +
          'AND secret_version IS NULL',
        factoryUid,
      ),
    );
    return found.map(({ slug }) => slug).toSorted((a, b) => (a < b ? -1 : 1));
  }

  /**
   * Factories that a change of a secret concerns: a live webhook names it, their last pass complained of it, or their
   * git host wants it.
   */
  async factoriesNaming(secretName: string): Promise<string[]> {
    const found = await this.database.read(() =>
      rows<{ uid: string }>(
        `SELECT uid FROM factory f WHERE deleted_at IS NULL AND (
          EXISTS (SELECT 1 FROM webhook w WHERE w.factory_uid = f.uid AND w.secret_name = ? AND w.deleted_at IS NULL)
          OR EXISTS (SELECT 1 FROM sync_pass p WHERE p.factory_uid = f.uid AND p.problems LIKE ?
          AND p.id = (SELECT max(id) FROM sync_pass q WHERE q.factory_uid = f.uid))
          OR source LIKE ?) ORDER BY uid`,
        secretName,
        `%${secretName}%`,
        `%"credentialSecret":"${secretName}"%`,
      ),
    );
    return found.map(({ uid }) => uid);
  }
}

function* appliedObjects<T>(
  table: string,
  kind: string,
  factoryUid: string,
): Transaction<{ kind: string; uid: string; slug: string; path: string; definition: T }[]> {
  const found = yield* rows<{ kind: string; uid: string; slug: string; path: string; definition: string }>(
    `SELECT ${kind} AS kind, uid, slug, path, definition FROM ${table} WHERE factory_uid = ? ` +
      'AND deleted_at IS NULL ORDER BY slug',
    factoryUid,
  );
  return found.map((object) => ({ ...object, definition: JSON.parse(object.definition) as T }));
}
