/** What happened to a factory, and what became of its revisions. contract §4, §9, §11.1 (wait). */
import { Injectable } from '@nestjs/common';
import type { FactoryEventList, RevisionStatus } from '#contracts';
import {
  branchOf,
  broughtIn,
  isDirectory,
  revisionId,
  revisionVerdict,
  type PassRecord,
  type ReplicaSeen,
} from '#reconcile';
import { queryDigest } from '#runs';
import { RefusalError } from '../http/error-codes.ts';
import { pageOf, pageKeyOf, toTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { EventStore } from '../store/factories/events.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { Factory, FactoryCondition } from '../store/factories/factory-rows.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { RevisionStore } from '../store/factories/revisions.ts';
import type { PageQuery } from './factories.service.ts';
import { toFactoryEventItem, toMergedPullRequestItem, toSyncItem } from './factories.items.ts';
import { visibleFactory } from '../http/access-guard.ts';

/** Fewer digits than git shows name too many commits. */
const COMMIT_PREFIX = /^[0-9a-f]{7,64}$/;
const DIRECTORY = /^sha256:[0-9a-f]{64}$/;
/** Longer texts are no revision: a branch name and a commit. */
const REVISION_CHARACTERS_MAX = 512;

@Injectable()
export class FactoryHistory {
  constructor(
    private readonly factories: FactoryStore,
    private readonly eventStore: EventStore,
    private readonly revisions: RevisionStore,
    private readonly replicas: ReplicaStore,
  ) {}

  /** Events, newest first. */
  async events(uid: string, { limit, cursor }: PageQuery, access: Access): Promise<FactoryEventList> {
    await visibleFactory(this.factories, uid, access);
    const digest = queryDigest({ list: 'factory-events', factory: uid });
    const [before] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const { page, pageInfo } = pageOf(
      await this.eventStore.list(uid, limit + 1, before as string | undefined),
      limit,
      digest,
      ({ id }) => [id],
    );
    return { events: page.map(toFactoryEventItem), page_info: pageInfo };
  }

  /** What became of a revision, named whole, by its commit, or by 7 or more digits of that. */
  async revision(uid: string, text: string, access: Access): Promise<RevisionStatus> {
    const factory = await visibleFactory(this.factories, uid, access);
    const id = await this.resolved(factory, text);
    const idOf = (revision: string | undefined): string | undefined => revision && revisionId(revision);
    const [appliedId, attemptedId, seenId] = [
      idOf(factory.revisionApplied),
      idOf(factory.revisionAttempted),
      idOf(factory.revisionSeen),
    ];
    const kept = await this.revisions.find(uid, [id, ...(appliedId === undefined ? [] : [appliedId])]);
    const replicas = await this.replicasOf(uid);
    const seen = kept.get(id);
    const isKnown = seen !== undefined || [appliedId, attemptedId, seenId].includes(id);
    const sync = isKnown ? await this.syncOf(uid, id) : undefined;
    const { ending, reason, message } = id === attemptedId ? judgedLast(factory.condition, sync) : factory.condition;
    const verdict = revisionVerdict(id, seen, {
      appliedId,
      applied: appliedId === undefined ? undefined : kept.get(appliedId),
      attemptedId,
      seenId,
      ending,
      reason,
      message,
      suspended: factory.suspended,
      replicas,
    });
    return {
      revision: isKnown ? id : text,
      ...verdict,
      serving_revision: factory.revisionApplied ?? null,
      replicas: replicas.map(({ name, seenAtMs, serving }) => ({ name, seen_at: toTime(seenAtMs), serving })),
      sync: sync === undefined ? null : toSyncItem(sync),
      pull_requests: isKnown ? await this.pullRequestsOf(uid, id) : [],
    };
  }

  /** Null: the forge may have more to say of it. */
  private async pullRequestsOf(uid: string, id: string): Promise<RevisionStatus['pull_requests']> {
    const { pulls, isForgeListed } = await this.revisions.mergedTogether(uid, id);
    const found = broughtIn(id, pulls);
    if (found.length === 0 && !isForgeListed) return null;
    return found.map((pull) => toMergedPullRequestItem(pull, id));
  }

  /**
   * The ID that a text names among those that are known; the text's own where it names none. Throws 400 for one that
   * names several, or cannot name any.
   */
  private async resolved(factory: Factory, text: string): Promise<string> {
    const id = revisionId(text.length > REVISION_CHARACTERS_MAX ? '' : text).toLowerCase();
    if (DIRECTORY.test(id)) return id;
    if (!COMMIT_PREFIX.test(id))
      throw invalidRevision(
        'must be a whole revision (branch@sha1:…, sha256:…), a commit ID, or 7 or more of its first hexadecimal digits',
      );
    const { revisionApplied, revisionAttempted, revisionSeen } = factory;
    const followed = [revisionApplied, revisionAttempted, revisionSeen].filter((revision) => revision !== undefined);
    // A commit of another branch is none of these, whatever its ID.
    if (branchOf(text) !== '' && !followed.some((revision) => branchOf(revision) === branchOf(text))) return text;
    const named = followed.map((revision) => revisionId(revision));
    const matches = new Set([
      ...(await this.revisions.beginningWith(factory.uid, id)),
      ...named.filter((one) => !isDirectory(one) && one.startsWith(id)),
    ]);
    if (matches.has(id)) return id;
    if (matches.size > 1) throw invalidRevision('begins the IDs of several commits; give more digits');
    return [...matches][0] ?? id;
  }

  private async replicasOf(uid: string): Promise<ReplicaSeen[]> {
    const { replicas, servingVersion } = await this.replicas.of(uid);
    return replicas.map(({ name, seenAtMs, servingVersion: loaded }) => ({
      name,
      seenAtMs,
      serving: loaded >= servingVersion,
    }));
  }

  private async syncOf(uid: string, id: string): Promise<PassRecord | undefined> {
    const passId = await this.revisions.passOf(uid, id);
    return passId === undefined ? undefined : this.factories.pass(uid, passId);
  }
}

/** How the revision that was judged last ended: a host that has been away since says nothing of it. */
function judgedLast(
  condition: FactoryCondition,
  sync: PassRecord | undefined,
): Pick<FactoryCondition, 'ending' | 'reason' | 'message'> {
  return condition.ending === 'failed' && condition.reason !== 'internal' && sync?.ending === 'blocked'
    ? sync
    : condition;
}

function invalidRevision(message: string): RefusalError {
  return new RefusalError('invalid_request', `the revision ${message}`, { errors: [{ pointer: 'revision', message }] });
}
