/** Which addresses, branches and folders are accepted, and why the others are not. */
import { describe, expect, it } from '@jest/globals';
import { isBranchName } from '#reconcile';
import { checkGitUrl, maskUserinfo, normalizeSubfolder } from './git-urls.ts';

describe('addresses that may be read', () => {
  it.each([
    {
      url: 'https://example.com/o/r.git',
      protocol: 'https',
      given: 'https://example.com/o/r.git',
      host: 'example.com',
    },
    {
      url: 'HTTPS://Example.com:8443/o/r',
      protocol: 'https',
      given: 'https://example.com:8443/o/r',
      host: 'example.com:8443',
    },
    {
      url: 'ssh://git@example.com:22/o/r',
      protocol: 'ssh',
      given: 'ssh://git@example.com:22/o/r',
      host: 'example.com:22',
    },
    { url: 'git@example.com:o/r.git', protocol: 'ssh', given: 'git@example.com:o/r.git', host: 'example.com' },
    { url: 'file:///srv/r.git', protocol: 'file', given: 'file:///srv/r.git', host: '' },
    { url: '/srv/my repo.git', protocol: 'file', given: '/srv/my repo.git', host: '' },
  ])('$url', ({ url, protocol, given, host }) => {
    expect(checkGitUrl(url, true)).toEqual({ ok: true, address: { protocol, url: given, host } });
  });
});

describe('addresses that are refused', () => {
  it.each([
    { url: '', why: 'nothing' },
    { url: 'http://git.example.com/r', why: 'not encrypted' },
    { url: 'git://git.example.com/r', why: 'not encrypted' },
    { url: 'ext::sh -c id', why: 'runs a command' },
    { url: 'fd::3', why: 'a helper' },
    { url: 'git+ssh://git.example.com/r', why: 'a second spelling is one too many' },
    { url: '-oProxyCommand=id', why: 'an option' },
    { url: 'ssh://-oProxyCommand=id/r', why: 'an option where a host should be' },
    { url: 'ssh://-x@git.example.com/r', why: 'an option where a user should be' },
    { url: '-x@git.example.com:r', why: 'an option' },
    { url: 'git@git.example.com:-x', why: 'an option where a path should be' },
    { url: 'git@-x:r', why: 'an option where a host should be' },
    { url: 'https://u:hunter2@git.example.com/r', why: 'a password' },
    { url: 'https://hunter2@git.example.com/r', why: 'a user name can be a token' },
    { url: 'ssh://u:hunter2@git.example.com/r', why: 'a password' },
    { url: 'https://git.example.com/r?private_token=hunter2', why: 'a query can be a credential' },
    { url: 'https://git.example.com/r#main', why: 'a fragment is no part of an address' },
    { url: 'https://git.example.com/a b', why: 'a space' },
    { url: 'https://git.example.com/r\nX: 1', why: 'a control character' },
    { url: 'https://git.example.com/\u0000', why: 'a control character' },
    { url: 'https://u%0d%0a@git.example.com/r', why: 'a control character in disguise' },
    { url: 'https://', why: 'no host' },
    { url: 'file://host/r', why: 'a host that git would not look at' },
    { url: 'relative/r.git', why: 'relative to what?' },
    { url: 'git@git.example.com::x', why: 'a helper' },
  ])('$url: $why', ({ url }) => {
    const verdict = checkGitUrl(url, true);
    expect(verdict.ok).toBe(false);
    expect(JSON.stringify(verdict)).not.toContain('hunter2');
  });

  it.each([{ url: '/srv/r.git' }, { url: 'file:///srv/r.git' }])(
    '$url where local repositories are not allowed',
    ({ url }) => {
      expect(checkGitUrl(url, false).ok).toBe(false);
    },
  );
});

it.each([
  { text: "unable to access 'https://u:p@ss/w@git.example.com/': x", why: 'an @ in a password' },
  { text: 'https://ghp_token@git.example.com and ssh://git@h/r', why: 'two of them' },
])('masks the user part: $why', ({ text }) => {
  expect(maskUserinfo(text)).not.toMatch(/u:p|ghp_token|git@/);
});

it('leaves text without a user part as it is', () => {
  expect(maskUserinfo("repository 'https://git.example.com/a@b/' not found")).toBe(
    "repository 'https://git.example.com/a@b/' not found",
  );
});

describe('branch names', () => {
  it.each(['main', 'release/1.x', 'dependabot/npm_and_yarn/x-1.2.3', 'büro', 'a@b', 'x.y'])('%s is one', (name) => {
    expect(isBranchName(name)).toBe(true);
  });

  it.each([
    '',
    '-x',
    '@',
    'a b',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a.',
    'a\n',
    'x'.repeat(256),
  ])('%j is none', (name) => {
    expect(isBranchName(name)).toBe(false);
  });
});

describe('folders inside a repository', () => {
  it.each([
    { path: '', normal: '' },
    { path: '.', normal: '' },
    { path: './', normal: '' },
    { path: 'ops/factory/', normal: 'ops/factory' },
    { path: './ops', normal: 'ops' },
  ])('$path → "$normal"', ({ path, normal }) => {
    expect(normalizeSubfolder(path)).toBe(normal);
  });

  it.each(['/etc', '../x', 'a/../b', 'a//b', 'a/./b', 'a\nb'])('%j is refused', (path) => {
    expect(normalizeSubfolder(path)).toBeUndefined();
  });
});
