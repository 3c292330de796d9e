/** One pass: make the service match the factory repository at its current commit. contract §9. */
import { withExcerpts, type CheckedDefinitions } from '#definitions';
import {
  acceptanceOf,
  closureAt,
  failuresAfter,
  faulted,
  hasProgressed,
  isEmpty,
  isToBeRetried,
  judge,
  passOutcome,
  retryDelayMs,
  unchanged,
  unreadable,
  unverified,
  waitingRevision,
  type RevisionAcceptance,
  type Actual,
  type EndedPass,
  type HowApplied,
  type Plan,
  isManagedSource,
} from '#reconcile';
import { type Factory } from '../store/factories/factory-rows.ts';
import { FenceLostError } from '../store/database/store-errors.ts';
import { toApplication } from './application.ts';
import { loadReconcileInput } from './reconcile-input.ts';
import { TreeCache, type Tree } from './tree-cache.ts';
import type { PassContext, PassResult, SourceCheck } from './pass-context.ts';
import { PassFigures } from './pass-figures.ts';
import { PassLease } from './pass-lease.ts';
import { SecretsWatch } from './secrets-watch.ts';
import type { Source } from './sources/source.ts';

/** What became of an attempt, beside its ending. */
type Attempt = Pick<EndedPass, 'ending' | 'accepted' | 'delta' | 'rewrittenFrom' | 'unread' | 'tipSeen'>;

/** A pass that is not written down yet. */
type UnrecordedPass = Omit<EndedPass, 'finishedAtMs' | 'webhooksWithoutSecret'>;

export class FactoryPass {
  private readonly context: PassContext;
  private readonly memory: TreeCache;
  private readonly check: SourceCheck | undefined;
  /** Revision of the tree that is worked on: what a fault is about. */
  private underWay: string | undefined;
  /** Of the pass that runs. */
  private figures!: PassFigures;

  constructor(context: PassContext, source: Source, check?: SourceCheck) {
    this.context = context;
    this.memory = new TreeCache(source);
    this.check = check;
  }

  /**
   * Runs one pass; undefined when another replica holds the factory, it is gone, or its source is another by now.
   * Throws FenceLostError where another replica took the factory over meanwhile. `askedAtMs`: since when somebody asks
   * for it, on the monotonic clock.
   */
  async run(
    factoryUid: string,
    triggers: readonly string[],
    signal: AbortSignal,
    askedAtMs = performance.now(),
  ): Promise<PassResult | undefined> {
    const { factories: leases, owner, report } = this.context;
    const onLost = (): void => this.figures.leaseLost();
    const lease = await PassLease.acquire({ leases, owner, report, onLost }, factoryUid);
    if (lease === undefined) return undefined;
    this.figures = new PassFigures(this.context, factoryUid, askedAtMs);
    try {
      const factory = await this.context.factories.find(factoryUid);
      if (factory === undefined) return undefined;
      if (this.check?.isCurrent(factory) !== false) return await this.runUnder(lease, factory, triggers, signal);
      // Somebody changed it through another replica: what this one would read, and how it would verify that, is not
      // what was asked for.
      this.check.outdated(factory);
      return undefined;
    } finally {
      this.figures.over();
      await lease.release();
    }
  }

  private async runUnder(
    lease: PassLease,
    factory: Factory,
    triggers: readonly string[],
    signal: AbortSignal,
  ): Promise<PassResult> {
    const startedAtMs = this.context.nowMs();
    const secrets = this.watchSecrets(factory, lease.fence);
    try {
      await secrets.start(); // first and always: a rotation waits for no git host
      const attempt = reconciles(factory) ? await this.attempt(factory, lease, signal) : undefined;
      await secrets.stop();
      const { ending, ...found } = attempt ?? { ending: unchanged(factory.condition), accepted: false, tipSeen: false };
      const ended = {
        ...found,
        ending: { ...ending, rebound: secrets.moved },
        secretsAway: secrets.areUnavailable,
        filesLeftAlone: attempt === undefined,
        triggers,
        startedAtMs,
      };
      return await this.recordAnyway(factory, lease.fence, ended);
    } finally {
      await secrets.stop();
    }
  }

  private watchSecrets({ uid, slug }: Factory, fence: number): SecretsWatch {
    const { definitions } = this.context;
    return new SecretsWatch({
      rebind: () => definitions.rebindSecrets(uid, fence),
      publish: () => this.context.publish(),
      report: (fault) => this.context.report(fault, slug),
    });
  }

  private async attempt(factory: Factory, lease: PassLease, signal: AbortSignal): Promise<Attempt> {
    this.underWay = undefined;
    try {
      return await this.reconcile(factory, lease, signal);
    } catch (error) {
      if (error instanceof FenceLostError) throw error;
      lease.lost.throwIfAborted();
      this.context.report(error, factory.slug);
      return {
        ending: faulted('the pass failed inside the service; its log has the details', this.underWay),
        accepted: false,
        tipSeen: false,
      };
    }
  }

  private async reconcile(factory: Factory, { fence, lost }: PassLease, signal: AbortSignal): Promise<Attempt> {
    const read = await this.memory.read(factory.revisionAttempted, AbortSignal.any([signal, lost]), this.figures);
    lost.throwIfAborted();
    if (read.ok) return this.reconcileTree(factory, fence, read.tree);
    // Never the tree of the last look instead: that is the parent of what was refused.
    if ('refused' in read) return { ending: unverified(read), accepted: false, tipSeen: true };
    const judged = await this.reconcileWaiting(factory, fence);
    const { reason, message } = read;
    return judged !== undefined && hasProgressed(factory, judged.ending)
      ? { ...judged, unread: { reason, message }, tipSeen: false }
      : { ending: unreadable(read), accepted: false, tipSeen: false };
  }

  /** What waits is judged again: the tree of the last look. */
  private async reconcileWaiting(factory: Factory, fence: number): Promise<Attempt | undefined> {
    const waiting = waitingRevision(factory);
    if (waiting === undefined) return undefined;
    const tree = this.memory.atHand(factory.revisionAttempted) ?? (await this.acceptedAtHand(factory));
    return tree?.revision === waiting ? this.reconcileTree(factory, fence, tree) : undefined;
  }

  /**
   * A process that has not read it itself finds it among what was fetched; not where something newer was seen and
   * refused, or waits for an approval.
   */
  private async acceptedAtHand({ revisionSeen, revisionAttempted }: Factory): Promise<Tree | undefined> {
    return revisionAttempted === undefined || revisionSeen !== revisionAttempted
      ? undefined
      : this.memory.cached(revisionAttempted);
  }

  private async reconcileTree(factory: Factory, fence: number, tree: Tree): Promise<Attempt> {
    this.underWay = tree.revision;
    const found = await this.figures.during('plan', () => this.evaluate(factory, tree));
    if (found.refused !== undefined)
      return { ending: found.refused.ending, accepted: false, tipSeen: true, rewrittenFrom: found.refused.from };
    const { acceptance, actual, checked, planned, applies, how, ending } = found;
    if (applies) await this.apply(factory, fence, tree, planned, checked, actual, how);
    const shown = { ...ending, problems: withExcerpts(ending.problems, tree.reading) };
    return {
      ending: shown,
      accepted: true,
      tipSeen: true,
      delta: acceptance.delta,
      rewrittenFrom: acceptance.delta?.rewrite?.from,
    };
  }

  /** What the tree would change, if its revision is accepted. */
  private async evaluate(factory: Factory, tree: Tree) {
    const input = {
      ...(await loadReconcileInput(factory, this.context)),
      closed: closureAt(factory.syncPolicy.windows, this.context.nowMs()),
    };
    const acceptance = this.acceptanceOf(factory, tree, input.approvedDigests);
    return acceptance.ok ? { acceptance, actual: input.actual, ...judge(tree, input) } : { refused: acceptance };
  }

  private acceptanceOf(
    { slug, revisionAttempted, syncPolicy }: Factory,
    tree: Tree,
    approvedDigests: ReadonlySet<string>,
  ): RevisionAcceptance {
    return acceptanceOf(tree, {
      factorySlug: slug,
      accepted: revisionAttempted,
      policy: syncPolicy,
      approvedDigests,
      nowMs: this.context.nowMs(),
    });
  }

  /** An unchanged revision with nothing to do writes nothing. */
  private async apply(
    factory: Factory,
    fence: number,
    { revision, reading, blobs }: Tree,
    planned: Plan,
    checked: CheckedDefinitions,
    actual: Actual,
    how: HowApplied,
  ): Promise<void> {
    if (isEmpty(planned) && factory.revisionApplied === revision) return;
    const application = toApplication(factory, fence, revision, planned, checked.definitions, actual, reading, blobs);
    await this.figures.during('apply', () => this.context.definitions.apply({ ...application, how }));
    await this.figures.during('serve', () => this.context.publish());
    this.figures.served();
  }

  /**
   * An end that cannot be written down is a fault of ours: that is written down instead, and the pass is tried again
   * later.
   */
  private async recordAnyway(factory: Factory, fence: number, pass: UnrecordedPass): Promise<PassResult> {
    try {
      return await this.record(factory, fence, pass);
    } catch (error) {
      if (error instanceof FenceLostError) throw error;
      this.context.report(error, factory.slug);
      const { rebound, revision } = pass.ending;
      const fault = {
        ...faulted('the end of the pass could not be recorded; the log of the service has the details', revision),
        rebound,
      };
      return this.record(factory, fence, {
        ...pass,
        ending: fault,
        accepted: false,
        tipSeen: false,
        unread: undefined,
        delta: undefined,
        rewrittenFrom: undefined,
      });
    }
  }

  /** The one place where a pass's end is written down, whatever path it took. */
  private async record(factory: Factory, fence: number, pass: UnrecordedPass): Promise<PassResult> {
    const { ending } = pass;
    const finishedAtMs = this.context.nowMs();
    const webhooksWithoutSecret = await this.context.definitions.webhooksWithoutSecret(factory.uid);
    await this.context.factories.recordPass(
      factory.uid,
      fence,
      passOutcome(factory, { ...pass, finishedAtMs, webhooksWithoutSecret }, () => this.context.newId()),
    );
    const seconds = (finishedAtMs - pass.startedAtMs) / 1_000;
    this.figures.ended(factory, ending, seconds);
    return {
      ending,
      generationHandled: factory.generationRequested,
      retryInMs: isToBeRetried(pass) ? retryDelayMs(failuresAfter(factory, pass), Math.random()) : undefined,
      opensInMs: ending.opensAtMs === undefined ? undefined : Math.max(0, ending.opensAtMs - finishedAtMs),
    };
  }
}

/** Whether a pass looks at files at all; secrets are looked after either way. */
function reconciles({ suspended, source }: Factory): boolean {
  return !suspended && isManagedSource(source);
}
