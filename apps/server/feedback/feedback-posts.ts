/**
 * Posts what the forge does not have yet: statuses first, verdicts of heads before everything else, a few at once; then
 * comments, one after another, as forges ask for. One that is not taken, while the forge answers otherwise, holds up no
 * other. contract §9.9 (Feedback in pull requests).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { commentDelayMs, isTerminal, statusContext, type CommitStatus } from '#reconcile';
import { CoalescedTask } from '../process/coalesced-task.ts';
import { bySystem, type AuditChange } from '../store/access/audit.ts';
import type { StoredPullRequest, StoredStatus } from '../store/factories/feedback-rows.ts';
import type { FeedbackStore, PostedRecord, PostRecord } from '../store/factories/feedback.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { semaphore } from '../sync/sources/git/git-session.ts';
import type { Forge } from './forge.ts';
import { ForgeError } from './forge-client.ts';

/** Looked up and written down at once: what is wanted changes while it is posted. */
const STATUSES_TOGETHER = 25;
/** Under way at once: forges refuse at a hundred. */
const STATUSES_AT_ONCE = 4;
/** Looked up at once. */
const COMMENTS_MAX = 100;
/** Between two looks at what statuses there are. */
const COMMENTS_TOGETHER = 5;
/** A comment that is edited too soon is waited for no longer than this before it is looked at statuses. */
const COMMENT_WAIT_MS = 200;
/** A status or comment that the forge refuses so often is not posted any more. */
const REFUSALS_MAX = 3;
/** A status on which the forge breaks so often is given up, too: once in each round. */
const BREAKDOWNS_MAX = 10;
/** After so many in a row that are put off it is not this one and that one any more. */
const PUT_OFF_IN_A_ROW_MAX = 5;

export interface FeedbackPostsDeps {
  factory: Factory;
  /** As the forge names it. */
  repository: string;
  store: Pick<FeedbackStore, 'dueStatuses' | 'statusRefused' | 'statusesPosted' | 'dueComments' | 'commentPosted'>;
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
  private readonly gate = semaphore(STATUSES_AT_ONCE);
  private readonly posting = new CoalescedTask(
    () => this.post(),
    (fault) => (this.fault = fault),
  );
  /** What the forge does not take now, by what it is: not tried again in this round. */
  private readonly putOff = new Map<string, ForgeError>();
  private putOffInARow = 0;
  private forge: Forge | undefined;
  private fault: unknown;
  private isStopped = false;

  constructor(private readonly deps: FeedbackPostsDeps) {}

  /** From now on it is posted there. */
  connect(forge: Forge): void {
    this.forge = forge;
  }

  /** Posts until nothing is due, or something is wrong. Never throws. */
  ask(): Promise<void> {
    return this.posting.ask();
  }

  /** Throws what kept it from posting: ForgeError where the forge takes nothing now, or the reason of the signal. */
  throwFault(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  /** Why something is not taken while the forge takes other things. */
  get reasonToPutOff(): ForgeError | undefined {
    return [...this.putOff.values()][0];
  }

  /** Ends with what is under way. */
  stop(): Promise<void> {
    this.isStopped = true;
    return this.posting.stop();
  }

  private async post(): Promise<void> {
    const { forge } = this;
    if (forge === undefined || this.fault !== undefined) return;
    while (!this.isStopped && ((await this.postStatuses(forge)) || (await this.postComments(forge))))
      this.deps.signal.throwIfAborted();
  }

  /** Answers whether there was one. */
  private async postStatuses(forge: Forge): Promise<boolean> {
    const { factory, store, signal } = this.deps;
    const found = await store.dueStatuses(factory.uid, STATUSES_TOGETHER + this.putOff.size);
    const due = found.filter((status) => !this.putOff.has(nameOf(status))).slice(0, STATUSES_TOGETHER);
    const posted: PostedRecord[] = [];
    let fault: unknown;
    const postNext = async (status: StoredStatus): Promise<void> => {
      if (fault !== undefined || signal.aborted) return;
      try {
        posted.push(...(await this.postStatus(forge, status)));
      } catch (error) {
        fault ??= error;
      }
    };
    await Promise.all(due.map((status) => this.gate(() => postNext(status))));
    if (posted.length > 0) await store.statusesPosted(factory.uid, posted);
    signal.throwIfAborted();
    if (fault !== undefined) throw fault;
    return due.length > 0;
  }

  /** What is to be written down: nothing of one that is tried again. */
  private async postStatus(forge: Forge, status: StoredStatus): Promise<PostedRecord[]> {
    const { factory, store, signal, planUrl, refused } = this.deps;
    const { commit, state, description, number } = status;
    const context = statusContext(factory.slug);
    try {
      await forge.setStatus({ commit, state, description, number, context, targetUrl: planUrl(number) }, signal);
      this.putOffInARow = 0;
    } catch (error) {
      const refusal = await this.ofRequest(forge, error);
      await store.statusRefused(factory.uid, status);
      if (status.attempts + 1 < attemptsMax(refusal)) {
        if (!isRefusal(refusal)) this.putOffOne(nameOf(status), refusal);
        return [];
      }
      refused(`status of ${commit.slice(0, 12)}`, refusal);
      return [{ status }];
    }
    return [{ status, post: isTerminal(state) ? this.statusRecord(status) : undefined }];
  }

  private statusRecord({ commit, number, state }: CommitStatus): PostRecord {
    const where = number === undefined ? '' : ` (pull request ${number})`;
    const message = `${state} was posted to ${this.forgeName()} for ${commit.slice(0, 12)}${where}`;
    return this.record(message, commit, { status: state, number });
  }

  private commentRecord(number: number, id: string): PostRecord {
    const message = `the comment was posted to ${this.forgeName()} on pull request ${number}`;
    return this.record(message, `pull request ${number}`, { comment: id, number });
  }

  private record(message: string, subject: string, details: AuditChange['details']): PostRecord {
    const { factory, repository, newId } = this.deps;
    const change = {
      action: 'feedback.post',
      subject,
      factoryUid: factory.uid,
      details: { forge: this.forgeName(), repository, ...details },
    };
    const event = { id: newId(), type: 'Normal' as const, reason: 'feedback-posted', message };
    return { event, by: bySystem(newId()), change };
  }

  private forgeName(): string {
    return this.deps.factory.source.forge ?? 'the forge';
  }

  /** Answers whether there was one. Those that were edited a moment ago wait. */
  private async postComments(forge: Forge): Promise<boolean> {
    const { factory, store, signal, nowMs } = this.deps;
    const found = await store.dueComments(factory.uid, COMMENTS_MAX + this.putOff.size);
    const due = found.filter((pull) => !this.putOff.has(nameOf(pull)));
    const ready = due.filter(({ commentedAtMs }) => commentDelayMs(commentedAtMs, nowMs()) === 0);
    if (due.length > 0 && ready.length === 0) await sleep(COMMENT_WAIT_MS, undefined, { signal });
    for (const pull of ready.slice(0, COMMENTS_TOGETHER)) {
      signal.throwIfAborted();
      await this.postComment(forge, pull);
    }
    return due.length > 0;
  }

  private async postComment(forge: Forge, pull: StoredPullRequest & { comment: string }): Promise<void> {
    const { factory, store, signal, refused } = this.deps;
    const { number, comment: body, commentId: id, commentDigest: digest = '' } = pull;
    try {
      const posted = await forge.comment(number, { body, id }, signal);
      this.putOffInARow = 0;
      await store.commentPosted(factory.uid, { number, digest, id: posted }, this.commentRecord(number, posted));
    } catch (error) {
      const refusal = await this.ofRequest(forge, error);
      if (!isRefusal(refusal)) return this.putOffOne(nameOf(pull), refusal);
      const refusals = (this.refusals.get(number) ?? 0) + 1;
      this.refusals.set(number, refusals);
      if (refusals < REFUSALS_MAX) return;
      refused(`comment on pull request ${number}`, refusal);
      await store.commentPosted(factory.uid, { number, digest });
    }
  }

  /**
   * The fault of this very request. Throws where the forge takes none: a proxy in its place may answer anything to
   * everything, and a repository that a credential does not see any more is missing like a commit.
   */
  private async ofRequest(forge: Forge, error: unknown): Promise<ForgeError> {
    if (!(error instanceof ForgeError) || error.fault === 'slow-down') throw error;
    await forge.probe(this.deps.signal);
    return error;
  }

  /** Throws where too much is put off. */
  private putOffOne(name: string, reason: ForgeError): void {
    this.putOff.set(name, reason);
    this.putOffInARow += 1;
    if (this.putOffInARow >= PUT_OFF_IN_A_ROW_MAX) throw reason;
  }
}

function nameOf(one: StoredStatus | StoredPullRequest): string {
  return 'commit' in one ? `${one.commit} ${one.version}` : `pull ${one.number}`;
}

/** Whether it will never be taken as it is. */
function isRefusal({ fault }: ForgeError): boolean {
  return fault === 'missing' || fault === 'refused';
}

/** What a credential may not do now, it may do once somebody has mended it. */
function attemptsMax(reason: ForgeError): number {
  if (isRefusal(reason)) return REFUSALS_MAX;
  return reason.fault === 'away' ? BREAKDOWNS_MAX : Number.POSITIVE_INFINITY;
}
