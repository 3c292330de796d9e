/** Which git source and sync policy of a request could be followed, before anybody tries. contract 4 (source), 9 (Git). */
import { membersOf } from '#contracts';
import type { MemberError } from '../http/error-codes.ts';
import { syncPolicyErrors } from './sync-policies.ts';
import { checkGitUrl, isBranchName, normalizeSubfolder } from '../sync/sources/git/git-urls.ts';

/** What no server would take of the source and the policy in the body of a create or a change, each by its pointer. The body may be anything. */
export function factoryRequestErrors(body: unknown): MemberError[] {
  const { source, sync_policy: policy } = membersOf(body);
  return [...sourceErrors(source), ...syncPolicyErrors(policy)];
}

function sourceErrors(source: unknown): MemberError[] {
  const { kind, url, branch, path } = membersOf(source);
  if (kind === 'directory' || kind === 'dashboard') return [];
  // Whether local repositories are allowed, the operator says. Beside a kind that is none, a path may be that of a directory.
  return gitSourceErrors({ url, branch, path: kind === 'git' ? path : undefined }, true);
}

/** Every member of a git source that git could not take; those of a wrong type are passed over. */
export function gitSourceErrors(
  { url, branch, path }: { url?: unknown; branch?: unknown; path?: unknown },
  allowLocal: boolean,
): MemberError[] {
  const address = typeof url === 'string' ? checkGitUrl(url, allowLocal) : undefined;
  return [
    ...(address === undefined || address.ok ? [] : [{ pointer: '/source/url', message: address.message }]),
    ...(typeof branch !== 'string' || isBranchName(branch)
      ? []
      : [{ pointer: '/source/branch', message: 'is not a valid branch name' }]),
    ...(typeof path !== 'string' || normalizeSubfolder(path) !== undefined
      ? []
      : [{ pointer: '/source/path', message: 'must be a plain relative path inside the repository' }]),
  ];
}
