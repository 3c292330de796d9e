/** What git of a run may ask of its repositories with a credential, and what it may not. */
import { decideInjection } from './host-injections.ts';
import { mergedInjections, repositoryInjections, type BrokeredRepository } from './repository-injections.ts';

const TOKEN = 'forge-token-of-a-test';
const READ: BrokeredRepository = { url: 'https://forge.test/acme/app', credential: TOKEN, push: false };

const decided = (
  repositories: BrokeredRepository[],
  passesOthers: boolean,
  method: string,
  target: string,
): unknown => {
  const [host] = mergedInjections(repositoryInjections(repositories, () => passesOthers));
  if (host === undefined) return 'no broker';
  const decision = decideInjection(host, method, target);
  return decision.ok ? decision.headers.map(({ value }) => value) : 'refused';
};
const BASIC = [`Basic ${btoa(`x-access-token:${TOKEN}`)}`];

it.each([
  ['GET', '/acme/app/info/refs?service=git-upload-pack', BASIC],
  ['GET', '/acme/app.git/info/refs?service=git-upload-pack', BASIC],
  ['POST', '/acme/app.git/git-upload-pack', BASIC],
  ['GET', '/acme/app/info/refs?service=git-receive-pack', 'refused'],
  ['POST', '/acme/app/git-receive-pack', 'refused'],
  ['GET', '/acme/app/info/refs', 'refused'],
  ['GET', '/acme/app/info/refs?service=git-upload-pack&x=1', 'refused'],
  ['POST', '/acme/app/git-upload-pack?x=1', 'refused'],
  ['GET', '/acme/application/info/refs?service=git-upload-pack', 'refused'],
  ['GET', '/acme/other/info/refs?service=git-upload-pack', 'refused'],
  ['GET', '/acme/app/../other/info/refs?service=git-upload-pack', 'refused'],
  ['GET', '/api/v4/projects', 'refused'],
  ['POST', '/acme/app/info/lfs/objects/batch', 'refused'],
])('%s %s of a repository that is read: %s', (method, target, is) => {
  expect(decided([READ], false, method, target)).toEqual(is);
});

it('pushes go to a repository that says so, and to no other', () => {
  const writable = { ...READ, url: 'https://forge.test/acme/site.git/', push: true };
  const asked = (name: string): unknown[] => [
    decided([READ, writable], false, 'GET', `/acme/${name}/info/refs?service=git-receive-pack`),
    decided([READ, writable], false, 'POST', `/acme/${name}/git-receive-pack`),
  ];
  expect([asked('site'), asked('app')]).toEqual([
    [BASIC, BASIC],
    ['refused', 'refused'],
  ]);
});

it('where the host may be reached anyway, everything else passes without a credential', () => {
  expect(decided([READ], true, 'GET', '/acme/other/info/refs?service=git-upload-pack')).toEqual([]);
  expect(decided([READ], true, 'POST', '/acme/app/git-receive-pack')).toEqual([]);
  expect(decided([READ], true, 'GET', '/acme/app/../app/info/refs')).toBe('refused');
});

it.each<BrokeredRepository>([
  { url: 'https://forge.test/acme/app', push: true },
  { url: 'ssh://git@forge.test/acme/app', credential: TOKEN, push: true },
  { url: 'https://forge.test/*/app', credential: TOKEN, push: false },
])('$url is not brokered', (repository) => {
  expect(decided([repository], false, 'GET', '/acme/app/info/refs?service=git-upload-pack')).toBe('no broker');
});

it('a host with a declared secret refuses what neither is for', () => {
  const declared = { host: 'forge.test', port: 443, headers: [] };
  const [host] = mergedInjections([declared, ...repositoryInjections([READ], () => true)]);
  expect(host?.passesOthers).toBe(false);
  expect(host?.headers.length).toBeGreaterThan(0);
});
