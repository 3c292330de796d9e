/**
 * What a look at the open pull requests of a repository means: which heads are to be judged, which commits are
 * superseded, which pull requests have ended. contract §9.9 (Feedback in pull requests).
 */
import { statusDescription, type CommitStatus } from './statuses.ts';

/** An open pull request as its forge tells of it. All texts are foreign. */
export interface OpenPullRequest {
  number: number;
  title: string;
  author: string;
  /** Its page at the forge; empty where the forge tells none. */
  url: string;
  /** Commit ID. */
  head: string;
  /** Branch that it is to be merged into. */
  base: string;
  /** Whether its head is of another repository, or of one that is gone. */
  isFork: boolean;
  /** Last commit that it has in common with its base, where the forge tells one. */
  mergeBase?: string;
}

export type PullRequestState = 'open' | 'merged' | 'closed';

/** What became of a pull request, as its forge tells it. */
export interface PullRequestEnd {
  state: PullRequestState;
  /** Branch that it is for now. */
  base: string;
  /** Of a merged one the newest commit that the branch got by it, whichever way it was merged. */
  mergeCommit?: string;
}

/** A pull request as it was left last. */
export interface KnownPullRequest extends OpenPullRequest {
  state: PullRequestState;
  /** The head that was judged last. */
  judged?: string;
  /** Revision that served when it was judged; undefined: none did, or it was not judged. */
  judgedAgainst?: string;
  /** Of a merged one. */
  mergeCommit?: string;
}

/**
 * The pull requests that a commit of the branch goes back to, of those that came together with it: the one that it is
 * the head or the merge of, else all of them, because they became part of the branch in one step as far as was seen.
 */
export function broughtIn<Merged extends Pick<KnownPullRequest, 'head' | 'mergeCommit'>>(
  commit: string,
  cameTogether: readonly Merged[],
): readonly Merged[] {
  const own = cameTogether.filter(({ head, mergeCommit }) => mergeCommit === commit || head === commit);
  return own.length > 0 ? own : cameTogether;
}

/** What the pull requests are held against. */
export interface FollowedState {
  /** Branch that the factory follows. */
  branch: string;
  /** Revision that serves. */
  applied?: string;
}

/** What is to be stored and said after a look. */
export interface PullRequestNews {
  /** New, moved, retitled or open again. */
  changed: OpenPullRequest[];
  /** Were open, and are not among the open ones any more: merged, closed, or for another branch now. */
  gone: number[];
  statuses: CommitStatus[];
}

/** What a look brings. Pull requests for other branches are none of the factory's business. Pure. */
export function pullRequestNews(
  known: readonly KnownPullRequest[],
  seen: readonly OpenPullRequest[],
  { branch }: FollowedState,
): PullRequestNews {
  const before = new Map(known.map((each) => [each.number, each]));
  const mine = seen.filter(({ base }) => base === branch);
  const open = new Set(mine.map(({ number }) => number));
  const changed = mine.filter((each) => isNews(before.get(each.number), each));
  const gone = known.filter(({ number, state }) => state === 'open' && !open.has(number)).map(({ number }) => number);
  const heads = new Set(mine.map(({ head }) => head));
  // What one pull request has left may be the head of another.
  const statuses = changed
    .flatMap((each) => headStatuses(before.get(each.number), each))
    .filter(({ commit, state }) => state !== 'superseded' || !heads.has(commit));
  return { changed, gone, statuses };
}

/** Whether a head waits to be judged: for the first time, or because something else serves by now. */
export function isToBeJudged({ state, head, judged, judgedAgainst }: KnownPullRequest, applied?: string): boolean {
  return state === 'open' && (judged !== head || judgedAgainst !== applied);
}

/** Pull requests that wait to be judged: new heads first, those of long-known numbers last. */
export function judgingOrder(known: readonly KnownPullRequest[], applied?: string): KnownPullRequest[] {
  const waits = known.filter((each) => isToBeJudged(each, applied));
  const isNew = ({ head, judged }: KnownPullRequest): number => (judged === head ? 1 : 0);
  return waits.toSorted((left, right) => isNew(left) - isNew(right) || right.number - left.number);
}

/** A head that was not judged when its pull request ended. */
export function endStatus(commit: string, number: number, state: PullRequestState): CommitStatus {
  const description =
    state === 'merged'
      ? 'merged before it was judged: see the status of the merged commit'
      : state === 'closed'
        ? 'the pull request was closed before it was judged'
        : 'the pull request is for another branch now';
  return { commit, number, state: 'superseded', description };
}

/** A commit that never was a head that was judged. */
export function supersededBy(commit: string, head: string, number: number): CommitStatus {
  return { commit, number, state: 'superseded', description: `superseded by ${head.slice(0, 12)}` };
}

/**
 * The commits of a pull request that came after `before`, its newest left out: pushed together with it, or between two
 * looks. `commits` from either end; all of them where `before` is not among them, as after a forced push. Pure.
 */
export function commitsBetween(commits: readonly string[], before: string, head: string): string[] {
  const oldestFirst = commits[0] === head ? commits.toReversed() : commits;
  return oldestFirst.slice(oldestFirst.indexOf(before) + 1).filter((commit) => commit !== head);
}

/** A head that is about to be judged. */
export function pendingStatus(commit: string, number: number): CommitStatus {
  return { commit, number, state: 'pending', description: statusDescription('the plan is being made') };
}

function isNews(before: KnownPullRequest | undefined, now: OpenPullRequest): boolean {
  if (before === undefined || before.state !== 'open') return true;
  const members = ['title', 'author', 'url', 'head', 'base', 'isFork'] as const;
  return members.some((member) => before[member] !== now[member]);
}

function headStatuses(before: KnownPullRequest | undefined, now: OpenPullRequest): CommitStatus[] {
  const isMoved = before !== undefined && before.head !== now.head;
  return [...(isMoved ? [supersededBy(before.head, now.head, now.number)] : []), pendingStatus(now.head, now.number)];
}
