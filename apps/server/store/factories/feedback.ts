/**
 * Pull requests and what is to be said of commits, as rows: what is wanted is stored first and posted from there, so
 * that a forge that is away, or a process that ends, loses nothing. contract §9.9 (Feedback in pull requests).
 */
import type { CommitStatus, OpenPullRequest, PullRequestEnd } from '#reconcile';
import type { Database } from '../database/database.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import { audit, type AuditChange, type ChangedBy } from '../access/audit.ts';
import { recordEvents, type NamedEvent } from './events.ts';
import {
  PULL_COLUMNS,
  savePull,
  STATUS_COLUMNS,
  supersedeBranch,
  toPull,
  toStatus,
  wantStatus,
  type StoredPullRequest,
  type StoredStatus,
} from './feedback-rows.ts';
import type { CommitStatusRow, PullRequestRow } from './feedback.entities.ts';

/** A judgement of one head. `comment` undefined: nothing new is to be said. */
export interface StoredVerdict {
  number: number;
  head: string;
  /** Revisions of the factory that it was held against: what was seen last, and what served. */
  seen?: string;
  against?: string;
  status: CommitStatus;
  comment?: { body: string; digest: string };
}

/** What a look at the open pull requests leaves. */
export interface PollOutcome {
  changed: readonly OpenPullRequest[];
  ended: readonly (Omit<PullRequestEnd, 'base'> & { number: number })[];
  statuses: readonly CommitStatus[];
}

/** How a post is told: to those who look at the factory, and to those who ask who wrote what where. */
export interface PostRecord {
  event: NamedEvent;
  by: ChangedBy;
  change: AuditChange;
}

/** A status that the forge has, or will never have. */
export interface PostedRecord {
  status: StoredStatus;
  post?: PostRecord;
}

/**
 * What has ended is stored for so long: somebody may ask what became of it. What was merged is stored as long as its
 * commit is.
 */
const ENDED_MS = 30 * 86_400_000;
/** Statuses that are posted are forgotten after as long: a forge has them. */
const POSTED_MS = ENDED_MS;

export class FeedbackStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** All that are open, or may be again. */
  async pulls(uid: string): Promise<StoredPullRequest[]> {
    const found = await this.database.run(() =>
      rows<PullRequestRow>(
        `SELECT ${PULL_COLUMNS} FROM pull_request WHERE factory_uid = ? AND state <> 'merged' ORDER BY number`,
        uid,
      ),
    );
    return found.map(toPull);
  }

  /** Open ones, highest number first, from below `before`. */
  async openPulls(uid: string, limit: number, before?: number): Promise<StoredPullRequest[]> {
    const found = await this.database.longRead(() =>
      rows<PullRequestRow>(
        `SELECT ${PULL_COLUMNS} FROM pull_request WHERE factory_uid = ? AND state = 'open' AND number < ? ` +
          'ORDER BY number DESC LIMIT ?',
        uid,
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      ),
    );
    return found.map(toPull);
  }

  /** What a poll found; statuses follow the rules of `follows`. */
  savePoll(uid: string, { changed, ended, statuses }: PollOutcome): Promise<void> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      for (const pull of changed) yield* savePull(uid, pull, nowMs);
      for (const { number, state, mergeCommit = null } of ended)
        yield* change(
          'UPDATE pull_request SET state = ?, merge_commit = ?, comment = NULL, updated_at = ? ' +
            'WHERE factory_uid = ? AND number = ?',
          state,
          mergeCommit,
          nowMs,
          uid,
          number,
        );
      for (const status of statuses) yield* wantStatus(uid, status, nowMs);
      yield* change('UPDATE forge SET polled_at = ? WHERE factory_uid = ?', nowMs, uid);
      yield* change(
        "DELETE FROM pull_request WHERE factory_uid = ? AND state <> 'open' AND updated_at < ? AND (merge_commit IS " +
          'NULL OR merge_commit NOT IN (SELECT revision FROM revision WHERE factory_uid = ?))',
        uid,
        nowMs - ENDED_MS,
        uid,
      );
      yield* change(
        'DELETE FROM commit_status WHERE factory_uid = ? AND posted_version = version AND updated_at < ? ' +
          "AND commit_id NOT IN (SELECT head FROM pull_request WHERE factory_uid = ? AND state = 'open')",
        uid,
        nowMs - POSTED_MS,
        uid,
      );
    });
  }

  /** Of the branch: commits of passes up to `passSeen`. One that waited before them waits no more. */
  saveBranch(uid: string, statuses: readonly CommitStatus[], passSeen: string | undefined): Promise<void> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      for (const status of statuses) yield* wantStatus(uid, status, nowMs);
      const last = statuses.at(-1);
      if (last !== undefined) yield* supersedeBranch(uid, last.commit, nowMs);
      yield* change('UPDATE forge SET pass_seen = ? WHERE factory_uid = ?', passSeen ?? null, uid);
    }, 'lazily');
  }

  /** False where the head has moved meanwhile, or the factory: nothing is written. */
  saveVerdict(uid: string, { number, head, seen, against, status, comment }: StoredVerdict): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const judged = yield* change(
        'UPDATE pull_request SET judged = ?, judged_against = ?, attempts = 0, updated_at = ? ' +
          "WHERE factory_uid = ? AND number = ? AND head = ? AND state = 'open' AND EXISTS (SELECT 1 FROM factory " +
          "WHERE uid = ? AND COALESCE(revision_seen, '') = ? AND COALESCE(revision_applied, '') = ?)",
        head,
        against ?? null,
        nowMs,
        uid,
        number,
        head,
        uid,
        seen ?? '',
        against ?? '',
      );
      if (judged !== 1) return false;
      yield* wantStatus(uid, status, nowMs);
      if (comment !== undefined)
        yield* change(
          'UPDATE pull_request SET comment = ?, comment_digest = ? WHERE factory_uid = ? AND number = ?',
          comment.body,
          comment.digest,
          uid,
          number,
        );
      return true;
    });
  }

  /** It could not be judged this time. Answers how often by now. */
  async notJudged(uid: string, number: number, head: string): Promise<number> {
    const found = await this.database.run(() =>
      row<{ attempts: number }>(
        'UPDATE pull_request SET attempts = attempts + 1 WHERE factory_uid = ? AND number = ? AND head = ? ' +
          'RETURNING attempts',
        uid,
        number,
        head,
      ),
    );
    return found?.attempts ?? 0;
  }

  /**
   * Statuses that the forge does not have. First what somebody waits for: verdicts of heads and of the branch, then
   * that heads are being judged, then everything else; of each the oldest want first. What was not taken before comes
   * last.
   */
  async dueStatuses(uid: string, limit: number): Promise<StoredStatus[]> {
    const found = await this.database.run(() =>
      rows<CommitStatusRow>(
        `SELECT ${STATUS_COLUMNS} FROM commit_status WHERE factory_uid = ? AND posted_version < version ` +
          'ORDER BY CASE WHEN attempts > 0 THEN 1 ELSE 0 END, ' +
          'CASE WHEN number IS NOT NULL AND commit_id NOT IN (SELECT head FROM pull_request ' +
          "WHERE factory_uid = ? AND state = 'open') THEN 2 WHEN state = 'pending' THEN 1 ELSE 0 END, " +
          'attempts, updated_at, commit_id LIMIT ?',
        uid,
        uid,
        limit,
      ),
    );
    return found.map(toStatus);
  }

  /** The latest of each of these commits. */
  async statuses(uid: string, commits: readonly string[]): Promise<Map<string, StoredStatus>> {
    if (commits.length === 0) return new Map();
    const found = await this.database.run(() =>
      rows<CommitStatusRow>(
        `SELECT ${STATUS_COLUMNS} FROM commit_status WHERE factory_uid = ? ` +
          `AND commit_id IN (${commits.map(() => '?').join(', ')})`,
        uid,
        ...commits,
      ),
    );
    return new Map(found.map((each) => [each.commit_id, toStatus(each)]));
  }

  /** The forge has these versions, or will never have them. */
  async statusesPosted(uid: string, posted: readonly PostedRecord[]): Promise<void> {
    await this.database.run(function* () {
      for (const { status, post } of posted) {
        const { commit, version } = status;
        const marked = yield* change(
          'UPDATE commit_status SET posted_version = ?, attempts = 0 WHERE factory_uid = ? AND commit_id = ? ' +
            'AND posted_version < ?',
          version,
          uid,
          commit,
          version,
        );
        if (marked === 1 && post !== undefined) yield* recordPost(uid, post);
      }
    });
  }

  async statusRefused(uid: string, { commit }: StoredStatus): Promise<void> {
    await this.database.run(() =>
      change('UPDATE commit_status SET attempts = attempts + 1 WHERE factory_uid = ? AND commit_id = ?', uid, commit),
    );
  }

  /** Open pull requests whose comment the forge does not have. */
  async dueComments(uid: string, limit: number): Promise<(StoredPullRequest & { comment: string })[]> {
    const found = await this.database.run(() =>
      rows<PullRequestRow & { comment: string }>(
        `SELECT ${PULL_COLUMNS}, comment FROM pull_request WHERE factory_uid = ? AND state = 'open' ` +
          'AND comment IS NOT NULL ORDER BY number LIMIT ?',
        uid,
        limit,
      ),
    );
    return found.map((each) => ({ ...toPull(each), comment: each.comment }));
  }

  /** The forge has it; `id` undefined: it will never take it. One that was wanted meanwhile stays due. */
  async commentPosted(
    uid: string,
    { number, digest, id }: { number: number; digest: string; id?: string },
    post?: PostRecord,
  ): Promise<void> {
    await this.database.run(function* () {
      const nowMs = yield* databaseNow();
      yield* change(
        'UPDATE pull_request SET comment_posted = ?, comment_id = COALESCE(?, comment_id), commented_at = ?, ' +
          'comment = CASE WHEN comment_digest = ? THEN NULL ELSE comment END WHERE factory_uid = ? AND number = ?',
        digest,
        id ?? null,
        nowMs,
        digest,
        uid,
        number,
      );
      if (post !== undefined) yield* recordPost(uid, post);
    });
  }

  /** Statuses and comments that the forge does not have. */
  async waiting(uid: string): Promise<number> {
    const found = await this.database.run(() =>
      row<{ n: number }>(
        'SELECT (SELECT COUNT(*) FROM commit_status WHERE factory_uid = ? AND posted_version < version) + ' +
          "(SELECT COUNT(*) FROM pull_request WHERE factory_uid = ? AND state = 'open' AND comment IS NOT NULL) AS n",
        uid,
        uid,
      ),
    );
    return found?.n ?? 0;
  }
}

function* recordPost(uid: string, { event, by, change: made }: PostRecord): Transaction<void> {
  yield* recordEvents(uid, [event], yield* databaseNow());
  yield* audit(by, made);
}
