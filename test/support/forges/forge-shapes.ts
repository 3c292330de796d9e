/**
 * Answers of GitHub, GitLab and Gitea in the shapes of their published API documents (`published/`), with members that
 * nobody asks for: all that GitHub's says are always there.
 */
import type { ForgeKind } from '#reconcile';

/** A pull request of the fake. */
export interface FakePull {
  number: number;
  title: string;
  author: string;
  head: string;
  base: string;
  isFork: boolean;
  state: 'open' | 'closed' | 'merged';
  mergeBase: string;
  /** Oldest first. */
  commits?: readonly string[];
  /** What the forge names before a merge is a trial, and after it the commit of the branch. */
  mergeCommit?: string;
  /** How it was merged; a merge unless said. */
  merging?: 'merge' | 'squash' | 'rebase' | 'fast-forward';
}

export interface FakeComment {
  id: number;
  number: number;
  body: string;
}

export interface FakeStatus {
  commit: string;
  state: string;
  context: string;
  description: string;
  targetUrl?: string;
}

/** How one kind of forge shows things. */
export interface ForgeShape {
  /** Path below which its interface is. */
  api: string;
  /** Prefix of a repository's paths. */
  repository: string;
  authorization(token: string): string;
  pull(pull: FakePull): unknown;
  /** As a list has it, where that is another shape. */
  listed?(pull: FakePull): unknown;
  comment(comment: FakeComment): unknown;
  status(status: FakeStatus): unknown;
  mergeBase(commit: string): unknown;
  /** What it answers to a status of a commit that no branch of the repository has, unless a reference is named. */
  offBranch?: unknown;
  /** Of one list of commits, oldest first. */
  commits(ids: readonly string[]): readonly unknown[];
}

const user = (login: string) => ({ login, id: 7, avatar_url: 'https://avatars.example/7', type: 'User' });

const TIME = '2026-01-26T19:01:12Z';
const GITHUB = 'https://forge.example/api/v3/repos/acme/shop';

/** As a list of them shows one. */
const githubListed = ({ number, title, author, head, base, isFork, state, mergeCommit }: FakePull) => ({
  url: `${GITHUB}/pulls/${number}`,
  id: 1_000 + number,
  node_id: 'PR_x',
  html_url: `https://forge.example/acme/shop/pull/${number}`,
  diff_url: `https://forge.example/acme/shop/pull/${number}.diff`,
  patch_url: `https://forge.example/acme/shop/pull/${number}.patch`,
  issue_url: `${GITHUB}/issues/${number}`,
  commits_url: `${GITHUB}/pulls/${number}/commits`,
  review_comments_url: `${GITHUB}/pulls/${number}/comments`,
  review_comment_url: `${GITHUB}/pulls/comments{/number}`,
  comments_url: `${GITHUB}/issues/${number}/comments`,
  statuses_url: `${GITHUB}/statuses/${head}`,
  number,
  state: state === 'open' ? 'open' : 'closed',
  locked: false,
  title,
  user: user(author),
  body: null,
  labels: [],
  milestone: null,
  draft: false,
  created_at: TIME,
  updated_at: TIME,
  closed_at: state === 'open' ? null : TIME,
  merged_at: state === 'merged' ? TIME : null,
  merge_commit_sha: mergeCommit ?? null,
  assignee: null,
  head: {
    label: `${author}:topic`,
    ref: 'topic',
    sha: head,
    user: user(author),
    repo: { id: isFork ? 2 : 1, name: 'shop' },
  },
  base: { label: `acme:${base}`, ref: base, sha: '0'.repeat(40), user: user('acme'), repo: { id: 1, name: 'shop' } },
  _links: {},
  author_association: 'CONTRIBUTOR',
  auto_merge: null,
});

const githubCommit = (sha: string) => ({
  url: `${GITHUB}/commits/${sha}`,
  sha,
  node_id: 'C_x',
  html_url: `https://forge.example/acme/shop/commit/${sha}`,
  comments_url: `${GITHUB}/commits/${sha}/comments`,
  commit: { message: 'x' },
  author: null,
  committer: null,
  parents: [],
});

const github: ForgeShape = {
  api: '/api/v3',
  repository: '/repos/acme/shop',
  authorization: (token) => `Bearer ${token}`,
  listed: githubListed,
  pull: (pull) => ({
    ...githubListed(pull),
    merged: pull.state === 'merged',
    mergeable: true,
    mergeable_state: 'clean',
    merged_by: pull.state === 'merged' ? user('acme') : null,
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 1,
    deletions: 0,
    changed_files: 1,
  }),
  comment: ({ id, number, body }) => ({
    id,
    node_id: 'IC_x',
    url: `${GITHUB}/issues/comments/${id}`,
    html_url: `https://forge.example/acme/shop/pull/${number}#issuecomment-${id}`,
    issue_url: `${GITHUB}/issues/${number}`,
    body,
    user: user('millwright'),
    created_at: TIME,
    updated_at: TIME,
    author_association: 'NONE',
  }),
  status: ({ commit, state, context, description, targetUrl = null }) => ({
    url: `${GITHUB}/statuses/${commit}`,
    avatar_url: 'https://avatars.example/8',
    id: 1,
    node_id: 'SC_x',
    state,
    description,
    target_url: targetUrl,
    context,
    created_at: TIME,
    updated_at: TIME,
    creator: user('millwright'),
  }),
  mergeBase: (commit) => ({
    url: `${GITHUB}/compare/x...y`,
    html_url: 'https://forge.example/acme/shop/compare/x...y',
    permalink_url: 'https://forge.example/acme/shop/compare/acme:x...acme:y',
    diff_url: 'https://forge.example/acme/shop/compare/x...y.diff',
    patch_url: 'https://forge.example/acme/shop/compare/x...y.patch',
    base_commit: githubCommit(commit),
    merge_base_commit: githubCommit(commit),
    status: 'diverged',
    ahead_by: 1,
    behind_by: 1,
    total_commits: 1,
    commits: [],
    files: [],
  }),
  commits: (ids) => ids.map(githubCommit),
};

const giteaPull = (pull: FakePull) => ({
  id: 1_000 + pull.number,
  url: `https://forge.example/acme/shop/pulls/${pull.number}`,
  html_url: `https://forge.example/acme/shop/pulls/${pull.number}`,
  number: pull.number,
  user: user(pull.author),
  title: pull.title,
  body: '',
  labels: [],
  state: pull.state === 'open' ? 'open' : 'closed',
  is_locked: false,
  draft: false,
  merged: pull.state === 'merged',
  mergeable: true,
  merge_base: pull.mergeBase,
  merge_commit_sha: pull.state === 'merged' ? (pull.mergeCommit ?? null) : null,
  head: { label: 'topic', ref: 'topic', sha: pull.head, repo_id: pull.isFork ? 2 : 1, repo: { id: 2 } },
  base: { label: pull.base, ref: pull.base, sha: '0'.repeat(40), repo_id: 1, repo: { id: 1 } },
});

const gitea: ForgeShape = {
  api: '/api/v1',
  repository: '/repos/acme/shop',
  authorization: (token) => `token ${token}`,
  commits: (ids) => ids.map((sha) => ({ sha, url: '', commit: { message: 'x' }, parents: [] })).toReversed(),
  pull: giteaPull,
  comment: ({ id, body }) => ({ id, body, user: user('millwright'), created_at: TIME, updated_at: TIME }),
  status: ({ state, context, description, targetUrl = '' }) => ({
    id: 1,
    status: state,
    target_url: targetUrl,
    description,
    context,
    creator: user('millwright'),
    created_at: TIME,
  }),
  // Its list of pull requests says it; nobody asks.
  mergeBase: (commit) => ({ merge_base: commit }),
};

const gitlab: ForgeShape = {
  api: '/api/v4',
  repository: '/projects/acme%2Fshop',
  authorization: (token) => `Bearer ${token}`,
  pull: ({ number, title, author, head, base, isFork, state, mergeCommit = null, merging }) => ({
    id: 1_000 + number,
    iid: number,
    project_id: 1,
    title,
    description: '',
    state: state === 'open' ? 'opened' : state,
    created_at: TIME,
    target_branch: base,
    source_branch: 'topic',
    author: { id: 7, username: author, name: author, state: 'active' },
    source_project_id: isFork ? 2 : 1,
    target_project_id: 1,
    sha: head,
    merge_commit_sha: state === 'merged' && merging === 'merge' ? mergeCommit : null,
    squash_commit_sha: state === 'merged' && merging === 'squash' ? mergeCommit : null,
    detailed_merge_status: 'mergeable',
    web_url: `https://forge.example/acme/shop/-/merge_requests/${number}`,
  }),
  comment: ({ id, body, number }) => ({
    id,
    type: null,
    body,
    author: { id: 8, username: 'millwright' },
    system: false,
    noteable_iid: number,
    noteable_type: 'MergeRequest',
  }),
  status: ({ commit, state, context, description, targetUrl = null }) => ({
    id: 1,
    sha: commit,
    ref: 'topic',
    status: state,
    name: context,
    target_url: targetUrl,
    description,
    allow_failure: false,
  }),
  mergeBase: (commit) => ({ id: commit, short_id: commit.slice(0, 8), parent_ids: [], title: 'x' }),
  offBranch: { message: '404 References for commit Not Found' },
  commits: (ids) => ids.map((id) => ({ id, short_id: id.slice(0, 8), title: 'x' })).toReversed(),
};

export const FORGE_SHAPES: Readonly<Record<ForgeKind, ForgeShape>> = { github, gitlab, gitea };
