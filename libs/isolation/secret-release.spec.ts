/** A value goes to the hosts of its secret and nowhere else, however these are spelled. contract §2.2. */
import { isHostEntry, mayReleaseSecret, releaseTargetOf, type HostGrant, type SecretRelease } from './index.ts';

const verdict = (hosts: HostGrant, host: string, more: Partial<SecretRelease> = {}, uses = ['git']) =>
  mayReleaseSecret({ name: 'deploy', grant: { uses, hosts }, host, use: 'git', ...more });

describe('a secret', () => {
  it.each<{ hosts: HostGrant; host: string; ok: boolean; why: string }>([
    { hosts: '*', host: 'anywhere.example:443', ok: true, why: 'somebody said any' },
    { hosts: ['git.example'], host: 'git.example:443', ok: true, why: 'it is its host' },
    { hosts: ['git.example'], host: 'git.example:22', ok: true, why: 'ssh is what git speaks, too' },
    { hosts: ['git.example'], host: 'GIT.example.:443', ok: true, why: 'another spelling of it' },
    { hosts: ['git.example'], host: 'git.example:8443', ok: false, why: 'another port may be anybody’s' },
    { hosts: ['git.example'], host: 'git.example:80', ok: false, why: 'nobody hides what is sent there' },
    { hosts: ['git.example:8443'], host: 'git.example:8443', ok: true, why: 'the port is named' },
    { hosts: ['git.example:8443'], host: 'git.example:443', ok: false, why: 'another port is named' },
    { hosts: ['*.example'], host: 'git.example:443', ok: true, why: 'it is below' },
    { hosts: ['*.example'], host: 'example:443', ok: false, why: 'it is not below itself' },
    { hosts: ['git.example'], host: 'git.example.evil:443', ok: false, why: 'a longer name' },
    { hosts: ['git.example'], host: 'evilgit.example:443', ok: false, why: 'another name' },
    { hosts: ['git.example', '10.0.0.5:8443'], host: '0x0a.0.0.5:8443', ok: true, why: 'an address is an address' },
    { hosts: ['127.0.0.1:8443'], host: '127.0.0.1:8444', ok: false, why: 'another port' },
    { hosts: [], host: 'git.example:443', ok: false, why: 'it has none' },
    { hosts: ['git.example'], host: 'git.example', ok: false, why: 'no port, no target' },
    { hosts: '*', host: 'a b:443', ok: false, why: 'no host at all' },
  ])('for $hosts goes to $host: $ok, because $why', ({ hosts, host, ok }) => expect(verdict(hosts, host).ok).toBe(ok));

  it('without a host has the first one that it goes to', () => {
    expect(verdict(null, 'git.example:443')).toEqual({ ok: true, binds: 'git.example' });
    expect(verdict(null, 'git.example:8443')).toEqual({ ok: true, binds: 'git.example:8443' });
    expect(verdict(null, '[::1]:443')).toEqual({ ok: true, binds: '[::1]' });
    for (const host of ['git.example:443', 'git.example:8443', '[::1]:443'])
      expect(verdict([(verdict(null, host) as { binds: string }).binds], host)).toEqual({ ok: true });
  });

  it('is not sent elsewhere, and the words name host and way out', () => {
    expect(verdict(['git.example'], 'evil.example:443')).toEqual({
      ok: false,
      reason: 'host',
      message:
        'the secret deploy is for git.example and is not sent to evil.example; let it go there ' +
        '(millwright secrets grant deploy --hosts git.example,evil.example), or name another secret',
    });
  });

  it('goes for what it is granted only: an injection is a run’s', () => {
    expect(verdict('*', 'api.example:443', { use: 'injection' })).toMatchObject({ ok: false, reason: 'use' });
    expect(verdict('*', 'api.example:443', { use: 'injection' }, ['run'])).toEqual({ ok: true });
    expect(verdict('*', 'git.example:443', {}, ['run'])).toMatchObject({ ok: false, reason: 'use' });
  });

  it.each([
    ['https://git.example/a/b', 'git.example:443'],
    ['https://git.example:8443/a', 'git.example:8443'],
    ['ssh://git@git.example/a', 'git.example:22'],
    ['git@git.example:a/b', 'git.example:22'],
    ['/srv/a', undefined],
  ])('read with %s goes to %s', (url, target) => expect(releaseTargetOf(url)).toBe(target));

  it.each([
    ['git.example', true],
    ['*.git.example:8443', true],
    ['https://git.example', false],
    ['git.example/a', false],
    ['', false],
  ])('may be granted for %s: %s', (entry, may) => expect(isHostEntry(entry)).toBe(may));
});
