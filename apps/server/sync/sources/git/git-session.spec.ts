/** The surroundings that every git process gets, and the life of a credential. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { commandOf, type SessionScope, withSession } from './git-session.ts';
import { checkGitUrl } from './git-urls.ts';

const TOKEN = 'token-1234567890';
const KEY = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-session-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function scopeOf(url: string, change: Partial<SessionScope> = {}): SessionScope {
  const verdict = checkGitUrl(url, true);
  if (!verdict.ok) throw new Error(verdict.reason);
  return {
    address: verdict.address,
    workingFolder: folder,
    keyFile: join(folder, 'cache.key'),
    allowLocal: false,
    ssh: {},
    timeoutMs: 10_000,
    gate: (run) => run(),
    ...change,
  };
}

describe('the surroundings of a git process', () => {
  it('names the token in no argument; the header goes to the one host', () => {
    const { args, environment } = commandOf(
      scopeOf('https://git.example.com:8443/o/r'),
      '/cache',
      ['ls-remote', 'x'],
      TOKEN,
    );
    const encoded = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    expect(args.join(' ')).not.toContain(TOKEN);
    expect(args.join(' ')).not.toContain(encoded);
    expect(args).toContain('--config-env=http.https://git.example.com:8443/.extraHeader=MILLWRIGHT_GIT_AUTHORIZATION');
    expect(environment['MILLWRIGHT_GIT_AUTHORIZATION']).toBe(`Authorization: Basic ${encoded}`);
  });

  it('is an allow-list: nothing of our own environment is inherited', () => {
    process.env['GIT_SOURCE_TEST_LEAK'] = 'leak';
    const { environment } = commandOf(scopeOf('https://git.example.com/r'), '/cache', ['version']);
    delete process.env['GIT_SOURCE_TEST_LEAK'];
    expect(Object.keys(environment).sort()).toEqual([
      'GIT_ALLOW_PROTOCOL',
      'GIT_CONFIG_GLOBAL',
      'GIT_CONFIG_NOSYSTEM',
      'GIT_DIR',
      'GIT_LITERAL_PATHSPECS',
      'GIT_NO_LAZY_FETCH',
      'GIT_NO_REPLACE_OBJECTS',
      'GIT_OPTIONAL_LOCKS',
      'GIT_SSH_COMMAND',
      'GIT_SSH_VARIANT',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LANGUAGE',
      'LC_ALL',
      'PATH',
    ]);
  });

  it.each([
    { allowLocal: false, protocols: 'https:ssh', why: 'file: only where the operator allows it' },
    { allowLocal: true, protocols: 'https:ssh:file', why: 'and still nothing else' },
  ])('allows the protocols $protocols: $why', ({ allowLocal, protocols }) => {
    expect(
      commandOf(scopeOf('https://git.example.com/r', { allowLocal }), '/c', []).environment['GIT_ALLOW_PROTOCOL'],
    ).toBe(protocols);
  });

  it.each([
    { setting: 'protocol.ext.allow=never', why: 'runs commands' },
    { setting: 'core.hooksPath=/dev/null', why: 'runs commands' },
    { setting: 'core.fsmonitor=false', why: 'runs commands' },
    { setting: 'credential.helper=', why: 'would hand out the credentials of the machine' },
    { setting: 'http.followRedirects=false', why: 'credentials would follow' },
    { setting: 'transfer.bundleURI=false', why: 'a second host' },
    { setting: 'submodule.recurse=false', why: 'a second host' },
    { setting: 'fetch.fsckObjects=true', why: 'malformed objects' },
    { setting: 'gc.auto=0', why: 'work behind our back' },
    { setting: 'maintenance.auto=false', why: 'work behind our back' },
    { setting: 'http.sslCAInfo=/ca.pem', why: "the operator's authority" },
  ])('sets $setting: $why', ({ setting }) => {
    const { args } = commandOf(scopeOf('https://git.example.com/r', { caFile: '/ca.pem' }), '/c', []);
    expect(args[args.indexOf(setting) - 1]).toBe('-c');
  });

  it('lets ssh read no configuration, ask nobody and trust no unknown host', () => {
    const ssh = { identityFile: "/data/it's a key", knownHostsFile: '/data/known hosts' };
    const command = commandOf(scopeOf('git@git.example.com:o/r', { ssh }), '/c', []).environment['GIT_SSH_COMMAND'];
    expect(command).toMatch(/^ssh -F \/dev\/null -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes /);
    expect(command).toContain(String.raw`'IdentityFile="/data/it'\''s a key"'`);
    expect(command).toContain(`'UserKnownHostsFile="/data/known hosts"'`);
  });
});

describe('a private key for ssh', () => {
  it('stands in a private file while a reading needs it, and nowhere afterwards', async () => {
    const scope = scopeOf('git@git.example.com:o/r');
    writeFileSync(scope.keyFile, 'left by a killed process', { mode: 0o644 });
    await withSession(
      scope,
      () => Promise.resolve(KEY.trim()),
      [],
      async () => {
        expect(readFileSync(scope.keyFile, 'utf8')).toBe(KEY);
        expect(statSync(scope.keyFile).mode & 0o777).toBe(0o600);
      },
    );
    expect(existsSync(scope.keyFile)).toBe(false);
  });

  it('is removed when the reading fails', async () => {
    const scope = scopeOf('git@git.example.com:o/r');
    const reading = withSession(
      scope,
      () => Promise.resolve(KEY.trim()),
      [],
      () => Promise.reject(new Error('failed')),
    );
    await expect(reading).rejects.toThrow('failed');
    expect(existsSync(scope.keyFile)).toBe(false);
  });
});

describe('one git process', () => {
  it.each([
    { url: 'https://git.example.com/r', why: 'plain' },
    { url: 'https://alias.example.com/pager.', why: 'names that a careless check takes for settings' },
  ])('runs with all of it: $why', async ({ url }) => {
    await withSession(
      scopeOf(url),
      () => Promise.resolve(TOKEN),
      [],
      async (session) => {
        expect(session.demand(await session.ask('/dev/null', ['version'])).toString()).toMatch(/^git version/);
        expect(await session.local('/dev/null', ['version'])).toMatch(/^git version/);
      },
    );
  });

  it('is ended when it prints without end', async () => {
    await withSession(scopeOf('https://git.example.com/r'), undefined, [], async (session) => {
      const reading = session.read('/dev/null', ['help', '-a'], 100);
      await expect(reading).rejects.toMatchObject({ failure: { reason: 'refused' } });
    });
  });

  it('is not started for a reading that was called off before', async () => {
    await withSession(scopeOf('https://git.example.com/r'), undefined, [AbortSignal.abort()], async (session) => {
      await expect(session.local('/dev/null', ['version'])).rejects.toMatchObject({ failure: { reason: 'timeout' } });
      await expect(session.read('/dev/null', ['version'], 100)).rejects.toMatchObject({
        failure: { reason: 'timeout' },
      });
    });
  });
});
