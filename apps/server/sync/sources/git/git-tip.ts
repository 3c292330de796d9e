/** Where a branch stands at its remote, for the price of one ref advertisement, or why it stands nowhere. contract 9 */
import { readAdvertisement } from './git-objects.ts';
import type { GitSession } from './git-session.ts';
import { isBranchName } from './git-urls.ts';
import type { GitAddress } from './git-urls.ts';
import { SourceUnavailableError } from '../source.ts';

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
