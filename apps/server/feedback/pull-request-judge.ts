/**
 * Judges open pull requests of one factory, two at a time and new heads first, and stores what is to be said of them.
 * contract §9.9 (Feedback in pull requests).
 */
import { Inject, Injectable } from '@nestjs/common';
import { commitNamedBy, errorStatus, feedbackOf, judgingOrder, statusDescription } from '#reconcile';
import type { Config } from '../config/config.ts';
import { RefusalError } from '../http/error-codes.ts';
import { PlanService } from '../plans/plans.service.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import type { StoredPullRequest } from '../store/factories/feedback-rows.ts';
import { FeedbackStore } from '../store/factories/feedback.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { Forge } from './forge.ts';

/** Judged at once: the readings of a process are as many, and people ask for plans, too. */
const JUDGED_AT_ONCE = 2;
/** After this long it is looked again which heads there are: newer ones go first. */
const JUDGING_MS_MAX = 10_000;
/** After this long it is looked again even sooner, where somebody knows of news. */
const JUDGING_MS_WITH_NEWS = 1_000;
/** A head that cannot be read so often is an error. */
const ATTEMPTS_MAX = 3;

export interface JudgingDeps {
  factory: Factory;
  forge: Forge;
  signal: AbortSignal;
  /** Heads may have moved since they were listed. */
  hasNews(): boolean;
  /** Something is to be posted. */
  stored(): void;
  /** Of our comment on a pull request. */
  markOf(number: number): string;
}

/** `more`: heads wait still. `retry`: some could not be judged now. */
export type JudgingResult = 'all' | 'more' | 'retry';

/** What became of one. */
type Outcome = 'judged' | 'retry';

/** A head with what it is merged into. */
interface Merge {
  pull: StoredPullRequest;
  mergeBase?: string;
  /** Of the followed branch. */
  tip?: string;
}

@Injectable()
export class PullRequestJudge {
  constructor(
    private readonly plans: PlanService,
    private readonly store: FeedbackStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly log: Log,
  ) {}

  /** Address of the page of a plan. */
  planUrl(factoryUid: string, number: number): string {
    return `${this.config.publicUrl}/factories/${factoryUid}/sync/plan?ref=pull%2F${number}`;
  }

  /** The same for readers of the forge; undefined: there is no pull request, or they cannot reach the service. */
  planLink(factoryUid: string, number: number | undefined): string | undefined {
    return number === undefined || !this.config.isPublicUrlGiven ? undefined : this.planUrl(factoryUid, number);
  }

  /** Throws ForgeError where the forge is needed and does not answer, and the reason of the signal. */
  async judge(deps: JudgingDeps): Promise<JudgingResult> {
    const { factory, signal } = deps;
    const waiting = judgingOrder(await this.store.pulls(factory.uid), factory.revisionApplied) as StoredPullRequest[];
    const begunAtMs = performance.now();
    const isOver = (): boolean =>
      performance.now() - begunAtMs >= (deps.hasNews() ? JUDGING_MS_WITH_NEWS : JUDGING_MS_MAX);
    let isRetrying = false;
    const judgeAll = async (merges: Merge[]): Promise<void> => {
      for (let next = merges.shift(); next !== undefined; next = isOver() ? undefined : merges.shift()) {
        signal.throwIfAborted();
        if ((await this.judgeOne(next, deps)) === 'retry') isRetrying = true;
      }
    };
    while (waiting.length > 0 && !isOver()) {
      const merges = await this.mergesOf(waiting.splice(0, this.plans.readAheadMax()), deps);
      const ended = await Promise.allSettled(Array.from({ length: JUDGED_AT_ONCE }, () => judgeAll(merges)));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
      if (merges.length > 0) return 'more';
    }
    if (waiting.length > 0) return 'more';
    return isRetrying ? 'retry' : 'all';
  }

  /** What these heads would be merged into; their trees are at hand then, where the host gives them out at once. */
  private async mergesOf(
    pulls: readonly StoredPullRequest[],
    { factory, forge, signal }: JudgingDeps,
  ): Promise<Merge[]> {
    const tip = factory.revisionSeen === undefined ? undefined : commitNamedBy(factory.revisionSeen);
    const mergeOf = async (pull: StoredPullRequest): Promise<Merge> =>
      tip === undefined ? { pull } : { pull, tip, mergeBase: await forge.mergeBase(pull, tip, signal) };
    const merges = await Promise.all(pulls.map(mergeOf));
    const commits = merges.flatMap(({ pull: { head }, mergeBase }) =>
      mergeBase === undefined || tip === undefined || mergeBase === tip ? [head] : [head, mergeBase, tip],
    );
    await this.plans.readAhead(factory, commits, askerOf(factory, signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof RefusalError)) throw error; // too many read: each head finds out for itself
    });
    return merges;
  }

  private async judgeOne(merge: Merge, deps: JudgingDeps): Promise<Outcome> {
    const { factory, signal } = deps;
    const { pull } = merge;
    try {
      return await this.planAndSave(merge, deps);
    } catch (error) {
      signal.throwIfAborted();
      const isRefusal = error instanceof RefusalError;
      // Too many ask, or the repository is away: that says nothing of this head.
      if (isRefusal && (error.status === 429 || error.status === 503)) return 'retry';
      if (!isRefusal) this.log.fault('pull request judging failed', error, { factory: factory.slug });
      return this.giveUpLater(pull, isRefusal ? error.message : 'the service failed on it', deps);
    }
  }

  private async planAndSave({ pull, mergeBase, tip }: Merge, deps: JudgingDeps): Promise<Outcome> {
    const { factory, signal, stored } = deps;
    // Where the name of the pull request is behind what the forge lists, its commit may be there already.
    const ref = pull.attempts === 0 ? `pull/${pull.number}` : pull.head;
    const wanted = { ref, head: pull.head, mergeBase, tip, isForeign: pull.isFork };
    const { commit, contested, plan } = await this.plans.planOfMerge(factory, wanted, askerOf(factory, signal));
    if (commit !== pull.head) return this.giveUpLater(pull, 'its head could not be read', deps);
    const against = factory.revisionApplied;
    const { status, comment } = feedbackOf(plan, {
      factory,
      mark: deps.markOf(pull.number),
      pull,
      against,
      contested,
      isBaseUnknown: tip !== undefined && mergeBase === undefined,
      planUrl: this.planLink(factory.uid, pull.number),
    });
    const isSaid = pull.commentDigest === comment.digest || (pull.commentDigest === undefined && !comment.isWorthy);
    const isSaved = await this.store.saveVerdict(factory.uid, {
      number: pull.number,
      head: pull.head,
      seen: factory.revisionSeen,
      against,
      status,
      comment: isSaid ? undefined : comment,
    });
    if (!isSaved) return 'retry'; // a push, or a pass: what was merged is not what the plan was held against
    stored();
    return 'judged';
  }

  /** Tried again a few times; then nobody is to wait for it any more. */
  private async giveUpLater(
    { number, head }: StoredPullRequest,
    words: string,
    { factory, stored }: JudgingDeps,
  ): Promise<Outcome> {
    if ((await this.store.notJudged(factory.uid, number, head)) < ATTEMPTS_MAX) return 'retry';
    const status = errorStatus(head, number, statusDescription(words));
    const { revisionSeen: seen, revisionApplied: against } = factory;
    await this.store.saveVerdict(factory.uid, { number, head, seen, against, status });
    stored();
    return 'judged';
  }
}

/** Readings for the forge of a factory are those of one asker. */
function askerOf({ uid }: Factory, signal: AbortSignal): { keyId: string; signal: AbortSignal } {
  return { keyId: `forge:${uid}`, signal };
}
