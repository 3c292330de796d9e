/**
 * Answers of GitHub, GitLab and Gitea in the shapes of their published API documents, as far as a client meets them:
 * members that nobody asks for are among them. Sources: GitHub REST 2022-11-28 (Pulls, Commits/statuses, Issues/
 * comments), GitLab v4 (Merge requests, Commits, Notes), Gitea v1 (swagger: PullRequest, CommitStatus, Comment).
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
  comment(comment: FakeComment): unknown;
  status(status: FakeStatus): unknown;
  mergeBase(commit: string): unknown;
  /** Of one list of commits, oldest first. */
  commits(ids: readonly string[]): readonly unknown[];
}

const user = (login: string) => ({ login, id: 7, avatar_url: 'https://avatars.example/7', type: 'User' });

const github: ForgeShape = {
  api: '/api/v3',
  repository: '/repos/acme/shop',
  authorization: (token) => `Bearer ${token}`,
  pull: ({ number, title, author, head, base, isFork, state }) => ({
    url: `https://forge.example/api/v3/repos/acme/shop/pulls/${number}`,
    id: 1_000 + number,
    node_id: 'PR_x',
    html_url: `https://forge.example/acme/shop/pull/${number}`,
    number,
    state: state === 'open' ? 'open' : 'closed',
    locked: false,
    title,
    user: user(author),
    body: null,
    labels: [],
    milestone: null,
    draft: false,
    created_at: '2026-01-26T19:01:12Z',
    merged_at: state === 'merged' ? '2026-01-26T19:01:12Z' : null,
    merged: state === 'merged',
    merge_commit_sha: null,
    head: { label: `${author}:topic`, ref: 'topic', sha: head, user: user(author), repo: { id: isFork ? 2 : 1 } },
    base: { label: `acme:${base}`, ref: base, sha: '0'.repeat(40), user: user('acme'), repo: { id: 1 } },
    author_association: 'CONTRIBUTOR',
  }),
  comment: ({ id, body }) => ({ id, node_id: 'IC_x', body, user: user('millwright'), author_association: 'NONE' }),
  status: ({ state, context, description, targetUrl = null }) => ({
    id: 1,
    state,
    description,
    target_url: targetUrl,
    context,
    creator: user('millwright'),
  }),
  mergeBase: (commit) => ({ status: 'diverged', ahead_by: 1, behind_by: 1, merge_base_commit: { sha: commit } }),
  commits: (ids) => ids.map((sha) => ({ sha, node_id: 'C_x', commit: { message: 'x' }, parents: [] })),
};

const gitea: ForgeShape = {
  ...github,
  api: '/api/v1',
  authorization: (token) => `token ${token}`,
  commits: (ids) => github.commits(ids).toReversed(),
  pull: (pull) => ({
    ...(github.pull(pull) as object),
    merge_base: pull.mergeBase,
    mergeable: true,
    head: { label: 'topic', ref: 'topic', sha: pull.head, repo_id: pull.isFork ? 2 : 1, repo: { id: 2 } },
    base: { label: pull.base, ref: pull.base, sha: '0'.repeat(40), repo_id: 1, repo: { id: 1 } },
  }),
};

const gitlab: ForgeShape = {
  api: '/api/v4',
  repository: '/projects/acme%2Fshop',
  authorization: (token) => `Bearer ${token}`,
  pull: ({ number, title, author, head, base, isFork, state }) => ({
    id: 1_000 + number,
    iid: number,
    project_id: 1,
    title,
    description: '',
    state: state === 'open' ? 'opened' : state,
    created_at: '2026-01-26T19:01:12Z',
    target_branch: base,
    source_branch: 'topic',
    author: { id: 7, username: author, name: author, state: 'active' },
    source_project_id: isFork ? 2 : 1,
    target_project_id: 1,
    sha: head,
    merge_commit_sha: null,
    squash_commit_sha: null,
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
  commits: (ids) => ids.map((id) => ({ id, short_id: id.slice(0, 8), title: 'x' })).toReversed(),
};

export const FORGE_SHAPES: Readonly<Record<ForgeKind, ForgeShape>> = { github, gitlab, gitea };
