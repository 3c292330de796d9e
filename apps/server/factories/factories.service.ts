/**
 * Factories over the API: make, change, look at, sync, suspend, approve; their webhooks, automations and pass history.
 * spec: What the service does 5–6; contract §4.
 */
import type {
  Approval,
  Factory as FactoryItem,
  FactoryList,
  FactoryStatus,
  RequestBody,
  Sync,
  SyncList,
  FactorySource as WantedSource,
} from '#contracts';
import { deriveUid, policyProblem, type PassRecord, type SourceSettings } from '#reconcile';
import { queryDigest } from '#runs';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { changedBy, isWholeAdmin, visibleFactory, type Caller } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import { pageInfoOf, pageKeyOf, pageOf } from '../http/queries.ts';
import { TEAM_UID } from '../http/requests.ts';
import { Installation } from '../keys/installation.ts';
import { CONFIG, IdSource } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import type { ChangedBy } from '../store/access/audit.ts';
import { Notices } from '../store/database/notices.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { InventoryStore } from '../store/definitions/catalogue.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { EventStore } from '../store/factories/events.ts';
import type { ApprovalResult } from '../store/factories/approvals.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { FactoryAssignments } from '../sync/factory-assignments.ts';
import { SyncLoops } from '../sync/loops.ts';
import { SOURCES } from '../sync/sources/registry.ts';
import { toFactoryItem, toStatusItem, toSyncItem } from './factories.items.ts';
import { factoryRequestErrors, syncPolicyErrors, toSyncPolicy } from './factories.requests.ts';

/** A parsed list query. */
export interface PageQuery {
  limit: number;
  cursor?: string;
}
export type FactoryListQuery = PageQuery & { search?: string; team_uid?: string };

/** Passes and events that a status shows. */
const RECENT_SYNCS = 5;
const RECENT_EVENTS = 10;
/** How long `?wait=true` waits for a pass. */
const WAIT_MS_MAX = 120_000;

@Injectable()
export class FactoryService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly inventory: InventoryStore,
    private readonly events: EventStore,
    private readonly replicas: ReplicaStore,
    private readonly loops: SyncLoops,
    private readonly notices: Notices,
    private readonly installation: Installation,
    @Inject(CONFIG) private readonly config: Config,
    private readonly ids: IdSource,
    @Optional() private readonly assignments?: FactoryAssignments,
  ) {}

  /** Makes a factory and starts to reconcile it. Local sources only where the operator allows them. */
  async create(wanted: RequestBody<'factory-create'>, by: Caller): Promise<FactoryItem> {
    refuseUnusablePolicy(wanted);
    const source = toSource(wanted.source, this.config.allowLocalSources);
    const syncPolicy = toSyncPolicy(wanted.sync_policy ?? {});
    const misfit = policyProblem(syncPolicy, SOURCES.kindOf(source));
    if (misfit !== undefined) throw policyNeedsGit(misfit);
    const uid = deriveUid(this.installation.uidKey, 'factory', wanted.slug);
    const factory = {
      uid,
      slug: wanted.slug,
      name: wanted.name ?? wanted.slug,
      description: '',
      source,
      syncPolicy,
      serviceAccountUid: serviceAccountOf(uid),
    };
    if (!(await this.factories.create(factory, this.changedBy(by))))
      throw lastingConflict(`a factory with the slug ${wanted.slug} exists`);
    return this.follow(uid, by.access);
  }

  /**
   * Changes the label, the source, the sync policy, or several; the loop follows the new source and policy from its
   * next pass on. A label that a file decides is the file's.
   */
  async patch(uid: string, wanted: RequestBody<'factory-patch'>, by: Caller): Promise<FactoryItem> {
    await this.visible(uid, by.access);
    refuseUnusablePolicy(wanted);
    const source = wanted.source && toSource(wanted.source, this.config.allowLocalSources);
    const edited = await this.factories.edit(
      uid,
      { name: wanted.name, source, syncPolicy: wanted.sync_policy && toSyncPolicy(wanted.sync_policy) },
      this.changedBy(by),
    );
    if (edited === 'gone') throw notFound('the factory');
    if (edited === 'policy-needs-git')
      throw policyNeedsGit(
        'verify_commits and fast_forward_only need a git source; change source and sync_policy together',
      );
    if (edited === 'named-by-file')
      throw lastingConflict('the name of this factory is decided by name in factory.yaml: change it there', {
        file: 'factory.yaml',
        key: 'name',
      });
    return this.follow(uid, by.access);
  }

  /** In order of their UIDs; a limited key is shown its own and asks for no others. */
  async list({ search, team_uid: teamUid, limit, cursor }: FactoryListQuery, access: Access): Promise<FactoryList> {
    if ((teamUid ?? TEAM_UID) !== TEAM_UID) return { factories: [], page_info: { has_next_page: false } };
    const digest = queryDigest({ list: 'factories', search });
    const [after] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const found = await this.factories.list(limit + 1, after as string | undefined, search, access.factories);
    const { page, pageInfo } = pageOf(found, limit, digest, ({ uid }) => [uid]);
    const definitions = await this.definitions.factories(page.map(({ uid }) => uid));
    return {
      factories: page.map((factory) => toFactoryItem(factory, definitions.get(factory.uid))),
      page_info: pageInfo,
    };
  }

  async get(uid: string, access: Access): Promise<FactoryItem> {
    return this.toItem(await this.visible(uid, access));
  }

  /** Nothing that a pass under way would write is written any more; then its loop ends, wherever it is. */
  async remove(uid: string, by: Caller): Promise<void> {
    await this.visible(uid, by.access);
    if (!(await this.factories.remove(uid, this.changedBy(by)))) throw notFound('the factory');
    await this.publish(uid);
  }

  /** Where the factory stands: conditions, revisions, generations, inventory. */
  async status(uid: string, access: Access): Promise<FactoryStatus> {
    const factory = await this.visible(uid, access);
    const [inventory, recent, events, isAttended] = await Promise.all([
      this.inventory.list(uid),
      this.factories.passes(uid, RECENT_SYNCS),
      this.events.list(uid, RECENT_EVENTS),
      this.isAttended(),
    ]);
    const held = await this.heldPass(factory, recent);
    return toStatusItem(factory, { inventory, recent, held, events, isAttended });
  }

  /** The pass whose findings wait for an approval: mostly the last one. */
  private async heldPass(
    { uid, condition: { heldDigest } }: Factory,
    recent: readonly PassRecord[],
  ): Promise<PassRecord | undefined> {
    if (heldDigest === undefined) return undefined;
    return recent.find(({ digest }) => digest === heldDigest) ?? this.factories.heldPass(uid, heldDigest);
  }

  /** Asks for a pass; with `wait`, answers when it is over. */
  async sync(uid: string, wait: boolean, by: Caller): Promise<FactoryStatus> {
    await this.visible(uid, by.access);
    const generation = await this.loops.ask(uid, 'api', this.changedBy(by));
    if (wait) await this.waitForPass(uid, generation, by.access);
    return { ...(await this.status(uid, by.access)), generation_requested: generation };
  }

  async setSuspended(uid: string, suspended: boolean, by: Caller): Promise<FactoryItem> {
    await this.visible(uid, by.access);
    if (!(await this.factories.setSuspended(uid, suspended, this.changedBy(by)))) throw notFound('the factory');
    this.loops.notice(uid, 'api');
    return this.get(uid, by.access);
  }

  /** Approves deletions, a rewritten history, or growth, by the digest under which they are held. contract §12.7. */
  async approve(uid: string, digest: string, by: Caller): Promise<Approval> {
    await this.visible(uid, by.access);
    const approval = { digest, principalUid: by.access.principal.uid, isAdmin: isWholeAdmin(by.access) };
    refuseApproval(await this.factories.approve(uid, approval, this.changedBy(by)));
    this.loops.notice(uid, 'approval');
    return { factory_uid: uid, plan: digest, approved: true };
  }

  /** Recorded passes, newest first. */
  async passes(uid: string, { limit, cursor }: PageQuery, access: Access): Promise<SyncList> {
    await this.visible(uid, access);
    const digest = queryDigest({ list: 'syncs', factory: uid });
    const [before] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const { passes, hasMore } = await this.factories.passPage(uid, limit, before as string | undefined);
    return { syncs: passes.map(toSyncItem), page_info: pageInfoOf(passes.at(-1), hasMore, digest, ({ id }) => [id]) };
  }

  async pass(uid: string, id: string, access: Access): Promise<Sync> {
    await this.visible(uid, access);
    const found = await this.factories.pass(uid, id);
    if (found === undefined) throw notFound('the sync');
    return toSyncItem(found);
  }

  private visible(uid: string, access: Access): Promise<Factory> {
    return visibleFactory(this.factories, uid, access);
  }

  /** Lets the loop follow what is stored now, and shows it. */
  private async follow(uid: string, access: Access): Promise<FactoryItem> {
    await this.publish(uid);
    return this.toItem(await this.visible(uid, access));
  }

  /**
   * Tells every process that reconciles that a factory was made, changed or deleted; ends when this one has followed,
   * where it is one.
   */
  private async publish(uid: string): Promise<void> {
    this.notices.publish('factory', uid);
    await this.assignments?.follow(uid);
  }

  /** Whether any process lives that reconciles factories, here or elsewhere. */
  private async isAttended(): Promise<boolean> {
    return this.config.roles.has('sync') || (await this.replicas.living()).some(({ roles }) => roles.includes('sync'));
  }

  private async waitForPass(uid: string, generation: number, access: Access): Promise<void> {
    if ((await this.loops.waitForGeneration(uid, generation, WAIT_MS_MAX)) !== undefined) return;
    await this.visible(uid, access); // deleted meanwhile?
    throw new RefusalError('resource_unavailable', 'the pass is not over yet; ask for the status later', {
      retryAfterSeconds: 5,
    });
  }

  private async toItem(factory: Factory): Promise<FactoryItem> {
    return toFactoryItem(factory, (await this.definitions.factories([factory.uid])).get(factory.uid));
  }

  private changedBy(by: Caller): ChangedBy {
    return changedBy(by, this.ids.newId());
  }
}

export function serviceAccountOf(factoryUid: string): string {
  return `svc_${factoryUid.slice('fac_'.length)}`;
}

/** Throws a 400 that names every key and schedule that cannot be used, together with what is wrong with the source. */
function refuseUnusablePolicy(wanted: RequestBody<'factory-patch'>): void {
  if (syncPolicyErrors(wanted.sync_policy).length > 0) throw invalidMembers(factoryRequestErrors(wanted));
}

/** Throws where an approval was not stored. */
function refuseApproval(result: ApprovalResult): void {
  if (result === 'gone') throw notFound('the factory');
  if (result === 'not-held')
    throw lastingConflict('nothing with this digest is held now, so that nothing was approved');
  if (result === 'needs-admin')
    throw new RefusalError(
      'not_authorized',
      'this digest is of what runs could do more, which the sync policy has approved by the role admin ' +
        '(growth_approval)',
    );
}

function policyNeedsGit(message: string): RefusalError {
  return new RefusalError('invalid_request', 'the sync policy cannot be asked of this source', {
    errors: [{ pointer: '/sync_policy', message }],
  });
}

/** Throws a 400 that names every member that the kind could not take. */
function toSource(wanted: WantedSource, allowLocal: boolean): SourceSettings {
  const kind = SOURCES.kindOf(wanted);
  if (kind.isLocal && !allowLocal)
    throw new RefusalError('invalid_request', `${kind.kind} sources are off`, {
      errors: [{ pointer: '/source/kind', message: 'needs MILLWRIGHT_ALLOW_LOCAL_SOURCES=true on the server' }],
    });
  const errors = kind.requestErrors({ ...wanted }, allowLocal);
  if (errors.length > 0) throw new RefusalError('invalid_request', 'the source cannot be used', { errors });
  return kind.toStored(wanted);
}
