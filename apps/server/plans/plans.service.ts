/**
 * What a tree of files, or a ref of the followed repository, would change in a factory: everything a pass does but the
 * writing, and whom it would concern. contract §4.1 (plan), §9, §12.6 (Plan of a ref).
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Plan as PlanItem, PlanRequest } from '#contracts';
import { isDefinitionPath, toTree, withExcerpts, type KnownFacts, type TreeFile } from '#definitions';
import {
  branchOfRef,
  closureAt,
  directoryRevision,
  isEmpty,
  judge,
  mergedFiles,
  parseRef,
  revisionAtRef,
  waitingWords,
  type Evaluation,
  type ReconcileInput,
} from '#reconcile';
import type { Access } from '../store/access/access.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { loadReconcileInput, readDefinitionsYielding } from '../sync/reconcile-input.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { visibleFactory } from '../http/access-guard.ts';
import { invalidMembers } from '../http/error-codes.ts';
import type { Acquirer } from '../filters/fair-semaphore.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { SecretStore } from '../store/secrets/secrets.ts';
import { Installation } from '../keys/installation.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { PlanImpact, type Impact } from './plan-impact.ts';
import { toPlanItem } from './plans.items.ts';
import { refRefusal, withoutRefs } from './ref-refusals.ts';
import { RefTrees, type FoundTree } from './ref-trees.ts';
import { SOURCES } from '../sync/sources/registry.ts';

@Injectable()
export class PlanService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly secrets: SecretStore,
    private readonly installation: Installation,
    private readonly impact: PlanImpact,
    private readonly refs: RefTrees,
    private readonly agents: RunAgents,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads, checks, plans and guards a tree as a pass over it would now, and counts what it touches. Writes nothing. A
   * closed sync window only delays: the ending is that of the pass which comes when it is open, and the message says
   * that, and when that is. Throws 429 or 503 where too many ask, and the reason of the signal once nobody waits for
   * the plan.
   */
  async plan(uid: string, request: PlanRequest, access: Access, signal: AbortSignal): Promise<PlanItem> {
    const factory = await visibleFactory(this.factories, uid, access);
    const asker = { keyId: access.keyId, signal };
    if (request.ref !== undefined) return this.planOfRef(factory, request.ref, asker);
    const files = toTree(request.files ?? []);
    // As a directory with these files would be named. A commit of them has a revision of its own, and so a digest.
    const revision = directoryRevision(files.filter(({ path }) => isDefinitionPath(path)));
    const isOther = !SOURCES.kindOf(factory.source).isNamedByFiles;
    return this.planOfTree(factory, { revision, files, isOther, withoutSecrets: false }, asker);
  }

  /**
   * The same of a ref or a commit of the repository that the factory follows, which is fetched for it and nowhere kept.
   * The definitions of a pull request are anybody's: they are judged without what is known of secrets, and so is any
   * other ref where the caller says so. Throws the refusals of the API: 400, 404, 409, 422, 429, 503.
   */
  async planOfRef(
    factory: Factory,
    text: string,
    asker: Required<Acquirer>,
    withoutSecrets?: boolean,
  ): Promise<PlanItem> {
    const { name, commit, files, isPullRequest } = await this.treeAt(factory, text, asker);
    const tree = {
      revision: revisionAtRef(name, commit),
      files,
      isOther: !isFollowed(factory, name),
      withoutSecrets: withoutSecrets ?? isPullRequest,
    };
    return { ...(await this.planOfTree(factory, tree, asker)), ref: { name: name ?? null, commit } };
  }

  /**
   * The plan of what merging a pull request would leave: its changes since the merge base on top of the tip of the
   * branch. Without both commits, of its own tree. That of strangers is judged without what is known of secrets,
   * traffic and deliveries. What is at hand of `readAhead` is not asked of the host again. Throws as `planOfRef`.
   * contract §9.9 (Feedback in pull requests).
   */
  async planOfMerge(
    factory: Factory,
    { ref, head, mergeBase, tip, isForeign }: WantedMerge,
    asker: Required<Acquirer>,
  ): Promise<MergePlan> {
    const at = async (commit: string, text = commit): Promise<FoundTree> =>
      this.refs.atHand(factory, commit) ?? (await this.treeAt(factory, text, asker));
    const pull = await at(head, ref);
    const isBehind = mergeBase !== undefined && tip !== undefined && mergeBase !== tip;
    const [base, branch] = isBehind ? [await at(mergeBase), await at(tip)] : [];
    const { files, contested } =
      base === undefined || branch === undefined
        ? { files: pull.files, contested: [] }
        : mergedFiles(base.files, branch.files, pull.files);
    const revision = revisionAtRef(pull.name, pull.commit);
    const tree = { revision, files, isOther: true, withoutSecrets: isForeign, withoutImpact: isForeign };
    return { commit: pull.commit, contested, plan: await this.planOfTree(factory, tree, asker) };
  }

  /** Has the trees of these commits at hand, as far as the host gives them out at once. */
  readAhead(factory: Factory, commits: readonly string[], asker: Required<Acquirer>): Promise<void> {
    return this.refs.readAhead(factory, commits, asker);
  }

  /** Heads whose trees are read in one go: each may need that of its merge base, too. */
  readAheadMax(): number {
    return Math.max(1, Math.floor(this.refs.aheadMax / 2));
  }

  private async treeAt(
    factory: Factory,
    text: string,
    asker: Required<Acquirer>,
  ): Promise<FoundTree & { isPullRequest: boolean }> {
    const parsed = parseRef(text);
    if (!parsed.ok) throw invalidMembers([{ pointer: '/ref', message: `"ref" ${parsed.reason}` }]);
    if (!SOURCES.kindOf(factory.source).hasCommits) throw withoutRefs();
    const found = await this.refs.read(factory, parsed.ref, asker);
    if (!found.ok) throw refRefusal(found);
    return { ...found, isPullRequest: parsed.ref.kind === 'named' && parsed.ref.isPullRequest };
  }

  private async planOfTree(
    factory: Factory,
    { revision, files, isOther, withoutSecrets, withoutImpact = false }: PlannedTree,
    asker: Required<Acquirer>,
  ): Promise<PlanItem> {
    const reading = await readDefinitionsYielding(files);
    asker.signal.throwIfAborted();
    const loaded = await this.input(factory);
    const known = withoutSecrets ? withoutSecretFacts(loaded.known) : loaded.known;
    const input = { ...loaded, known, approvedElsewhere: isOther };
    const judgement = judge({ revision, reading }, input);
    const impact: Impact = withoutImpact
      ? new Map()
      : await this.impact.of(factory.uid, judgement, input.actual, { ...asker, withoutSecrets });
    const problems = withExcerpts(judgement.checked.problems, reading);
    const item = toPlanItem(
      factory,
      revision,
      { ...judgement, problems },
      input.actual,
      impact,
      this.config.ingressUrl,
    );
    return {
      ...item,
      message: item.message ?? this.delayOf(factory, revision, judgement),
      ...(withoutSecrets ? { not_run: [...judgement.checked.notRun, 'secret-changes' as const] } : {}),
    };
  }

  private input(factory: Factory): Promise<ReconcileInput> {
    const { config, agents, factories, definitions, secrets, clock } = this;
    const { uidKey } = this.installation;
    return loadReconcileInput(factory, {
      config,
      agents,
      uidKey,
      factories,
      definitions,
      secrets,
      nowMs: () => clock.nowMs(),
    });
  }

  private delayOf({ syncPolicy }: Factory, revision: string, { applies, planned }: Evaluation): string | null {
    const closed = applies && !isEmpty(planned) ? closureAt(syncPolicy.windows, this.clock.nowMs()) : undefined;
    return closed === undefined ? null : waitingWords(revision, closed);
  }
}

/** What is planned. */
interface PlannedTree {
  revision: string;
  files: readonly TreeFile[];
  /** No pass will judge this very revision: a digest of it would approve nothing. */
  isOther: boolean;
  /** The definitions are anybody's. */
  withoutSecrets: boolean;
  /** Nothing is looked up of traffic and stored deliveries. */
  withoutImpact?: boolean;
}

/** A pull request that is to be judged. Commits by their IDs. */
export interface WantedMerge {
  /** `pull/12`, or the commit of its head: what the host is asked for where the head is not at hand. */
  ref: string;
  head: string;
  mergeBase?: string;
  /** Of the followed branch. */
  tip?: string;
  /** Its commits are of another repository. */
  isForeign: boolean;
}

/** What merging it would do. */
export interface MergePlan {
  /** The head that was read. */
  commit: string;
  /** Files that both sides changed: as the pull request has them. */
  contested: readonly string[];
  plan: PlanItem;
}

/** Whether a sync judges this ref: its commit has the same revision there. */
function isFollowed({ revisionSeen }: Factory, name: string | undefined): boolean {
  const branch = name === undefined ? undefined : branchOfRef(name);
  return branch !== undefined && revisionSeen?.startsWith(`${branch}@`) === true;
}

/** Which secrets there are, what they are good for and where they may go is for the factory's own to know. */
function withoutSecretFacts(known: KnownFacts): KnownFacts {
  return {
    ...known,
    webhookSecrets: undefined,
    runSecrets: undefined,
    runGrants: undefined,
    releaseProblemOf: undefined,
  };
}
