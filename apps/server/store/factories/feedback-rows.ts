/**
 * Pull requests and statuses of commits as values of this program: out of rows, and into them by the rules of what may
 * follow on what. contract §9.9 (Feedback in pull requests).
 */
import {
  follows,
  type CommitStatus,
  type KnownPullRequest,
  type OpenPullRequest,
  type PullRequestState,
  type StatusState,
} from '#reconcile';
import { insertInto } from '../database/table.ts';
import { change, row, rows, type Transaction } from '../database/transactions.ts';
import { COMMIT_STATUS, PULL_REQUEST, type CommitStatusRow, type PullRequestRow } from './feedback.entities.ts';

/** A pull request as it is stored. */
export interface StoredPullRequest extends KnownPullRequest {
  /** Times that it could not be judged since it moved. */
  attempts: number;
  commentDigest?: string;
  /** Digest of the comment that the forge has. */
  commentPosted?: string;
  commentId?: string;
  commentedAtMs?: number;
  /** Whether a comment waits to be posted. */
  hasDueComment: boolean;
  updatedAtMs: number;
}

export interface StoredStatus extends CommitStatus {
  version: number;
  isPosted: boolean;
  attempts: number;
}

export const PULL_COLUMNS = PULL_REQUEST.columns.join(', ');
export const STATUS_COLUMNS = COMMIT_STATUS.columns.join(', ');

/** Of a factory that is deleted, or follows another repository. */
export function* forgetFeedback(uid: string, withForge = true): Transaction<void> {
  for (const table of ['pull_request', 'commit_status', ...(withForge ? ['forge'] : [])])
    yield* change(`DELETE FROM ${table} WHERE factory_uid = ?`, uid);
}

/** New, moved, retitled or open again. */
export function* savePull(uid: string, pull: OpenPullRequest, nowMs: number): Transaction<void> {
  const { number, title, author, url, head, base, isFork, mergeBase = null } = pull;
  const values = [title, author, url, base, isFork ? 1 : 0, mergeBase] as const;
  const found = yield* change(
    'UPDATE pull_request SET title = ?, author = ?, url = ?, base = ?, is_fork = ?, merge_base = ?, ' +
      'attempts = CASE WHEN head = ? THEN attempts ELSE 0 END, ' +
      "judged = CASE WHEN state = 'open' THEN judged ELSE NULL END, head = ?, state = 'open', updated_at = ? " +
      'WHERE factory_uid = ? AND number = ?',
    ...values,
    head,
    head,
    nowMs,
    uid,
    number,
  );
  if (found === 1) return;
  const added = { title, author, url, head, base, is_fork: isFork ? 1 : 0, merge_base: mergeBase };
  const fresh = { factory_uid: uid, number, ...added, state: 'open', attempts: 0, updated_at: nowMs };
  yield* insertInto(PULL_REQUEST, [fresh], { ignoreConflicts: true });
}

/** Stores what a commit's status becomes, unless it says so already, or does not follow on what it said. */
export function* wantStatus(uid: string, status: CommitStatus, nowMs: number): Transaction<void> {
  const { commit, state, description, number = null } = status;
  const before = yield* row<CommitStatusRow>(
    `SELECT ${STATUS_COLUMNS} FROM commit_status WHERE factory_uid = ? AND commit_id = ? FOR UPDATE`,
    uid,
    commit,
  );
  if (!follows(before?.state as StatusState | undefined, state)) return;
  if (before === undefined) {
    const said = { factory_uid: uid, commit_id: commit, number, state, description };
    const fresh = { ...said, version: 1, posted_version: 0, attempts: 0, updated_at: nowMs };
    yield* insertInto(COMMIT_STATUS, [fresh], { ignoreConflicts: true });
    return;
  }
  if (before.state === state && before.description === description) return;
  yield* change(
    'UPDATE commit_status SET state = ?, description = ?, number = ?, version = version + 1, attempts = 0, ' +
      'updated_at = ? WHERE factory_uid = ? AND commit_id = ?',
    state,
    description,
    number,
    nowMs,
    uid,
    commit,
  );
}

/** A pull request out of its row. */
export function toPull(found: PullRequestRow): StoredPullRequest {
  const { number, title, author, url, head, base, attempts } = found;
  return {
    number,
    title,
    author,
    url,
    head,
    base,
    attempts,
    isFork: found.is_fork === 1,
    mergeBase: found.merge_base ?? undefined,
    mergeCommit: found.merge_commit ?? undefined,
    state: found.state as PullRequestState,
    judged: found.judged ?? undefined,
    judgedAgainst: found.judged_against ?? undefined,
    commentDigest: found.comment_digest ?? undefined,
    commentPosted: found.comment_posted ?? undefined,
    commentId: found.comment_id ?? undefined,
    commentedAtMs: found.commented_at ?? undefined,
    hasDueComment: found.comment_digest !== null && found.comment_digest !== found.comment_posted,
    updatedAtMs: found.updated_at,
  };
}

/** A status out of its row. */
export function toStatus(found: CommitStatusRow): StoredStatus {
  return {
    commit: found.commit_id,
    state: found.state as StatusState,
    description: found.description,
    number: found.number ?? undefined,
    version: found.version,
    isPosted: found.posted_version >= found.version,
    attempts: found.attempts,
  };
}

/** Commits of the branch that still wait have one after them now. */
export function* supersedeBranch(uid: string, by: string, nowMs: number): Transaction<void> {
  const waiting = yield* rows<{ commit_id: string }>(
    "SELECT commit_id FROM commit_status WHERE factory_uid = ? AND number IS NULL AND state = 'pending' " +
      'AND commit_id <> ?',
    uid,
    by,
  );
  const description = `superseded by ${by.slice(0, 12)}`;
  for (const { commit_id: commit } of waiting)
    yield* wantStatus(uid, { commit, state: 'superseded', description }, nowMs);
}
