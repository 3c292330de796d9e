/** Factories as rows: their source, their sync state, the lease of the one that reconciles them, and their pass history. contract 4, 9. */
import type { FactoryDefinition } from '#definitions';
import {
  revisionId,
  type HowApplied,
  type StoredConditions,
  type PassCondition,
  type PassOutcome,
  type PassRecord,
  type Rewrite,
  type SyncPolicy,
} from '#reconcile';
import { audit, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { tell, tellAsked } from './events.ts';
import { editFactory, policyMembers, type FactoryChanges, type FactoryEdit } from './factory-edits.ts';
import { withStoreErrors } from '../database/faults.ts';
import { dropFilesOf } from '../definitions/resource-files.ts';
import { acceptRevision, forgetRevisions } from './revisions.ts';
import { dropSecretsOf } from '../secrets/secret-changes.ts';
import { bumpServing, tickServingClock } from '../serving/serving-version.ts';
import { change, databaseNow, insert, row, rows, type Transaction } from '../database/transactions.ts';
import { FACTORY, type FactoryRow, PASS, type PassRow } from './factory.entities.ts';

/**
 * Where a factory's files come from. What else belongs to it, its kind knows (sync/sources); these members mean the same
 * for every kind that has them.
 */
export interface FactorySource {
  kind: string;
  /** Seconds between two readings. */
  interval?: number;
  /** Name of the managed secret, granted for the use `git`, that it is read with. */
  credentialSecret?: string;
  /** Name of the managed secret, granted for the use `forge`, that push notices are proven with. */
  pushSecret?: string;
  readonly [member: string]: unknown;
}

/** Whether a source has commits, of which a sync policy may ask something. */
export type HasCommits = (source: FactorySource) => boolean;

/** Where a factory stands, as its last pass left it. */
export type FactoryCondition = PassCondition;

export interface Factory {
  uid: string;
  slug: string;
  name: string;
  description: string;
  source: FactorySource;
  syncPolicy: SyncPolicy;
  /** The rewriting that was accepted last, while no tip has descended from it. */
  rewrite?: Rewrite;
  /** How the applied revision was applied. */
  howApplied?: HowApplied;
  serviceAccountUid: string;
  suspended: boolean;
  servingVersion: number;
  generationRequested: number;
  generationHandled: number;
  /** Advertised last, whether it may be used or not. */
  revisionSeen?: string;
  /** Judged last: verified, and descending from the one before or accepted all the same. */
  revisionAttempted?: string;
  revisionApplied?: string;
  condition: FactoryCondition;
  conditions: StoredConditions;
  failures: number;
  createdAtMs: number;
  updatedAtMs: number;
}

/** The right to reconcile one factory until `untilMs` (database time); a higher fence takes it away. */
export interface Lease {
  fence: number;
  untilMs: number;
}

/** Another replica has taken this factory over in the meantime: nothing was written. */
export class FenceLostError extends Error {}

/** Problems and changes on one page of passes, but for its last pass: some megabytes of JSON, which a process holds several times at once. */
const PAGE_ENTRIES_MAX = 10_000;
/** Passes read in one go: each may have hundreds of problems. */
const PASSES_AT_ONCE = 50;

export interface NewFactory {
  uid: string;
  slug: string;
  name: string;
  description: string;
  source: FactorySource;
  /** Asks nothing, if not said. */
  syncPolicy?: SyncPolicy;
  serviceAccountUid: string;
}

export class FactoryStore {
  private readonly database: Database;
  private readonly hasCommits: HasCommits;
  constructor(database: Database, hasCommits: HasCommits) {
    this.database = database;
    this.hasCommits = hasCommits;
  }

  /** Creates a factory with its service account; false when the slug is taken. */
  create(factory: NewFactory, by?: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const made = yield* create(factory);
      const { uid, slug, source, syncPolicy = {} } = factory;
      const policy = Object.keys(syncPolicy).length === 0 ? {} : { policy: policyMembers(syncPolicy) };
      if (made)
        yield* audit(by, {
          action: 'factory.create',
          subject: uid,
          factoryUid: uid,
          details: { slug, source: source.kind, ...policy },
        });
      return made;
    });
  }

  async find(uid: string): Promise<Factory | undefined> {
    const found = await withStoreErrors(this.database.source.getRepository(FACTORY).findOneBy({ uid }));
    return found === null || found.deleted_at !== null ? undefined : toFactory(found);
  }

  async findBySlug(slug: string): Promise<Factory | undefined> {
    const found = await withStoreErrors(this.database.source.getRepository(FACTORY).findBy({ slug }));
    const live = found.find(({ deleted_at: deletedAt }) => deletedAt === null);
    return live && toFactory(live);
  }

  /** Live factories in order of UID, from behind `after`; of those in `among` only, where it is given. */
  async list(limit: number, after = '', search?: string, among?: readonly string[]): Promise<Factory[]> {
    if (among?.length === 0) return [];
    const query = this.database.source.getRepository(FACTORY).createQueryBuilder('factory');
    query.where('factory.deleted_at IS NULL AND factory.uid > :after', { after }).orderBy('factory.uid').take(limit);
    if (search !== undefined)
      query.andWhere("(lower(factory.slug) LIKE :like ESCAPE '!' OR lower(factory.name) LIKE :like ESCAPE '!')", {
        like: `%${search.toLowerCase().replace(/[!%_]/g, '!$&')}%`,
      });
    if (among !== undefined) query.andWhere('factory.uid IN (:...among)', { among });
    return (await withStoreErrors(query.getMany())).map(toFactory);
  }

  /** Every live factory, and whether something was asked of it that no pass has handled. */
  async standings(): Promise<{ uid: string; isAsked: boolean }[]> {
    const found = await this.database.longRead(() =>
      rows<{ uid: string; asked: number }>(
        'SELECT uid, CASE WHEN generation_requested > generation_handled THEN 1 ELSE 0 END AS asked FROM factory WHERE deleted_at IS NULL',
      ),
    );
    return found.map(({ uid, asked }) => ({ uid, isAsked: asked === 1 }));
  }

  /** Raises the requested generation: a pass that is under way will be followed by another. Never applies anything. */
  ask(uid: string, by?: ChangedBy): Promise<number> {
    return this.database.run(function* () {
      const asked = yield* row<{ generation_requested: number }>(
        'UPDATE factory SET generation_requested = generation_requested + 1 WHERE uid = ? AND deleted_at IS NULL RETURNING generation_requested',
        uid,
      );
      if (asked !== undefined)
        yield* audit(by, {
          action: 'factory.sync',
          subject: uid,
          factoryUid: uid,
          details: { generation: asked.generation_requested },
        });
      return asked?.generation_requested ?? 0;
    });
  }

  /** Stops or goes on with reconciling; asks for a pass either way. False when the factory is gone. */
  setSuspended(uid: string, suspended: boolean, by?: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const found = yield* change(
        'UPDATE factory SET suspended = ?, generation_requested = generation_requested + 1 WHERE uid = ? AND deleted_at IS NULL',
        suspended ? 1 : 0,
        uid,
      );
      if (found !== 1) return false;
      yield* audit(by, { action: suspended ? 'factory.suspend' : 'factory.resume', subject: uid, factoryUid: uid });
      yield* tellAsked(
        by,
        uid,
        suspended
          ? { type: 'Normal', reason: 'suspended', message: 'reconciling was stopped; what was applied serves on' }
          : { type: 'Normal', reason: 'resumed', message: 'reconciling goes on' },
      );
      return true;
    });
  }

  /** Deletes: its webhooks answer 404 at once, its queued runs are cancelled, live ones finish; its own secrets and approvals are nobody's any more. False when it is gone already. */
  remove(uid: string, by?: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* row<{ slug: string }>(
        'UPDATE factory SET deleted_at = ?, fence = fence + 1, lease_until = 0, updated_at = ? WHERE uid = ? AND deleted_at IS NULL RETURNING slug',
        nowMs,
        nowMs,
        uid,
      );
      if (found === undefined) return false;
      yield* bumpServing(uid);
      for (const table of ['webhook', 'automation', 'resource']) {
        yield* change(`UPDATE ${table} SET deleted_at = ? WHERE factory_uid = ? AND deleted_at IS NULL`, nowMs, uid);
      }
      yield* change(
        "UPDATE run SET state = 'CANCELLED', status_message = 'the factory was deleted', cancel_requested_at = ?, finished_at = ?, updated_at = ? WHERE factory_uid = ? AND state = 'QUEUED'",
        nowMs,
        nowMs,
        nowMs,
        uid,
      );
      yield* dropFilesOf(uid);
      yield* dropSecretsOf(uid);
      yield* forgetRevisions(uid);
      yield* change('DELETE FROM factory_event WHERE factory_uid = ?', uid);
      yield* change('DELETE FROM approval WHERE factory_uid = ?', uid);
      yield* audit(by, { action: 'factory.delete', subject: uid, factoryUid: uid, details: { slug: found.slug } });
      return true;
    });
  }

  /** Takes or renews the right to reconcile; undefined while another owner holds it. */
  lease(uid: string, owner: string, forMs: number): Promise<Lease | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const taken = yield* row<{ fence: number }>(
        'UPDATE factory SET lease_owner = ?, lease_until = ?, fence = fence + 1 WHERE uid = ? AND deleted_at IS NULL AND (lease_owner = ? OR lease_until < ?) RETURNING fence',
        owner,
        nowMs + forMs,
        uid,
        owner,
        nowMs,
      );
      return taken && { fence: taken.fence, untilMs: nowMs + forMs };
    }, 'lazily');
  }

  /** Keeps the lease of a pass that is still under way. */
  async renew(uid: string, fence: number, forMs: number): Promise<void> {
    await this.database.run(function* () {
      yield* change(
        'UPDATE factory SET lease_until = ? WHERE uid = ? AND fence = ?',
        (yield* databaseNow()) + forMs,
        uid,
        fence,
      );
    }, 'lazily');
  }

  /** Frees every factory: for a process that knows that it is the only one, after one that ended without releasing. */
  async freeAll(): Promise<void> {
    await this.database.run(() => change('UPDATE factory SET lease_until = 0'));
  }

  async release(uid: string, fence: number): Promise<void> {
    await this.database.run(
      () => change('UPDATE factory SET lease_until = 0 WHERE uid = ? AND fence = ?', uid, fence),
      'lazily',
    );
  }

  /** The one place where the end of a pass is written, whatever path it took. Throws FenceLostError. */
  recordPass(uid: string, fence: number, outcome: PassOutcome): Promise<void> {
    const isNews = outcome.record !== undefined || outcome.brought !== undefined || (outcome.events ?? []).length > 0;
    return this.database.run(
      function* () {
        const {
          generationHandled,
          condition,
          conditions,
          failures,
          revisionSeen,
          revisionAttempted,
          brought,
          rewrite,
          events = [],
          record,
        } = outcome;
        const written = yield* change(
          `UPDATE factory SET generation_handled = ?, condition = ?, conditions = COALESCE(?, conditions), failures = ?, revision_seen = COALESCE(?, revision_seen),
          revision_attempted = COALESCE(?, revision_attempted), rewrite = CASE WHEN ? = 1 THEN ? ELSE rewrite END WHERE uid = ? AND fence = ?`,
          generationHandled,
          JSON.stringify(condition),
          conditions === undefined ? null : JSON.stringify(conditions),
          failures,
          revisionSeen ?? null,
          revisionAttempted ?? null,
          rewrite === undefined ? 0 : 1,
          rewrite ? JSON.stringify(rewrite) : null,
          uid,
          fence,
        );
        if (written !== 1) throw new FenceLostError('the lease of this pass was taken over');
        if (!isNews) return; // a pass without news costs one statement
        const nowMs = yield* databaseNow();
        if (revisionAttempted !== undefined && brought !== undefined)
          yield* acceptRevision(uid, revisionAttempted, brought, nowMs, record?.id);
        if (brought?.spent !== undefined)
          yield* change('DELETE FROM approval WHERE factory_uid = ? AND digest = ?', uid, brought.spent);
        if (record !== undefined) yield* insert('sync_pass', PASS_COLUMNS, [toPassValues(uid, record)]);
        yield* tell(uid, events, nowMs, record?.id);
      },
      isNews ? undefined : 'lazily',
    );
  }

  /** Recorded passes, newest first, from before `before`. */
  async passes(factoryUid: string, limit: number, before?: string): Promise<PassRecord[]> {
    const query = this.database.source.getRepository(PASS).createQueryBuilder('pass');
    query.where('pass.factory_uid = :factoryUid', { factoryUid }).orderBy('pass.id', 'DESC').take(limit);
    if (before !== undefined) query.andWhere('pass.id < :before', { before });
    return (await withStoreErrors(query.getMany())).map(toPassRecord);
  }

  /** The same as a page: at most `limit` of them, fewer where they say a lot, and whether there are more. */
  async passPage(
    factoryUid: string,
    limit: number,
    before?: string,
  ): Promise<{ passes: PassRecord[]; hasMore: boolean }> {
    const passes: PassRecord[] = [];
    let entries = 0;
    for (;;) {
      const wanted = Math.min(PASSES_AT_ONCE, limit + 1 - passes.length);
      const found = await this.passes(factoryUid, wanted, passes.at(-1)?.id ?? before);
      for (const pass of found) {
        if (passes.length === limit || entries > PAGE_ENTRIES_MAX) return { passes, hasMore: true };
        passes.push(pass);
        entries += pass.problems.length + pass.changes.length + pass.held.length;
      }
      if (found.length < wanted) return { passes, hasMore: false };
    }
  }

  async pass(factoryUid: string, id: string): Promise<PassRecord | undefined> {
    const found = await withStoreErrors(
      this.database.source.getRepository(PASS).findOneBy({ factory_uid: factoryUid, id }),
    );
    return found === null ? undefined : toPassRecord(found);
  }

  async approvals(uid: string): Promise<Set<string>> {
    const found = await this.database.read(() =>
      rows<{ digest: string }>('SELECT digest FROM approval WHERE factory_uid = ?', uid),
    );
    return new Set(found.map(({ digest }) => digest));
  }

  /** Approves the deletions or the rewriting of this digest and asks for a pass; false when the factory is gone. */
  approve(uid: string, digest: string, principalUid: string, by?: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* change(
        'UPDATE factory SET generation_requested = generation_requested + 1 WHERE uid = ? AND deleted_at IS NULL',
        uid,
      );
      if (found !== 1) return false;
      yield* insert(
        'approval',
        ['factory_uid', 'digest', 'at', 'principal_uid'],
        [[uid, digest, nowMs, principalUid]],
        { ignoreConflicts: true },
      );
      yield* audit(by, { action: 'factory.approve', subject: uid, factoryUid: uid, details: { plan: digest } });
      yield* tellAsked(by, uid, { type: 'Normal', reason: 'approved', message: `what ${digest} names was approved` });
      return true;
    });
  }

  /** Changes label, source and policy together; another source or policy asks for a pass. A name that the factory's file decides is the file's. */
  edit(uid: string, changes: FactoryChanges, by?: ChangedBy): Promise<FactoryEdit> {
    return this.database.run(() => editFactory(uid, changes, by, this.hasCommits));
  }
}

/** Definition of a factory whose file has said nothing. */
const NOTHING_SAID = JSON.stringify({ applyMode: 'atomic' } satisfies FactoryDefinition);

function* create(factory: NewFactory): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  if (yield* row('SELECT 1 AS taken FROM factory WHERE slug = ? AND deleted_at IS NULL', factory.slug)) return false;
  yield* insert(
    'principal',
    ['uid', 'kind', 'display_name', 'created_at'],
    [[factory.serviceAccountUid, 'service_account', `factory ${factory.slug}`, nowMs]],
    { ignoreConflicts: true },
  );
  const version = yield* tickServingClock();
  const condition = JSON.stringify({ ending: 'none', sinceMs: nowMs, checkedMs: nowMs });
  const policy = JSON.stringify(factory.syncPolicy ?? {});
  // Made again, it has the same UIDs and nothing else of its former life.
  const revived = yield* change(
    `UPDATE factory SET deleted_at = NULL, source = ?, sync_policy = ?, name = ?, description = ?, definition = ?, condition = ?, conditions = '{}', rewrite = NULL, how_applied = NULL, serving_version = ?, updated_at = ?,
      generation_requested = generation_requested + 1, revision_applied = NULL, revision_seen = NULL, revision_attempted = NULL, suspended = 0, failures = 0
      WHERE uid = ? AND deleted_at IS NOT NULL`,
    JSON.stringify(factory.source),
    policy,
    factory.name,
    factory.description,
    NOTHING_SAID,
    condition,
    version,
    nowMs,
    factory.uid,
  );
  if (revived === 1) return true;
  // Another replica may have taken the slug since we looked.
  const made = yield* insert(
    'factory',
    FACTORY_COLUMNS,
    [
      [
        factory.uid,
        factory.slug,
        factory.name,
        factory.description,
        JSON.stringify(factory.source),
        policy,
        NOTHING_SAID,
        factory.serviceAccountUid,
        0,
        version,
        1,
        0,
        condition,
        0,
        0,
        0,
        nowMs,
        nowMs,
      ],
    ],
    { ignoreConflicts: true },
  );
  return made === 1;
}

const FACTORY_COLUMNS = [
  'uid',
  'slug',
  'name',
  'description',
  'source',
  'sync_policy',
  'definition',
  'service_account_uid',
  'suspended',
  'serving_version',
  'generation_requested',
  'generation_handled',
  'condition',
  'failures',
  'lease_until',
  'fence',
  'created_at',
  'updated_at',
] as const;

const PASS_COLUMNS = [
  'id',
  'factory_uid',
  'triggers',
  'started_at',
  'finished_at',
  'ending',
  'reason',
  'message',
  'revision',
  'problems',
  'changes',
  'held',
  'digest',
  'timings',
  'rewritten_from',
  'superseded',
  'revision_id',
] as const;

function toPassValues(uid: string, record: PassRecord): (string | number | null)[] {
  return [
    record.id,
    uid,
    JSON.stringify(record.triggers),
    record.startedAtMs,
    record.finishedAtMs,
    record.ending,
    record.reason ?? null,
    record.message ?? null,
    record.revision ?? null,
    JSON.stringify(record.problems),
    JSON.stringify(record.changes),
    JSON.stringify(record.held),
    record.digest ?? null,
    JSON.stringify(record.timings),
    record.rewrittenFrom ?? null,
    record.superseded,
    record.revision === undefined ? null : revisionId(record.revision),
  ];
}

function toPassRecord(found: PassRow): PassRecord {
  return {
    id: found.id,
    triggers: JSON.parse(found.triggers) as string[],
    startedAtMs: found.started_at,
    finishedAtMs: found.finished_at,
    ending: found.ending as PassRecord['ending'],
    reason: found.reason ?? undefined,
    message: found.message ?? undefined,
    revision: found.revision ?? undefined,
    problems: JSON.parse(found.problems) as unknown[],
    changes: JSON.parse(found.changes) as unknown[],
    held: JSON.parse(found.held) as unknown[],
    digest: found.digest ?? undefined,
    rewrittenFrom: found.rewritten_from ?? undefined,
    superseded: found.superseded,
    timings: JSON.parse(found.timings) as Record<string, number>,
  };
}

function toFactory(found: FactoryRow): Factory {
  return {
    uid: found.uid,
    slug: found.slug,
    name: found.name,
    description: found.description,
    source: JSON.parse(found.source) as FactorySource,
    syncPolicy: JSON.parse(found.sync_policy) as SyncPolicy,
    rewrite: found.rewrite === null ? undefined : (JSON.parse(found.rewrite) as Rewrite),
    howApplied: found.how_applied === null ? undefined : (JSON.parse(found.how_applied) as HowApplied),
    serviceAccountUid: found.service_account_uid,
    suspended: found.suspended === 1,
    servingVersion: found.serving_version,
    generationRequested: found.generation_requested,
    generationHandled: found.generation_handled,
    revisionSeen: found.revision_seen ?? undefined,
    revisionAttempted: found.revision_attempted ?? undefined,
    revisionApplied: found.revision_applied ?? undefined,
    condition: JSON.parse(found.condition) as FactoryCondition,
    conditions: JSON.parse(found.conditions) as StoredConditions,
    failures: found.failures,
    createdAtMs: found.created_at,
    updatedAtMs: found.updated_at,
  };
}
