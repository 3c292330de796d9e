/** What each kind of forge is asked, and how its answers read, hostile ones too. contract §9.9. */
import { FORGES, type ForgeKind } from '../addresses.ts';
import { FORGE_SHAPES } from '../../../../test/support/forges/forge-shapes.ts';
import { hasNextPage } from './dialect.ts';
import { FORGE_DIALECTS } from './forges.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const shown = { number: 7, title: 'A\n\u202e<b>**x**', author: 'ann', head: A, base: 'main', isFork: true } as const;
const OURS = { commit: A, context: 'millwright/shop', description: 'd', targetUrl: 'https://mill.example/p' };

describe.each(FORGES)('%s', (kind) => {
  const dialect = FORGE_DIALECTS[kind];
  const shape = FORGE_SHAPES[kind];
  const pull = { ...shown, state: 'open' as const, mergeBase: B };

  it('lists pull requests as its document has them, their titles in one line', () => {
    const [read] = dialect.readPulls([shape.pull(pull)]) ?? [];
    expect(read).toMatchObject({ number: 7, title: 'A <b>**x**', author: 'ann', head: A, base: 'main', isFork: true });
    expect(dialect.readPulls([shape.pull({ ...pull, isFork: false })])).toMatchObject([{ isFork: false }]);
    expect(read?.mergeBase).toBe(kind === 'gitea' ? B : undefined);
  });

  it.each([undefined, null, 'x', {}, [1], ['x'], [null]])('takes %j for no list', (answer) => {
    expect(dialect.readPulls(answer)).toBeUndefined();
    expect(dialect.readComments(answer)).toBeUndefined();
    expect(dialect.readPull(answer)).toBeUndefined();
    expect(dialect.readComment(answer)).toBeUndefined();
    expect(dialect.readMergeBase?.(answer)).toBeUndefined();
    expect(dialect.readPullCommits(answer)).toBeUndefined();
  });

  it('leaves out what has no commit, no number or no base', () => {
    const bad = [
      { ...pull, head: 'main' },
      { ...pull, number: -1 },
      { ...pull, number: 1.5 },
      { ...pull, head: '' },
    ];
    expect(dialect.readPulls([{}, ...bad.map(shape.pull), shape.pull(pull)])).toHaveLength(1);
  });

  it('tells open, merged and closed apart', () => {
    for (const state of ['open', 'merged', 'closed'] as const)
      expect(dialect.readPull(shape.pull({ ...pull, state }))).toMatchObject({ state, base: 'main' });
  });

  it.each(['merge', 'squash', 'rebase', 'fast-forward'] as const)(
    'names the commit of a %s once it is one',
    (merging) => {
      const mergeCommit = merging === 'rebase' && kind === 'gitlab' ? A : merging === 'fast-forward' ? A : B;
      const read = (state: 'open' | 'merged' | 'closed') =>
        dialect.readPull(shape.pull({ ...pull, state, mergeCommit, merging }));
      expect(read('merged')).toEqual({ state: 'merged', base: 'main', mergeCommit });
      // A forge that tries the merge has a commit for that, too.
      for (const state of ['open', 'closed'] as const) expect(read(state)).toEqual({ state, base: 'main' });
    },
  );

  it('sets a status under its context', () => {
    const request = dialect.status('acme/shop', { ...OURS, state: 'superseded' });
    expect(request).toMatchObject({ method: 'POST', path: `${shape.repository}/statuses/${A}` });
    expect(request.body).toMatchObject({ description: 'd', target_url: 'https://mill.example/p' });
    expect(Object.values(request.body ?? {})).toContain('millwright/shop');
    const states: Readonly<Record<ForgeKind, string>> = { github: 'error', gitlab: 'canceled', gitea: 'warning' };
    expect(request.body).toMatchObject({ state: states[kind] });
  });

  it('lists the commits of a pull request', () => {
    expect(dialect.pullCommits('acme/shop', 7, 2).path).toMatch(/\/7\/commits\?.*\bpage=2$/);
    const read = dialect.readPullCommits([...shape.commits([A, B]), { sha: 'main', id: 'main' }]) ?? [];
    expect(read.toSorted()).toEqual([A, B]);
  });

  it('finds, makes and edits comments', () => {
    const comment = shape.comment({ id: 12, number: 7, body: 'x' });
    expect(dialect.readComments([comment])).toEqual([{ id: '12', body: 'x' }]);
    expect(dialect.readComment(comment)).toBe('12');
    expect(dialect.createComment('acme/shop', 7, 'x')).toMatchObject({ method: 'POST', body: { body: 'x' } });
    expect(dialect.editComment('acme/shop', 7, '12', 'y').path).toMatch(/\/12$/);
  });
});

it('a merge base is asked for at GitHub and GitLab', () => {
  expect(FORGE_DIALECTS.github.mergeBase?.('acme/shop', A, B).path).toBe(
    `/repos/acme/shop/compare/${A}...${B}?per_page=1`,
  );
  expect(FORGE_DIALECTS.gitlab.mergeBase?.('a/b/c', A, B).path).toContain('/projects/a%2Fb%2Fc/repository/merge_base');
  expect(FORGE_DIALECTS.gitea.mergeBase).toBeUndefined();
});

it('GitLab says of a status that it is there already', () => {
  const { isStatusThere } = FORGE_DIALECTS.gitlab;
  expect(isStatusThere?.({ message: 'Cannot transition status via :enqueue from :pending' })).toBe(true);
  expect(isStatusThere?.({ message: { state: ['is invalid'] } })).toBe(false);
});

it('GitLab is told where a commit stands that no branch has, and by nothing that a fork chooses', () => {
  const { statusOffBranch } = FORGE_DIALECTS.gitlab;
  const answer = { message: '404 References for commit Not Found' };
  const request = statusOffBranch?.('acme/shop', { ...OURS, state: 'success', number: 7 }, answer);
  expect(request?.body).toMatchObject({ state: 'success', ref: 'refs/merge-requests/7/head' });
  expect(statusOffBranch?.('acme/shop', { ...OURS, state: 'success' }, answer)).toBeUndefined();
  const missing = { message: '404 Commit Not Found' };
  expect(statusOffBranch?.('acme/shop', { ...OURS, state: 'success', number: 7 }, missing)).toBeUndefined();
});

it.each([
  ['<https://evil.example/x?page=2>; rel="next"', true],
  ['<https://a.example/?page=2>; rel="last", <https://a.example/?page=2>; rel=next', true],
  ['<https://a.example/next>; rel="prev"', false],
  [undefined, false],
])('the Link header %j has a next page: %s', (link, isSo) => expect(hasNextPage(link)).toBe(isSo));
