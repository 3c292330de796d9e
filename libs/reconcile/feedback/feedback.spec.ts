/**
 * What is said of pull requests: states, comments that nobody can write into, and what is posted next. contract §9.9.
 */
import type { Problem } from '#definitions';
import { commentMark, codeSpan, ownComments, renderComment, COMMENT_CHARACTERS_MAX } from './comments.ts';
import { apiUrl, forgePlaceOf } from './addresses.ts';
import { mergedEntries } from './merges.ts';
import { faultOf, forgeDelayMs, retryAfterOf, WAIT_MS_MAX } from './posts.ts';
import {
  broughtIn,
  commitsBetween,
  judgingOrder,
  pullRequestNews,
  type KnownPullRequest,
  type OpenPullRequest,
} from './pull-requests.ts';
import { follows, statusDescription, STATUS_CHARACTERS_MAX, type StatusState } from './statuses.ts';
import { branchStatus, verdictOf } from './verdicts.ts';

const UID_KEY = Buffer.alloc(32, 7);
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const pull = (number: number, head: string, more: Partial<OpenPullRequest> = {}): OpenPullRequest => ({
  number,
  title: 't',
  author: 'u',
  url: '',
  head,
  base: 'main',
  isFork: false,
  ...more,
});
const known = (number: number, head: string, more: Partial<KnownPullRequest> = {}): KnownPullRequest => ({
  ...pull(number, head),
  state: 'open',
  ...more,
});
const problem = (message: string, path = 'webhooks/a.yaml'): Problem => ({
  path,
  line: 3,
  column: 5,
  endLine: 3,
  endColumn: 6,
  severity: 'error',
  rule: 'r',
  code: 'c',
  message,
});
const printed = { changes: [], heldDeletions: [] };

describe('the status of a commit', () => {
  it.each<[StatusState | undefined, StatusState, boolean]>([
    [undefined, 'pending', true],
    ['pending', 'success', true],
    ['pending', 'superseded', true],
    ['success', 'superseded', false],
    ['success', 'pending', false],
    ['success', 'failure', true],
    ['superseded', 'pending', true],
  ])('%s may become %s: %s', (before, next, may) => expect(follows(before, next)).toBe(may));

  it('is described in one line that GitHub takes', () => {
    const text = statusDescription(`a\nb\u202e${'😀'.repeat(200)}`);
    expect(text.length).toBeLessThanOrEqual(STATUS_CHARACTERS_MAX);
    expect(text).toMatch(/^a b /);
    expect(encodeURIComponent(text)).toContain('%F0%9F%98%80');
  });
});

describe('a look at the open pull requests', () => {
  it('makes a new head pending, and supersedes the one before', () => {
    const { changed, statuses } = pullRequestNews([known(1, A)], [pull(1, B)], { branch: 'main' });
    expect(changed).toHaveLength(1);
    expect(statuses.map(({ commit, state }) => [commit, state])).toEqual([
      [A, 'superseded'],
      [B, 'pending'],
    ]);
  });

  it('brings nothing when nothing moved', () =>
    expect(pullRequestNews([known(1, A)], [pull(1, A)], { branch: 'main' })).toEqual({
      changed: [],
      gone: [],
      statuses: [],
    }));

  it('takes one that is for another branch now for gone, and never looks at those of others', () =>
    expect(
      pullRequestNews([known(1, A)], [pull(1, A, { base: 'next' }), pull(2, B, { base: 'next' })], { branch: 'main' }),
    ).toEqual({ changed: [], gone: [1], statuses: [] }));

  it.each([
    ['oldest first', ['1', '2', '3', '4'], '1', ['2', '3']],
    ['newest first', ['4', '3', '2', '1'], '1', ['2', '3']],
    ['one commit', ['1', '4'], '1', []],
    ['after a forced push', ['2', '3', '4'], '9', ['2', '3']],
    ['whose head has moved meanwhile', ['1', '2', '3'], '1', ['2', '3']],
    ['nothing', [], '1', []],
  ])('finds the commits between two heads: %s', (_what, commits, before, between) =>
    expect(commitsBetween(commits, before, '4')).toEqual(between),
  );

  it('judges new heads first, and all again when something else serves', () => {
    const all = [known(1, A, { judged: A, judgedAgainst: 'r1' }), known(2, B)];
    expect(judgingOrder(all, 'r2').map(({ number }) => number)).toEqual([2, 1]);
    expect(judgingOrder(all, 'r1').map(({ number }) => number)).toEqual([2]);
  });
});

describe('a verdict', () => {
  it('names file and line of the first error', () =>
    expect(verdictOf({ ending: { kind: 'blocked' }, problems: [problem('no'), problem('x')], printed })).toEqual({
      state: 'failure',
      description: 'webhooks/a.yaml:3:5: no (and 1 more)',
    }));

  it('is a success where only an approval comes after the merge', () =>
    expect(verdictOf({ ending: { kind: 'blocked', reason: 'growth-held' }, problems: [], printed })).toEqual({
      state: 'success',
      description: 'No changes; what grows will wait for an approval',
    }));

  it('of the branch: serves, blocked, waiting, unknown', () => {
    const seen = `main@sha1:${A}`;
    expect(branchStatus({ seen, applied: seen, ending: 'applied' })?.state).toBe('success');
    expect(branchStatus({ seen, ending: 'blocked', reason: 'definitions-invalid', message: 'm' })?.state).toBe(
      'failure',
    );
    expect(branchStatus({ seen, ending: 'blocked', reason: 'prune-held' })?.state).toBe('pending');
    expect(branchStatus({ seen, ending: 'failed', reason: 'unreachable' })).toBeUndefined();
    expect(branchStatus({ ending: 'none' })).toBeUndefined();
  });
});

describe('the comment', () => {
  const hostile = '@all <img src=x onerror=1> [a](https://evil.example) ``` ~~~ </details> #1 \u202e';
  const content = {
    mark: commentMark(UID_KEY, 'fac_a', 7),
    factorySlug: 'shop',
    verdict: { state: 'failure' as const, description: hostile },
    head: A,
    problems: [problem(hostile, `webhooks/${hostile}.yaml`)],
    printed,
    notes: [hostile],
    planUrl: 'https://mill.example/factories/fac_a/pulls/1',
  };

  it('shows foreign texts between code marks only', () => {
    const body = renderComment(content);
    expect(body.startsWith(`${content.mark}\n`)).toBe(true);
    const outside = body
      .replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '')
      .replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '');
    for (const bad of ['@all', '<img', 'evil.example', '</details>', '\u202e']) expect(outside).not.toContain(bad);
  });

  it('fits into what forges take, and says what was left out', () => {
    const problems = Array.from({ length: 3_000 }, (_, at) => problem('long '.repeat(100), `f${at}.yaml`));
    const body = renderComment({ ...content, problems });
    expect(body.length).toBeLessThanOrEqual(COMMENT_CHARACTERS_MAX);
    expect(body).toMatch(/more lines: see the whole plan/);
    expect(renderComment(content)).toBe(renderComment(content));
  });

  it('is found again by its mark, the oldest of several; a quotation of it is not', () => {
    const { mark } = content;
    const listed = [
      { id: '12', body: `${mark}\nx` },
      { id: '3', body: `${mark} edited by hand` },
      { id: '1', body: `> ${mark}` },
      { id: '2', body: commentMark(UID_KEY, 'fac_b', 7) },
    ];
    expect(ownComments(listed, renderComment(content))).toEqual(['3', '12']);
    expect(ownComments(listed, '')).toEqual([]);
  });

  it('has a mark of its own, that who sees those of other pull requests cannot make', () => {
    const marks = [
      content.mark,
      commentMark(UID_KEY, 'fac_a', 8),
      commentMark(UID_KEY, 'fac_b', 7),
      commentMark(Buffer.alloc(32, 8), 'fac_a', 7),
    ];
    expect(new Set(marks).size).toBe(marks.length);
    for (const mark of marks) expect(mark).toMatch(/^<!-- millwright:factory:fac_[ab]:[A-Za-z0-9_-]{22} -->$/);
    expect(commentMark(UID_KEY, 'fac_a', 7)).toBe(content.mark);
  });

  it('closes every code span, whatever stands in it', () => {
    for (const text of ['`', '``a`', 'a`b', '', ' `` ']) expect(codeSpan(text)).toMatch(/^(`+)(?!`)[\s\S]+?(?<!`)\1$/);
  });
});

describe('what is posted', () => {
  it.each([
    [200, undefined],
    [201, undefined],
    [401, 'denied'],
    [403, 'denied'],
    [404, 'missing'],
    [409, 'refused'],
    [422, 'refused'],
    [429, 'slow-down'],
    [500, 'away'],
    [302, 'away'],
    [0, 'away'],
  ])('%s is %s', (status, fault) => expect(faultOf({ status, isSpent: false })).toBe(fault));

  it('takes a 403 with a used-up quota or a Retry-After for a request to wait', () => {
    expect(faultOf({ status: 403, isSpent: true })).toBe('slow-down');
    expect(faultOf({ status: 403, isSpent: false, retryAfterMs: 1 })).toBe('slow-down');
  });

  it('waits as long as it is told, an hour at most', () => {
    expect(retryAfterOf({ retryAfter: '30' }, 0)).toBe(30_000);
    expect(retryAfterOf({ retryAfter: '999999999' }, 0)).toBe(WAIT_MS_MAX);
    expect(retryAfterOf({ retryAfter: 'soon', reset: '60' }, 0)).toBe(60_000);
    expect(retryAfterOf({}, 0)).toBeUndefined();
    expect(forgeDelayMs('slow-down', { failures: 1, retryAfterMs: 30_000, random01: 0.5 })).toBe(30_000);
    expect(forgeDelayMs('away', { failures: 20, random01: 0.5 })).toBe(300_000);
  });
});

it('a merge takes the changes of the pull request since both were the same, and leaves those of the branch', () => {
  const entry = (path: string, object: string) => ({ path, object });
  const merged = mergedEntries(
    [entry('a', '1'), entry('b', '1'), entry('c', '1'), entry('d', '1')],
    [entry('a', '2'), entry('b', '1'), entry('c', '2'), entry('new', '9')],
    [entry('a', '1'), entry('b', '3'), entry('c', '3'), entry('d', '1')],
  );
  expect(merged).toEqual({
    entries: [entry('a', '2'), entry('b', '3'), entry('c', '3'), entry('new', '9')],
    contested: ['c'],
  });
});

it.each([
  ['github', 'https://github.com/acme/shop.git', 'https://api.github.com', 'acme/shop'],
  ['github', 'git@git.example.com:acme/shop.git', 'https://git.example.com/api/v3', 'acme/shop'],
  ['gitlab', 'https://gitlab.com/a/b/c', 'https://gitlab.com/api/v4', 'a/b/c'],
  ['gitea', 'ssh://git@git.example.com:2222/acme/shop', 'https://git.example.com/api/v1', 'acme/shop'],
] as const)('%s at %s is asked at %s for %s', (forge, url, api, repository) =>
  expect(forgePlaceOf({ forge, url })).toEqual({ forge, api, repository }),
);

it('the interface of a forge is https, or of this machine', () => {
  expect(apiUrl('http://forge.example/api')).toBeUndefined();
  expect(apiUrl('https://u:p@forge.example/api')).toBeUndefined();
  expect(apiUrl('http://127.0.0.1:3000/api/v1/')).toBe('http://127.0.0.1:3000/api/v1');
});

it('a commit goes back to the pull request that it is the head or merge of, else to all that came with it', () => {
  const [first, second] = [
    { number: 1, head: 'a', mergeCommit: 'x' },
    { number: 2, head: 'b', mergeCommit: 'y' },
  ];
  for (const commit of ['a', 'x']) expect(broughtIn(commit, [first, second])).toEqual([first]);
  expect(broughtIn('z', [first, second])).toEqual([first, second]);
  expect(broughtIn('z', [])).toEqual([]);
});
