/**
 * One round of a factory: what the forge lists, what is to be said of it, and what of that the forge does not have yet.
 * It looks again as long as there is news, and posts meanwhile. One process does it, by a lease; no sync waits for it.
 * contract §9.9 (Feedback in pull requests).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  branchOf,
  branchStatuses,
  commentMark,
  commitsBetween,
  endStatus,
  forgeDelayMs,
  forgePlaceOf,
  pullRequestNews,
  supersededBy,
  type CommitStatus,
  type ForgePlace,
  type OpenPullRequest,
} from '#reconcile';
import type { Config } from '../config/config.ts';
import { Installation } from '../keys/installation.ts';
import { Clock, CONFIG, IdSource, ProcessIdentity } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { StoredPullRequest } from '../store/factories/feedback-rows.ts';
import { FeedbackStore, type PollOutcome } from '../store/factories/feedback.ts';
import { ForgeStore, type ForgeCondition } from '../store/factories/forge-conditions.ts';
import type { FeedbackNews } from './feedback-loop.ts';
import { FeedbackPosts } from './feedback-posts.ts';
import type { Forge } from './forge.ts';
import { ForgeError } from './forge-client.ts';
import { ForgeConnections } from './forge-connections.ts';
import { PullRequestJudge, type JudgingResult } from './pull-request-judge.ts';

/** Of a process that ends without giving it back, others take over after so long. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
/** Another process is at it. */
const HELD_MS = 15_000;
/** What could not be judged now is tried again. */
const RETRY_MS = 5_000;
/** A forge is asked no more often by time alone, however short the interval of the source is. */
const POLL_MS_MIN = 10_000;
/** News within this long are one look. */
export const LOOK_EVERY_MS = 1_000;
/** After so long others have their turn, whatever news there is. */
const ROUND_MS_MAX = 60_000;
/** Ended pull requests that are asked for in one round. */
const ENDED_MAX = 50;
/** Passes whose commits get their status, should nobody have looked for long. */
const PASSES_MAX = 50;

/** A factory whose source names a forge. */
interface Answered {
  factory: Factory;
  place: ForgePlace;
  condition: ForgeCondition;
}

/** What goes on in one round. */
interface Round {
  news: FeedbackNews;
  posts: FeedbackPosts;
  signal: AbortSignal;
}

/** What a poll found, beside what was found before. */
interface PollFindings {
  stored: readonly StoredPullRequest[];
  changed: readonly OpenPullRequest[];
  /** Of all that are open. */
  heads: ReadonlySet<string>;
}

@Injectable()
export class FeedbackService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly forges: ForgeStore,
    private readonly store: FeedbackStore,
    private readonly judge: PullRequestJudge,
    private readonly connections: ForgeConnections,
    private readonly installation: Installation,
    @Inject(CONFIG) private readonly config: Config,
    private readonly process: ProcessIdentity,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {}

  /** Milliseconds until the next one; undefined: the factory has no forge. Throws the reason of the signal. */
  async run(uid: string, news: FeedbackNews, stopping: AbortSignal): Promise<number | undefined> {
    const factory = await this.factories.find(uid);
    const place = factory && forgePlaceOf(factory.source);
    if (factory === undefined || place === undefined) return undefined;
    const { owner } = this.process;
    const isAsked = news.take();
    const condition = await this.forges.acquire(uid, JSON.stringify(place), owner, LEASE_MS);
    if (condition === undefined) return HELD_MS;
    const lost = new AbortController();
    const renewing = setInterval(() => {
      void this.forges.renew(uid, owner, LEASE_MS).then(
        (isOurs) => isOurs || lost.abort(new Error('another process answers the pull requests of this factory')),
        () => undefined, // a database that is away ends the round by itself
      );
    }, RENEW_MS).unref();
    try {
      const signal = AbortSignal.any([stopping, lost.signal]);
      return await this.answer({ factory, place, condition }, isAsked, news, signal);
    } finally {
      clearInterval(renewing);
      await this.forges.release(uid, owner);
    }
  }

  private async answer(answered: Answered, isAsked: boolean, news: FeedbackNews, signal: AbortSignal): Promise<number> {
    await this.saveBranch(answered);
    const nowMs = this.clock.nowMs();
    if (answered.condition.retryAtMs > nowMs) return answered.condition.retryAtMs - nowMs;
    const posts = this.postsOf(answered, signal);
    try {
      return await this.lookAndPost(answered, isAsked, { news, posts, signal });
    } catch (error) {
      if (error instanceof ForgeError) return await this.failed(answered, error);
      throw error;
    } finally {
      await posts.stop();
    }
  }

  /** Until nothing is left to be said, or the factory is another one. Milliseconds until the next round. */
  private async lookAndPost(first: Answered, isFirstAsked: boolean, round: Round): Promise<number> {
    const { news, posts, signal } = round;
    const endAtMs = performance.now() + ROUND_MS_MAX;
    let answered: Answered | undefined = first;
    let isAsked = isFirstAsked || this.isDue(first);
    for (;;) {
      const beganAtMs = performance.now();
      const result = await this.look(answered, isAsked, round);
      const posted = posts.ask();
      // What somebody waits for is not held up by what is still being posted.
      const isPosted = result !== 'more' && (await news.endsFirst(posted));
      posts.throwFault();
      const putOff = posts.reasonToPutOff;
      if (isPosted && putOff === undefined && answered.condition.failures > 0) await this.healed(answered.factory);
      const isLeft = result === 'more' || news.isThere;
      if (!isLeft && putOff !== undefined) return await this.failed(answered, putOff, 1);
      if (!isLeft) return result === 'retry' ? RETRY_MS : this.intervalMs(answered);
      if (performance.now() >= endAtMs) return 0;
      await sleep(Math.max(0, beganAtMs + LOOK_EVERY_MS - performance.now()), undefined, { signal });
      isAsked = news.take();
      answered = await this.again(answered);
      if (answered === undefined) return 0;
    }
  }

  /** The same factory by now; undefined where its forge or its credential is another one. */
  private async again({ factory, place }: Answered): Promise<Answered | undefined> {
    const [now, condition] = await Promise.all([this.factories.find(factory.uid), this.forges.condition(factory.uid)]);
    if (now === undefined || condition === undefined) return undefined;
    if (now.slug !== factory.slug || JSON.stringify(now.source) !== JSON.stringify(factory.source)) return undefined;
    const answered = { factory: now, place, condition };
    await this.saveBranch(answered);
    return answered;
  }

  private async look(answered: Answered, isAsked: boolean, { news, posts, signal }: Round): Promise<JudgingResult> {
    const { factory, place, condition } = answered;
    const forge = await this.connections.open(factory, place, signal);
    posts.connect(forge);
    void posts.ask();
    if (isAsked || condition.failures > 0) await this.poll(answered, forge, signal);
    void posts.ask();
    const stored = (): void => void posts.ask();
    const markOf = (number: number): string => commentMark(this.installation.uidKey, factory.uid, number);
    return this.judge.judge({ factory, forge, signal, stored, markOf, hasNews: () => news.isThere });
  }

  private isDue(answered: Answered): boolean {
    const { polledAtMs = Number.NEGATIVE_INFINITY } = answered.condition;
    return polledAtMs + this.intervalMs(answered) <= this.clock.nowMs();
  }

  private intervalMs({ factory }: Answered): number {
    return Math.max(POLL_MS_MIN, (factory.source.interval ?? 0) * 1_000 || this.config.syncIntervalMs);
  }

  /** What passes brought since the last round, whether the forge is there or not. */
  private async saveBranch({ factory, condition: { passSeen } }: Answered): Promise<void> {
    const { uid, revisionSeen: seen, revisionApplied: applied, condition } = factory;
    const passes = await this.factories.passes(uid, PASSES_MAX);
    const fresh = passSeen === undefined ? [] : passes.filter(({ id }) => id > passSeen).toReversed();
    const { ending, reason, message } = condition;
    const statuses = branchStatuses(fresh, { seen, applied, ending, reason, message });
    await this.store.saveBranch(uid, statuses, passes[0]?.id ?? passSeen ?? '');
  }

  private async poll({ factory }: Answered, forge: Forge, signal: AbortSignal): Promise<void> {
    const branch = branchFollowed(factory);
    if (branch === undefined) return; // nothing was read of the repository yet
    const listed = await forge.openPulls(branch, signal);
    const stored = await this.store.pulls(factory.uid);
    const news = pullRequestNews(stored, listed, { branch, applied: factory.revisionApplied });
    const ended: PollOutcome['ended'][number][] = [];
    // Not every forge tells branches apart in its list.
    const heads = new Set(listed.filter(({ base }) => base === branch).map(({ head }) => head));
    const statuses = [
      ...news.statuses,
      ...(await this.between({ stored, changed: news.changed, heads }, forge, signal)),
    ];
    const gone = news.gone.slice(0, ENDED_MAX);
    const ends = await Promise.all(gone.map(async (number) => ({ number, ...(await forge.pull(number, signal)) })));
    for (const { number, state, base, mergeCommit } of ends) {
      if (state === 'open' && base === branch) continue; // moved from one page to another while they were read
      const head = stored.find((pull) => pull.number === number)?.head;
      ended.push({ number, state: state === 'open' ? 'closed' : state, mergeCommit });
      if (head !== undefined && !heads.has(head)) statuses.push(endStatus(head, number, state));
    }
    await this.store.savePoll(factory.uid, { changed: news.changed, ended, statuses });
  }

  /** Commits that never were a head when somebody looked. */
  private async between(
    { stored, changed, heads }: PollFindings,
    forge: Forge,
    signal: AbortSignal,
  ): Promise<CommitStatus[]> {
    const before = new Map(stored.map(({ number, head }) => [number, head]));
    const moved = changed.filter(({ number, head }) => (before.get(number) ?? head) !== head);
    const statuses = moved.map(async ({ number, head }) => {
      const commits = commitsBetween(await forge.pullCommits(number, signal), before.get(number) ?? head, head);
      return commits.filter((commit) => !heads.has(commit)).map((commit) => supersededBy(commit, head, number));
    });
    return (await Promise.all(statuses)).flat();
  }

  private postsOf({ factory, place }: Answered, signal: AbortSignal): FeedbackPosts {
    const { store, clock, ids, log } = this;
    return new FeedbackPosts({
      factory,
      repository: place.repository,
      store,
      signal,
      planUrl: (number) => this.judge.planLink(factory.uid, number),
      nowMs: () => clock.nowMs(),
      newId: () => ids.newId(),
      refused: (what, error) =>
        log.warn('feedback refused', { factory: factory.slug, what, fault: error.fault, message: error.message }),
    });
  }

  private async failed(
    { factory, place, condition }: Answered,
    error: ForgeError,
    failures = condition.failures + 1,
  ): Promise<number> {
    const { fault, message, retryAfterMs } = error;
    if (fault === 'denied') this.connections.forget(factory.uid);
    const delayMs = Math.round(forgeDelayMs(fault, { failures, retryAfterMs, random01: Math.random() }));
    this.log.warn('forge request failed', { factory: factory.slug, fault, message, retry_in_ms: delayMs });
    await this.forges.faulted(
      factory.uid,
      { fault, message, delayMs },
      {
        id: this.ids.newId(),
        type: 'Warning',
        reason: 'forge-fault',
        message: `${place.forge} takes no feedback (${fault}): ${message}`,
      },
    );
    return delayMs;
  }

  private async healed(factory: Factory): Promise<void> {
    await this.forges.answered(factory.uid, {
      id: this.ids.newId(),
      type: 'Normal',
      reason: 'forge-back',
      message: `${factory.source.forge ?? 'the forge'} takes feedback again`,
    });
  }
}

/** As the source says, or as the repository's HEAD named it last. */
function branchFollowed({ source, revisionSeen }: Factory): string | undefined {
  const { branch } = source;
  if (typeof branch === 'string') return branch;
  const seen = revisionSeen === undefined ? '' : branchOf(revisionSeen);
  return seen === '' ? undefined : seen;
}
