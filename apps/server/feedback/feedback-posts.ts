/**
 * Posts what the forge does not have yet: statuses first, verdicts of heads before everything else, then comments. A
 * request at a time, as forges ask for. contract §9.9 (Feedback in pull requests).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { commentDelayMs, isTerminal, postingOrder, statusContext, type CommitStatus } from '#reconcile';
import type { StoredPullRequest, StoredStatus } from '../store/factories/feedback-rows.ts';
import type { NamedEvent } from '../store/factories/events.ts';
import type { FeedbackStore } from '../store/factories/feedback.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { Forge } from './forge.ts';
import { ForgeError } from './forge-client.ts';

/** Looked up at once: what is wanted changes while it is posted. */
const BATCH = 25;
/** A status or comment that the forge refuses so often is not posted any more. */
const REFUSALS_MAX = 3;

export interface FeedbackPostsDeps {
  factory: Factory;
  forge: Forge;
  store: Pick<
    FeedbackStore,
    'pulls' | 'dueStatuses' | 'statusRefused' | 'statusPosted' | 'dueComments' | 'commentPosted'
  >;
  signal: AbortSignal;
  /** Page of a pull request's plan; undefined: people cannot reach it. */
  planUrl(number: number | undefined): string | undefined;
  nowMs(): number;
  newId(): string;
  /** One that the forge will never take. */
  refused(what: string, error: ForgeError): void;
}

export class FeedbackPosts {
  private readonly refusals = new Map<number, number>();

  constructor(private readonly deps: FeedbackPostsDeps) {}

  /** Until nothing is due. Throws ForgeError where the forge takes nothing now, and the reason of the signal. */
  async post(): Promise<void> {
    while ((await this.postStatuses()) || (await this.postComments())) this.deps.signal.throwIfAborted();
  }

  /** Answers whether there was one. */
  private async postStatuses(): Promise<boolean> {
    const { factory, store, signal } = this.deps;
    const due = await store.dueStatuses(factory.uid, BATCH);
    const heads = new Set((await store.pulls(factory.uid)).map(({ head }) => head));
    const ordered = postingOrder(
      due.map((status) => ({ ...status, isHead: status.number === undefined || heads.has(status.commit) })),
    );
    for (const status of ordered) {
      signal.throwIfAborted();
      await this.postStatus(status);
    }
    return due.length > 0;
  }

  private async postStatus(status: StoredStatus): Promise<void> {
    const { factory, forge, store, signal, planUrl, refused } = this.deps;
    const { commit, state, description, number } = status;
    const context = statusContext(factory.slug);
    try {
      await forge.setStatus({ commit, state, description, context, targetUrl: planUrl(number) }, signal);
    } catch (error) {
      if (!isOfRequest(error)) throw error;
      await store.statusRefused(factory.uid, status);
      if (status.attempts + 1 < REFUSALS_MAX) return;
      refused(`status of ${commit.slice(0, 12)}`, error);
      await store.statusPosted(factory.uid, status, undefined);
      return;
    }
    await store.statusPosted(factory.uid, status, isTerminal(state) ? this.postedEvent(status) : undefined);
  }

  private postedEvent({ commit, number, state }: CommitStatus): NamedEvent {
    const { factory, newId } = this.deps;
    const where = number === undefined ? '' : ` (pull request ${number})`;
    const message = `${state} was posted to ${factory.source.forge ?? 'the forge'} for ${commit.slice(0, 12)}`;
    return { id: newId(), type: 'Normal', reason: 'feedback-posted', message: `${message}${where}` };
  }

  private async postComments(): Promise<boolean> {
    const { factory, store, signal, nowMs } = this.deps;
    const due = await store.dueComments(factory.uid, BATCH);
    for (const pull of due) {
      const delayMs = commentDelayMs(pull.commentedAtMs, nowMs());
      if (delayMs > 0) await sleep(delayMs, undefined, { signal });
      signal.throwIfAborted();
      await this.postComment(pull);
    }
    return due.length > 0;
  }

  private async postComment(pull: StoredPullRequest & { comment: string }): Promise<void> {
    const { factory, forge, store, signal, refused } = this.deps;
    const { number, comment: body, commentId: id, commentDigest: digest = '' } = pull;
    try {
      const posted = await forge.comment(number, { body, factoryUid: factory.uid, id }, signal);
      await store.commentPosted(factory.uid, number, digest, posted);
    } catch (error) {
      if (!isOfRequest(error)) throw error;
      const refusals = (this.refusals.get(number) ?? 0) + 1;
      this.refusals.set(number, refusals);
      if (refusals < REFUSALS_MAX) return;
      refused(`comment on pull request ${number}`, error);
      await store.commentPosted(factory.uid, number, digest, undefined);
    }
  }
}

/** Whether it is this very request that is not taken, and not the forge that takes none. */
function isOfRequest(error: unknown): error is ForgeError {
  return error instanceof ForgeError && (error.fault === 'missing' || error.fault === 'refused');
}
