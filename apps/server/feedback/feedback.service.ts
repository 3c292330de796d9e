/**
 * One round of a factory: what the forge lists, what is to be said of it, and what of that the forge does not have yet.
 * One process does it, by a lease; no sync waits for it. contract §9.9 (Feedback in pull requests).
 */
import { readFileSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import {
  branchOf,
  branchStatuses,
  commitsBetween,
  endStatus,
  FORGE_DIALECTS,
  forgeDelayMs,
  forgePlaceOf,
  pullRequestNews,
  supersededBy,
  type CommitStatus,
  type ForgePlace,
  type OpenPullRequest,
} from '#reconcile';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG, IdSource, ProcessIdentity } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { Scheduler } from '../schedules/schedules.service.ts';
import { SecretReader } from '../secrets/secret-reader.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { StoredPullRequest } from '../store/factories/feedback-rows.ts';
import { FeedbackStore, type PollOutcome } from '../store/factories/feedback.ts';
import { ForgeStore, type ForgeCondition } from '../store/factories/forge-conditions.ts';
import { FeedbackPosts } from './feedback-posts.ts';
import { Forge } from './forge.ts';
import { ForgeClient, ForgeError } from './forge-client.ts';
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
/** Ended pull requests that are asked for in one round. */
const ENDED_MAX = 50;
/** Passes whose commits get their status, should nobody have looked for long. */
const PASSES_MAX = 50;

/** A factory whose source names a forge. */
interface Answered {
  factory: Factory;
  place: ForgePlace;
  condition: ForgeCondition;
  news: FeedbackNews;
}

/** What a poll found, beside what was found before. */
interface PollFindings {
  stored: readonly StoredPullRequest[];
  changed: readonly OpenPullRequest[];
  /** Of all that are open. */
  heads: ReadonlySet<string>;
}

/** What is known of the forge without having asked it. */
export interface FeedbackNews {
  /** Somebody knows of news: no interval is waited for. */
  isAsked: boolean;
  /** Whether there has been more since. */
  isAskedAgain(): boolean;
}

@Injectable()
export class FeedbackService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly forges: ForgeStore,
    private readonly store: FeedbackStore,
    private readonly judge: PullRequestJudge,
    private readonly secrets: SecretReader,
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
      return await this.answer({ factory, place, condition, news }, signal);
    } finally {
      clearInterval(renewing);
      await this.forges.release(uid, owner);
    }
  }

  private async answer(answered: Answered, signal: AbortSignal): Promise<number> {
    const { factory, condition } = answered;
    await this.saveBranch(factory, condition);
    const nowMs = this.clock.nowMs();
    if (condition.retryAtMs > nowMs) return condition.retryAtMs - nowMs;
    const everyMs = Math.max(POLL_MS_MIN, (factory.source.interval ?? 0) * 1_000 || this.config.syncIntervalMs);
    const isDue = (condition.polledAtMs ?? Number.NEGATIVE_INFINITY) + everyMs <= nowMs;
    try {
      const forge = await this.open(answered);
      if (isDue || answered.news.isAsked || condition.failures > 0) await this.poll(answered, forge, signal);
      const result = await this.judgeAndPost(answered, forge, signal);
      if (condition.failures > 0) await this.healed(factory);
      return result === 'more' ? 0 : result === 'retry' ? RETRY_MS : everyMs;
    } catch (error) {
      if (error instanceof ForgeError) return this.failed(answered, error);
      throw error;
    }
  }

  /** Throws ForgeError where there is no token, or none for this host. */
  private async open({ factory, place }: Answered): Promise<Forge> {
    const { config, clock } = this;
    const name = factory.source.forgeSecret ?? '';
    const released = await this.secrets.valueFor(factory.uid, name, { use: 'forge', url: place.api });
    if (!released.ok)
      throw new ForgeError(
        'denied',
        released.reason === 'host' ? released.message : `the secret ${name} has no value, or is not granted for forge`,
      );
    const token = Buffer.from(released.value).toString('utf8').trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw new ForgeError('denied', `the secret ${name} is no token of a forge`);
    const dialect = FORGE_DIALECTS[place.forge];
    const client = new ForgeClient({
      api: place.api,
      headers: dialect.headers(token),
      token,
      ca: config.gitCaFile === undefined ? undefined : readFileSync(config.gitCaFile, 'utf8'),
      allowLocal: config.allowLocalSources,
      nowMs: () => clock.nowMs(),
    });
    return new Forge(client, dialect, place.repository);
  }

  /** What passes brought since the last round, whether the forge is there or not. */
  private async saveBranch(factory: Factory, { passSeen }: ForgeCondition): Promise<void> {
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
    for (const number of news.gone.slice(0, ENDED_MAX)) {
      const { state, base } = await forge.pull(number, signal);
      if (state === 'open' && base === branch) continue; // moved from one page to another while they were read
      const head = stored.find((pull) => pull.number === number)?.head;
      ended.push({ number, state: state === 'open' ? 'closed' : state });
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
    const statuses: CommitStatus[] = [];
    for (const { number, head } of changed) {
      const before = stored.find((pull) => pull.number === number)?.head ?? head;
      if (before === head) continue;
      const commits = commitsBetween(await forge.pullCommits(number, signal), before, head);
      for (const commit of commits) if (!heads.has(commit)) statuses.push(supersededBy(commit, head, number));
    }
    return statuses;
  }

  /** Posts while it judges: what somebody waits for is not held up by what is still being read. */
  private async judgeAndPost({ factory, news }: Answered, forge: Forge, signal: AbortSignal): Promise<JudgingResult> {
    const { store, clock, ids, log } = this;
    const posts = new FeedbackPosts({
      factory,
      forge,
      store,
      signal,
      planUrl: (number) => this.judge.planLink(factory.uid, number),
      nowMs: () => clock.nowMs(),
      newId: () => ids.newId(),
      refused: (what, error) =>
        log.warn('feedback refused', { factory: factory.slug, what, fault: error.fault, message: error.message }),
    });
    let fault: unknown;
    const posting = new Scheduler(
      async () => (fault === undefined ? posts.post() : undefined),
      (error) => (fault ??= error),
    );
    void posting.ask();
    const stored = (): void => void posting.ask();
    const judging = this.judge.judge({ factory, forge, signal, stored, hasNews: () => news.isAskedAgain() });
    await judging.catch(() => undefined); // thrown below, once nothing is being posted
    await posting.ask();
    if (fault !== undefined) throw fault;
    return judging;
  }

  private async failed({ factory, place, condition }: Answered, error: ForgeError): Promise<number> {
    const { fault, message, retryAfterMs } = error;
    const failures = condition.failures + 1;
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
