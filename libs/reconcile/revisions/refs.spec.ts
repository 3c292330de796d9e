/** Which texts name a ref, and which full names they stand for. */
import { parseRef, revisionAtRef } from '../index.ts';

const SHA1 = 'a1'.repeat(20);
const SHA256 = 'b2'.repeat(32);

it.each([
  ['main', ['refs/heads/main', 'refs/tags/main'], false],
  ['feature/x', ['refs/heads/feature/x', 'refs/tags/feature/x'], false],
  ['refs/heads/main', ['refs/heads/main'], false],
  ['refs/tags/v1.0', ['refs/tags/v1.0'], false],
  ['refs/heads/pull/12', ['refs/heads/pull/12'], false],
  ['HEAD', ['HEAD'], false],
  ['pull/12', ['refs/pull/12/head', 'refs/merge-requests/12/head', 'refs/pull-requests/12/from'], true],
  ['mr/3', ['refs/pull/3/head', 'refs/merge-requests/3/head', 'refs/pull-requests/3/from'], true],
  ['refs/pull/12/head', ['refs/pull/12/head'], true],
  ['refs/pull/12/merge', ['refs/pull/12/merge'], true],
  ['refs/merge-requests/12/head', ['refs/merge-requests/12/head'], true],
])('%s stands for %j', (text, names, isPullRequest) => {
  expect(parseRef(text)).toEqual({ ok: true, ref: { kind: 'named', text, names, isPullRequest } });
});

it.each([SHA1, SHA256, SHA1.toUpperCase()])('%s is a commit', (text) => {
  expect(parseRef(text)).toEqual({ ok: true, ref: { kind: 'commit', commit: text.toLowerCase() } });
});

it.each([
  '',
  '-x',
  '--upload-pack=x',
  'a..b',
  '@',
  'a@{1}',
  'main^',
  'main~1',
  'a:b',
  'a*',
  'a b',
  'a\n',
  '/a',
  'a//b',
  'a.lock',
  'refs/heads/',
  'refs/heads/-/../x',
  'refs/remotes/origin/main',
  'refs/pull/12',
  'refs/pull/0/head',
  'refs/pull/12/head/x',
  'refs/stash',
  `x${'y'.repeat(255)}`,
  '\u00e9'.repeat(128),
])('%j is no ref', (text) => {
  expect(parseRef(text)).toEqual({ ok: false, reason: expect.stringContaining('must be a branch or a tag') });
});

it('names a commit of a branch as a sync of that branch does, and no other like it', () => {
  expect(revisionAtRef('refs/heads/main', SHA1)).toBe(`main@sha1:${SHA1}`);
  expect(revisionAtRef('refs/pull/1/head', SHA256)).toBe(`refs/pull/1/head@sha256:${SHA256}`);
  expect(revisionAtRef(undefined, SHA1)).toBe(`sha1:${SHA1}`);
});
