/**
 * Where a branch stands at its remote, and how its tip follows on the revision that was accepted before it: what is
 * new, what is lost, and whether history was rewritten. contract §9
 */
import { isBranchName } from '#reconcile';
import { COMMITS_MAX, type History, SourceUnavailableError } from '../source.ts';
import { commitOf, formatOf, revisionOf, readAdvertisement } from './git-objects.ts';
import type { GitSession } from './git-session.ts';
import type { GitAddress } from './git-urls.ts';

/** One object name with its line end, in bytes; SHA-256 has the longer ones. */
const OBJECT_LINE_BYTES = 65;
/** What `cat-file` or `rev-list --count` says in one line, in bytes. */
const LINE_BYTES_MAX = 200;

export interface Branching {
  gitDir: string;
  branch: string;
  /** The tip; everything that it descends from has been fetched. */
  commit: string;
  /** Revision that was last accepted, of whatever source. */
  accepted?: string;
}

/** Compares with the cache alone: commits and trees are fetched whole, whatever files are left out. */
export async function readHistory(session: GitSession, branching: Branching): Promise<History | undefined> {
  const { gitDir, commit } = branching;
  const before = acceptedCommit(branching);
  if (before === commit) return undefined;
  if (before === undefined) return { commits: await commitsOf(session, gitDir, [commit]), lost: [] };
  if (!(await isHeld(session, branching, before))) return withoutTrace(session, branching, before);
  const commits = await commitsOf(session, gitDir, [commit, `^${before}`]);
  const lost = await commitsOf(session, gitDir, [before, `^${commit}`]);
  if (lost.length === 0) return { commits, lost };
  const rewrittenFrom = branching.accepted as string;
  if (lost.length < COMMITS_MAX) return { commits, lost, rewrittenFrom };
  return { commits: await commitsOf(session, gitDir, [commit]), lost, lostPartly: true, rewrittenFrom };
}

/** The accepted commit, if it is of the same branch: to follow another branch rewrites nothing. */
function acceptedCommit({ branch, accepted }: Branching): string | undefined {
  const commit = accepted === undefined ? undefined : commitOf(accepted);
  return commit !== undefined && accepted === revisionOf(branch, commit) ? commit : undefined;
}

/** Whether the cache has a commit. A name of the other hash would be read as the beginning of one of this. */
async function isHeld(session: GitSession, { gitDir, commit }: Branching, before: string): Promise<boolean> {
  if (formatOf(before) !== formatOf(commit)) return false;
  const answer = await session.read(gitDir, ['cat-file', '--batch-check'], LINE_BYTES_MAX, `${before}\n`);
  return answer.toString('latin1').startsWith(`${before} commit `);
}

/**
 * The accepted commit is not there any more. The tip does not descend from it if the cache has all that the tip
 * descends from: a walk to the first commit shows that, or fails, upon which the cache is fetched anew. A hole in a
 * cache is never taken for a rewrite.
 */
async function withoutTrace(
  session: GitSession,
  { gitDir, commit, accepted }: Branching,
  before: string,
): Promise<History> {
  await session.read(gitDir, ['rev-list', '--count', commit, '--'], LINE_BYTES_MAX);
  return {
    commits: await commitsOf(session, gitDir, [commit]),
    lost: [before],
    lostPartly: true,
    rewrittenFrom: accepted as string,
  };
}

/** The newest commits of a range, newest first. Fails on a commit that is missing: nothing is fetched for it. */
async function commitsOf(session: GitSession, gitDir: string, range: readonly string[]): Promise<string[]> {
  const answer = await session.read(
    gitDir,
    ['rev-list', `--max-count=${COMMITS_MAX}`, ...range, '--'],
    COMMITS_MAX * OBJECT_LINE_BYTES,
  );
  return answer
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
}

export interface BranchTip {
  branch: string;
  commit: string;
}

/** What to look for; without a branch, the one that the remote's HEAD names. */
export interface FollowedBranch {
  address: GitAddress;
  branch?: string;
}

/** `git ls-remote --exit-code` when no ref matches. */
const EXIT_NO_MATCH = 2;

/** Stands in for a repository where a command needs none, so that none is found by looking around. */
const NO_REPOSITORY = '/dev/null';

/** The branch and its commit as the remote advertises them; costs one ref advertisement. */
export async function resolveTip(session: GitSession, place: FollowedBranch): Promise<BranchTip> {
  const ref = place.branch === undefined ? 'HEAD' : `refs/heads/${place.branch}`;
  const output = await session.ask(NO_REPOSITORY, ['ls-remote', '--exit-code', '--symref', place.address.url, ref]);
  if (output.ended === 'exit' && output.exitCode === EXIT_NO_MATCH) throw await explainMissing(session, place);
  if (output.ended !== 'exit' || output.exitCode !== 0) throw session.failureOf(output);
  const { refs, headBranch } = readAdvertisement(output.stdout.toString('utf8'));
  const branch = place.branch ?? headBranch;
  const commit = refs.get(ref);
  if (branch === undefined)
    throw new SourceUnavailableError('branch-missing', "the repository's HEAD names no branch; name one");
  if (commit === undefined || !isBranchName(branch)) throw await explainMissing(session, place);
  return { branch, commit };
}

/** Nothing matched: a repository without any branch is empty, another one lost this branch. */
async function explainMissing(session: GitSession, place: FollowedBranch): Promise<SourceUnavailableError> {
  const heads = await session.ask(NO_REPOSITORY, ['ls-remote', '--exit-code', '--heads', place.address.url]);
  if (heads.ended === 'exit' && heads.exitCode === EXIT_NO_MATCH) {
    return new SourceUnavailableError(
      'empty',
      'the repository has no commit yet, or what answers there is no git server',
    );
  }
  if (heads.ended === 'exit' && heads.exitCode !== 0) return session.failureOf(heads);
  const branch =
    place.branch === undefined ? "the branch that the repository's HEAD names" : `the branch "${place.branch}"`;
  return new SourceUnavailableError('branch-missing', `${branch} does not exist in the repository`);
}
