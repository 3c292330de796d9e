/** Gitea and Forgejo: version 1 of their interface. contract §9.9 (Feedback in pull requests). */
import type { StatusState } from '../statuses.ts';
import { commitIdIn, FORGE_PAGE_ENTRIES, listIn, numberIn, objectIn, pullRequestOf, textIn } from './dialect.ts';
import type { ForgeDialect } from './dialect.ts';
import { githubDialect } from './github.ts';

/** Has a state for what is neither well nor broken. */
const STATES: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  success: 'success',
  failure: 'failure',
  error: 'error',
  superseded: 'warning',
};

/** Made after GitHub's: what is the same is asked the same. */
export const giteaDialect: ForgeDialect = {
  headers: (token) => ({ accept: 'application/json', authorization: `token ${token}` }),
  // Older versions know no filter by branch; what they do not know they pass over.
  listPulls: (repository, base, page) => ({
    method: 'GET',
    path: `/repos/${repository}/pulls?${new URLSearchParams({
      state: 'open',
      ...(base === undefined ? {} : { base_branch: base }),
      limit: String(FORGE_PAGE_ENTRIES),
      page: String(page),
    }).toString()}`,
  }),
  readPulls: (answer) =>
    listIn(answer, (entry) => {
      const { number, title, user, html_url: url, head, base, merge_base: mergeBase } = objectIn(entry);
      const [from, to] = [objectIn(head), objectIn(base)];
      const fromId = numberIn(from['repo_id']);
      return pullRequestOf({
        number: numberIn(number),
        title: textIn(title),
        author: textIn(objectIn(user)['login']),
        url: textIn(url),
        head: commitIdIn(from['sha']),
        base: textIn(to['ref']),
        isFork: fromId === undefined || fromId !== numberIn(to['repo_id']),
        mergeBase: commitIdIn(mergeBase),
      });
    }),
  pull: githubDialect.pull,
  readPull: githubDialect.readPull,
  pullCommits: (repository, number, page) => ({
    method: 'GET',
    path: `/repos/${repository}/pulls/${number}/commits?limit=${FORGE_PAGE_ENTRIES}&page=${page}`,
  }),
  readPullCommits: githubDialect.readPullCommits,
  status: (repository, status) => ({
    ...githubDialect.status(repository, status),
    body: { ...githubDialect.status(repository, status).body, state: STATES[status.state] },
  }),
  // Gives all of them at once: it has no pages of them.
  listComments: (repository, number) => ({
    method: 'GET',
    path: `/repos/${repository}/issues/${number}/comments`,
  }),
  readComments: githubDialect.readComments,
  createComment: githubDialect.createComment,
  readComment: githubDialect.readComment,
  editComment: githubDialect.editComment,
};
