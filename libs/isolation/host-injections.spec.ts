/** Which requests get which secret, and what of a host is refused. */
import type { RunSecret } from '#definitions';
import { decideInjection, hostInjectionsOf } from './host-injections.ts';

const VALUES = { FORGE: 'forge-secret', BASIC: 'user:password', OTHER: 'other-secret' };
const at = (secret: Partial<RunSecret>) =>
  hostInjectionsOf([{ name: 'FORGE', host: 'api.test', header: 'Authorization', ...secret }], VALUES)[0];

describe('a header', () => {
  it.each([
    [{ header: 'Authorization' }, 'authorization', 'Bearer forge-secret'],
    [{ header: 'Authorization: token' }, 'authorization', 'token forge-secret'],
    [{ header: 'PRIVATE-TOKEN' }, 'private-token', 'forge-secret'],
    [{ header: 'X-Key:Key' }, 'x-key', 'Key forge-secret'],
    [{ name: 'BASIC', header: 'Authorization: Basic' }, 'authorization', `Basic ${btoa('user:password')}`],
    [{ header: 'Authorization: Basic' }, 'authorization', `Basic ${btoa('x-access-token:forge-secret')}`],
  ])('of %j is %s: %s', (secret, header, value) => {
    expect(at(secret)?.headers).toMatchObject([{ header, value }]);
  });

  it('stands for its host and port; what has no host or no value stands for nothing', () => {
    const secrets: RunSecret[] = [
      { name: 'FORGE', host: 'api.test', header: 'A' },
      { name: 'OTHER', host: 'api.test:8443', header: 'B' },
      { name: 'BASIC', host: 'api.test', header: 'C' },
      { name: 'MISSING', host: 'api.test', header: 'D' },
      { name: 'OTHER', expose: 'env' },
    ];
    expect(
      hostInjectionsOf(secrets, VALUES).map(({ host, port, headers }) => [
        host,
        port,
        headers.map(({ header }) => header),
      ]),
    ).toEqual([
      ['api.test', 443, ['a', 'c']],
      ['api.test', 8443, ['b']],
    ]);
  });
});

describe('a request', () => {
  const decide = (secret: Partial<RunSecret>, method: string, target: string): boolean | string => {
    const host = at(secret);
    if (host === undefined) throw new Error('no injection');
    const decision = decideInjection(host, method, target);
    return decision.ok ? decision.headers.length > 0 : decision.reason;
  };

  it.each([
    [{}, 'GET', '/anything/at?all=1'],
    [{}, 'HEAD', '/'],
    [{ methods: ['POST'] }, 'POST', '/x'],
    [{ paths: ['/repos/*/issues'] }, 'GET', '/repos/acme/issues?state=open'],
    [{ paths: ['/repos/**'] }, 'GET', '/repos/acme/app/issues/1'],
    [{ paths: ['/repos/*'] }, 'GET', '/repos/'],
    [{ paths: ['/a', '/b.c'] }, 'GET', '/b.c'],
    [{ paths: ['/**/x/*.json'] }, 'GET', '/a/x/x/y.json'],
  ])('with %j: %s %s gets it', (secret, method, target) => {
    expect(decide(secret, method, target)).toBe(true);
  });

  it.each([
    [{}, 'POST', '/x'],
    [{ methods: ['POST'] }, 'GET', '/x'],
    [{ paths: ['/repos/*/issues'] }, 'GET', '/repos/acme/app/issues'],
    [{ paths: ['/repos/*/issues'] }, 'GET', '/repos/acme/issues/1'],
    [{ paths: ['/repos/*'] }, 'GET', '/Repos/acme'],
    [{ paths: ['/b.c'] }, 'GET', '/bxc'],
    [{ paths: ['/x'] }, 'GET', '/x/'],
  ])('with %j: %s %s is refused, and why is said by the name of the secret', (secret, method, target) => {
    expect(decide(secret, method, target)).toMatch(/\(FORGE\) is not for this method and path/);
  });

  it.each([
    '/repos/../admin',
    '/repos/%2e%2e/admin',
    '/repos/.%2E/admin',
    '/repos/..;x/admin',
    '/repos/a%2fb',
    '/repos/a%5cb',
    '/repos/a\\b',
    '/repos//admin',
    '/repos/%252e%252e/admin',
    '/repos/a%00',
    '/repos/a b',
    'repos/a',
    'https://other.test/repos/a',
    '*',
    `/repos/${'x'.repeat(2_100)}`,
  ])('to %j is refused wherever it leads', (target) => {
    expect(decide({ paths: ['/**'] }, 'GET', target)).toMatch(/read differently/);
  });

  it('that several secrets are for gets each header once, from the first', () => {
    const [host] = hostInjectionsOf(
      [
        { name: 'FORGE', host: 'api.test', header: 'Authorization', paths: ['/a/*'] },
        { name: 'OTHER', host: 'api.test', header: 'Authorization' },
        { name: 'BASIC', host: 'api.test', header: 'X-Key' },
      ],
      VALUES,
    );
    if (host === undefined) throw new Error('no injection');
    const given = (target: string): unknown => {
      const decision = decideInjection(host, 'GET', target);
      return decision.ok && decision.headers.map(({ secret }) => secret);
    };
    expect(given('/a/b')).toEqual(['FORGE', 'BASIC']);
    expect(given('/b')).toEqual(['OTHER', 'BASIC']);
  });

  it('is judged in time that a hostile pattern does not stretch', () => {
    const pattern = `/${'*a'.repeat(99)}`;
    const before = process.cpuUsage();
    for (let count = 0; count < 20; count += 1) decide({ paths: [pattern] }, 'GET', `/${'a'.repeat(2_000)}!`);
    expect(process.cpuUsage(before).user).toBeLessThan(20_000_000);
  });
});
