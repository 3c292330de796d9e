/** GitLab: version 4 of its interface. contract §9.9 (Feedback in pull requests). */
import type { PullRequestState } from '../pull-requests.ts';
import type { StatusState } from '../statuses.ts';
import { commitIdIn, FORGE_PAGE_ENTRIES, idIn, listIn, numberIn, objectIn, pullRequestOf, textIn } from './dialect.ts';
import type { ForgeDialect, ForgeRequest, PostedStatus } from './dialect.ts';

const STATES: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  success: 'success',
  failure: 'failed',
  error: 'failed',
  superseded: 'canceled',
};

const PULL_STATES: Readonly<Record<string, PullRequestState>> = {
  opened: 'open',
  // Locked is a moment of merging.
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
};

export const gitlabDialect: ForgeDialect = {
  headers: (token) => ({ accept: 'application/json', authorization: `Bearer ${token}` }),
  listPulls: (repository, base, page) => ({
    method: 'GET',
    path: `${projectOf(repository)}/merge_requests?${new URLSearchParams({
      state: 'opened',
      ...(base === undefined ? {} : { target_branch: base }),
      per_page: String(FORGE_PAGE_ENTRIES),
      page: String(page),
    }).toString()}`,
  }),
  readPulls: (answer) =>
    listIn(answer, (entry) => {
      const { iid, title, author, web_url: url, sha, target_branch: base, ...more } = objectIn(entry);
      const from = numberIn(more['source_project_id']);
      return pullRequestOf({
        number: numberIn(iid),
        title: textIn(title),
        author: textIn(objectIn(author)['username']),
        url: textIn(url),
        head: commitIdIn(sha),
        base: textIn(base),
        isFork: from === undefined || from !== numberIn(more['target_project_id']),
        mergeBase: undefined,
      });
    }),
  pull: (repository, number) => ({ method: 'GET', path: `${projectOf(repository)}/merge_requests/${number}` }),
  readPull: (answer) => {
    const { state, target_branch: target, sha, ...commits } = objectIn(answer);
    const [found, base] = [PULL_STATES[textIn(state) ?? ''], textIn(target)];
    if (found === undefined || base === undefined) return undefined;
    if (found !== 'merged') return { state: found, base };
    // A squash may be merged without a commit of its own; a merge that only moves the branch leaves it at the head.
    const [merge, squash] = [commitIdIn(commits['merge_commit_sha']), commitIdIn(commits['squash_commit_sha'])];
    return { state: found, base, mergeCommit: merge ?? squash ?? commitIdIn(sha) };
  },
  pullCommits: (repository, number, page) => ({
    method: 'GET',
    path: `${projectOf(repository)}/merge_requests/${number}/commits?per_page=${FORGE_PAGE_ENTRIES}&page=${page}`,
  }),
  readPullCommits: (answer) => listIn(answer, (entry) => commitIdIn(objectIn(entry)['id'])),
  mergeBase: (repository, branch, head) => ({
    method: 'GET',
    path: `${projectOf(repository)}/repository/merge_base?${new URLSearchParams([
      ['refs[]', branch],
      ['refs[]', head],
    ]).toString()}`,
  }),
  readMergeBase: (answer) => commitIdIn(objectIn(answer)['id']),
  status: (repository, status) => statusRequest(repository, status),
  listComments: (repository, number, page) => ({
    method: 'GET',
    path:
      `${projectOf(repository)}/merge_requests/${number}/notes` +
      `?sort=asc&order_by=created_at&per_page=${FORGE_PAGE_ENTRIES}&page=${page}`,
  }),
  readComments: (answer) =>
    listIn(answer, (entry) => {
      const { id, body } = objectIn(entry);
      const found = idIn(id);
      return found === undefined ? undefined : { id: found, body: textIn(body) ?? '' };
    }),
  createComment: (repository, number, body) => ({
    method: 'POST',
    path: `${projectOf(repository)}/merge_requests/${number}/notes`,
    body: { body },
  }),
  readComment: (answer) => idIn(objectIn(answer)['id']),
  editComment: (repository, number, id, body) => ({
    method: 'PUT',
    path: `${projectOf(repository)}/merge_requests/${number}/notes/${id}`,
    body: { body },
  }),
  // 400 {"message":"Cannot transition status via :enqueue from :pending (…)"}
  isStatusThere: (answer) => messageIn(answer).startsWith('Cannot transition status via'),
  // 404 {"message":"404 References for commit Not Found"}: of a fork, or pushed away by force. The reference of its
  // merge request has it; that of the fork's branch could be the name of another one here.
  statusOffBranch: (repository, status, answer) =>
    status.number === undefined || !messageIn(answer).includes('References for commit')
      ? undefined
      : statusRequest(repository, status, `refs/merge-requests/${status.number}/head`),
};

function statusRequest(
  repository: string,
  { commit, state, description, context, targetUrl }: PostedStatus,
  ref?: string,
): ForgeRequest {
  return {
    method: 'POST',
    path: `${projectOf(repository)}/statuses/${commit}`,
    body: {
      state: STATES[state],
      description,
      name: context,
      ...(targetUrl === undefined ? {} : { target_url: targetUrl }),
      ...(ref === undefined ? {} : { ref }),
    },
  };
}

function messageIn(answer: unknown): string {
  const { message } = objectIn(answer);
  return typeof message === 'string' ? message : '';
}

/** Groups stand in each other, so the whole path is one segment. */
function projectOf(repository: string): string {
  return `/projects/${encodeURIComponent(repository)}`;
}
