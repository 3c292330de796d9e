/** GitHub and GitHub Enterprise Server: REST, version 2022-11-28. contract §9.9 (Feedback in pull requests). */
import type { StatusState } from '../statuses.ts';
import {
  commitIdIn,
  FORGE_PAGE_ENTRIES,
  idIn,
  listIn,
  numberIn,
  objectIn,
  pullRequestOf,
  textIn,
  type ForgeDialect,
} from './dialect.ts';

/** What is over without a verdict is no success: a rule that asks for this status must not let it through. */
const STATES: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  success: 'success',
  failure: 'failure',
  error: 'error',
  superseded: 'error',
};

export const githubDialect: ForgeDialect = {
  headers: (token) => ({
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    authorization: `Bearer ${token}`,
  }),
  listPulls: (repository, base, page) => ({
    method: 'GET',
    path: `/repos/${repository}/pulls?${new URLSearchParams({
      state: 'open',
      ...(base === undefined ? {} : { base }),
      per_page: String(FORGE_PAGE_ENTRIES),
      page: String(page),
    }).toString()}`,
  }),
  readPulls: (answer) =>
    listIn(answer, (entry) => {
      const { number, title, user, html_url: url, head, base } = objectIn(entry);
      const [from, to] = [objectIn(head), objectIn(base)];
      const [fromId, toId] = [from, to].map(({ repo }) => objectIn(repo)['id']);
      return pullRequestOf({
        number: numberIn(number),
        title: textIn(title),
        author: textIn(objectIn(user)['login']),
        url: textIn(url),
        head: commitIdIn(from['sha']),
        base: textIn(to['ref']),
        isFork: fromId === undefined || fromId !== toId,
        mergeBase: undefined,
      });
    }),
  pull: (repository, number) => ({ method: 'GET', path: `/repos/${repository}/pulls/${number}` }),
  readPull: (answer) => {
    const { state, merged, base, merge_commit_sha: mergeCommit } = objectIn(answer);
    const ref = textIn(objectIn(base)['ref']);
    if (ref === undefined || (state !== 'open' && state !== 'closed')) return undefined;
    if (state === 'open' || merged !== true) return { state, base: ref };
    // Of a squash the one commit, of a rebase the last of them.
    return { state: 'merged', base: ref, mergeCommit: commitIdIn(mergeCommit) };
  },
  pullCommits: (repository, number, page) => ({
    method: 'GET',
    path: `/repos/${repository}/pulls/${number}/commits?per_page=${FORGE_PAGE_ENTRIES}&page=${page}`,
  }),
  readPullCommits: (answer) => listIn(answer, (entry) => commitIdIn(objectIn(entry)['sha'])),
  mergeBase: (repository, branch, head) => ({
    method: 'GET',
    path: `/repos/${repository}/compare/${branch}...${head}?per_page=1`,
  }),
  readMergeBase: (answer) => commitIdIn(objectIn(objectIn(answer)['merge_base_commit'])['sha']),
  status: (repository, { commit, state, description, context, targetUrl }) => ({
    method: 'POST',
    path: `/repos/${repository}/statuses/${commit}`,
    body: { state: STATES[state], description, context, ...(targetUrl === undefined ? {} : { target_url: targetUrl }) },
  }),
  listComments: (repository, number, page) => ({
    method: 'GET',
    path: `/repos/${repository}/issues/${number}/comments?per_page=${FORGE_PAGE_ENTRIES}&page=${page}`,
  }),
  readComments: (answer) =>
    listIn(answer, (entry) => {
      const { id, body } = objectIn(entry);
      const found = idIn(id);
      return found === undefined ? undefined : { id: found, body: textIn(body) ?? '' };
    }),
  createComment: (repository, number, body) => ({
    method: 'POST',
    path: `/repos/${repository}/issues/${number}/comments`,
    body: { body },
  }),
  readComment: (answer) => idIn(objectIn(answer)['id']),
  editComment: (repository, _number, id, body) => ({
    method: 'PATCH',
    path: `/repos/${repository}/issues/comments/${id}`,
    body: { body },
  }),
};
