/**
 * Factories as rows: their source, their sync state, the lease of the one that reconciles them, and their pass history.
 * contract §4, §9.
 */
import { audit, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { recordRequestedEvent } from './events.ts';
import { approveHeld, type ApprovalResult, type NewApproval } from './approvals.ts';
import { editFactory, policyMembers, type FactoryChanges, type FactoryEdit } from './factory-edits.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { change, databaseNow, row, rows } from '../database/transactions.ts';
import { APPROVAL, FACTORY } from './factory.entities.ts';
import {
  type Factory,
  type NewFactory,
  deleteFactory,
  insertFactory,
  toFactory,
  type HasCommits,
} from './factory-rows.ts';
import type { PassOutcome, PassRecord } from '#reconcile';
import { isNews, readHeldPass, readPass, readPasses, readPassPage, recordPass, type PassPage } from './passes.ts';

/** The right to reconcile one factory until `untilMs` (database time); a higher fence takes it away. */
export interface FactoryLease {
  fence: number;
  untilMs: number;
}

export class FactoryStore {
  private readonly database: Database;
  private readonly hasCommits: HasCommits;
  constructor(database: Database, hasCommits: HasCommits) {
    this.hasCommits = hasCommits;
    this.database = database;
  }

  /** Creates a factory with its service account; false when the slug is taken. */
  create(factory: NewFactory, by?: ChangedBy): Promise<boolean> {
    return this.database.run(function* () {
      const made = yield* insertFactory(factory);
      const { uid, slug, source, syncPolicy = {} } = factory;
      const policy = Object.keys(syncPolicy).length === 0 ? {} : { policy: policyMembers(syncPolicy) };
      if (made)
        yield* audit(by, {
          action: 'factory.create',
          subject: uid,
          factoryUid: uid,
          details: { slug, source: source.kind, ...(source.forge && { forge: source.forge }), ...policy },
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
  async syncRequests(): Promise<{ uid: string; isAsked: boolean }[]> {
    const found = await this.database.longRead(() =>
      rows<{ uid: string; asked: number }>(
        'SELECT uid, CASE WHEN generation_requested > generation_handled THEN 1 ELSE 0 END AS asked ' +
          'FROM factory WHERE deleted_at IS NULL',
      ),
    );
    return found.map(({ uid, asked }) => ({ uid, isAsked: asked === 1 }));
  }

  /** Raises the requested generation: a pass that is under way will be followed by another. Never applies anything. */
  requestSync(uid: string, by?: ChangedBy): Promise<number> {
    return this.database.run(function* () {
      const asked = yield* row<{ generation_requested: number }>(
        'UPDATE factory SET generation_requested = generation_requested + 1 WHERE uid = ? ' +
          'AND deleted_at IS NULL RETURNING generation_requested',
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
        'UPDATE factory SET suspended = ?, generation_requested = generation_requested + 1 WHERE uid = ? ' +
          'AND deleted_at IS NULL',
        suspended ? 1 : 0,
        uid,
      );
      if (found !== 1) return false;
      yield* audit(by, { action: suspended ? 'factory.suspend' : 'factory.resume', subject: uid, factoryUid: uid });
      yield* recordRequestedEvent(
        by,
        uid,
        suspended
          ? { type: 'Normal', reason: 'suspended', message: 'reconciling was stopped; what was applied serves on' }
          : { type: 'Normal', reason: 'resumed', message: 'reconciling goes on' },
      );
      return true;
    });
  }

  /**
   * Deletes: its webhooks answer 404 at once, its queued runs are cancelled, live ones finish; its own secrets and
   * approvals are nobody's any more. False when it is gone already.
   */
  remove(uid: string, by?: ChangedBy): Promise<boolean> {
    return this.database.run(() => deleteFactory(uid, by));
  }

  /** Takes or renews the right to reconcile; undefined while another owner holds it. */
  acquireLease(uid: string, owner: string, forMs: number): Promise<FactoryLease | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const acquired = yield* row<{ fence: number }>(
        'UPDATE factory SET lease_owner = ?, lease_until = ?, fence = fence + 1 WHERE uid = ? ' +
          'AND deleted_at IS NULL AND (lease_owner = ? OR lease_until < ?) RETURNING fence',
        owner,
        nowMs + forMs,
        uid,
        owner,
        nowMs,
      );
      return acquired && { fence: acquired.fence, untilMs: nowMs + forMs };
    }, 'lazily');
  }

  /** Keeps the lease of a pass that is still under way; false where it was taken over, or the factory is deleted. */
  renewLease(uid: string, fence: number, forMs: number): Promise<boolean> {
    return this.database.run(function* () {
      const renewed = yield* change(
        'UPDATE factory SET lease_until = ? WHERE uid = ? AND fence = ? AND deleted_at IS NULL',
        (yield* databaseNow()) + forMs,
        uid,
        fence,
      );
      return renewed === 1;
    }, 'lazily');
  }

  /** Frees every factory: for a process that knows that it is the only one, after one that ended without releasing. */
  async releaseAll(): Promise<void> {
    await this.database.run(() => change('UPDATE factory SET lease_until = 0 WHERE lease_until > 0'), 'lazily');
  }

  async releaseLease(uid: string, fence: number): Promise<void> {
    await this.database.run(
      () => change('UPDATE factory SET lease_until = 0 WHERE uid = ? AND fence = ?', uid, fence),
      'lazily',
    );
  }

  /** The one place where the end of a pass is written, whatever path it took. Throws FenceLostError. */
  recordPass(uid: string, fence: number, outcome: PassOutcome): Promise<void> {
    return this.database.run(() => recordPass(uid, fence, outcome), isNews(outcome) ? undefined : 'lazily');
  }

  /** The newest pass that held something under this digest. */
  heldPass(factoryUid: string, digest: string): Promise<PassRecord | undefined> {
    return readHeldPass(this.database, factoryUid, digest);
  }

  /** Recorded passes, newest first, from before `before`. */
  passes(factoryUid: string, limit: number, before?: string): Promise<PassRecord[]> {
    return readPasses(this.database, factoryUid, limit, before);
  }

  /** The same as a page: at most `limit` of them, fewer where they say a lot, and whether there are more. */
  passPage(factoryUid: string, limit: number, before?: string): Promise<PassPage> {
    return readPassPage(this.database, factoryUid, limit, before);
  }

  pass(factoryUid: string, id: string): Promise<PassRecord | undefined> {
    return readPass(this.database, factoryUid, id);
  }

  /** Approved digests. */
  async approvals(uid: string): Promise<Set<string>> {
    const found = await withStoreErrors(this.database.source.getRepository(APPROVAL).findBy({ factory_uid: uid }));
    return new Set(found.map(({ digest }) => digest));
  }

  /** Approves what is held under this digest and asks for a pass. */
  approve(uid: string, approval: NewApproval, by?: ChangedBy): Promise<ApprovalResult> {
    return this.database.run(() => approveHeld(uid, approval, by));
  }

  /**
   * Changes label, source and policy together; another source or policy asks for a pass. A name that the factory's file
   * decides is the file's.
   */
  edit(uid: string, changes: FactoryChanges, by?: ChangedBy): Promise<FactoryEdit> {
    return this.database.run(() => editFactory(uid, changes, by, this.hasCommits));
  }
}
