/**
 * A build waits for its commit: `millwright wait` against a service that follows a git repository. contract §9, §11.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKey } from '../support/services/api-keys.ts';
import { webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { createRepository, type TestRepository } from '../support/git/git-repository.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { bootService, type TestService } from '../support/services/service.ts';

let service: TestService;
let folder: string;
let repository: TestRepository;
let factory: string;
let manager: string;
let viewer: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-wait-'));
  repository = createRepository(folder, 'shop.git');
  repository.commit({ [webhookPath('one')]: webhookFile('hook'), [webhookPath('two')]: webhookFile('hook') });
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '86400', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook', 'a-token-of-sixteen-or-more');
  factory = await service.factory('shop', { kind: 'git', url: repository.folder, branch: 'main' });
  [manager, viewer] = [
    await makeKey(service, 'manager', { factories: [factory] }),
    await makeKey(service, 'viewer', { factories: [factory] }),
  ];
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const wait = (revision: string, key = manager, timeout = '90'): Promise<Call> =>
  call(['wait', 'shop', '--revision', revision, '--timeout', timeout], {
    environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: key },
  });

it('returns when the commit serves, also for the one before it and for who may only look', async () => {
  const [first, second] = [repository.tip(), repository.commit({ [webhookPath('three')]: webhookFile('hook') })];
  expect(await wait(second)).toMatchObject({ code: 0, out: `shop: ${second} serves on 1 replica\n` });
  expect(await wait(first.slice(0, 9), viewer)).toMatchObject({
    code: 0,
    out: `shop: ${first} serves on 1 replica, as part of main@sha1:${second}\n`,
    err: expect.stringMatching(/^no sync was asked for: /),
  });
});

it('fails with the problems of the commit, and returns when the next one has mended them', async () => {
  const broken = repository.commit({ [webhookPath('three')]: 'secretname: hook\n' });
  const failed = await wait(broken);
  expect(failed.code).toBe(1);
  expect(failed.out).toContain('webhooks/three.yaml:1:1: missing key "secretName"; add it [missing-key]\n');
  expect(failed.out).toMatch(/\nshop: blocked: .*\n$/);
  const mended = repository.commit({ [webhookPath('three')]: webhookFile('hook', 'enabled: false') });
  const [own, former] = await Promise.all([wait(mended), wait(broken)]);
  // The broken commit serves as part of what mended it.
  expect([own.code, former.code]).toEqual([0, 0]);
});

it('fails with the problems of a later commit, where those keep it from being applied', async () => {
  const good = repository.commit({ [webhookPath('one')]: webhookFile('hook', 'description: good') });
  const broken = repository.commit({ [webhookPath('three')]: 'secretname: hook\n' });
  const failed = await wait(good);
  expect(failed.code).toBe(1);
  expect(failed.out).toContain('webhooks/three.yaml:1:1: missing key "secretName"; add it [missing-key]\n');
  expect(failed.out).toContain(`\nshop: ${good} is superseded by ${broken}, which is blocked: `);
  repository.commit({ [webhookPath('three')]: webhookFile('hook') });
  expect(await wait(good)).toMatchObject({ code: 0 });
});

it('fails with 4 and the command that lets deletions go, which is one that works', async () => {
  const held = repository.commit({
    [webhookPath('one')]: null,
    [webhookPath('two')]: null,
    [webhookPath('three')]: null,
    'factory.yaml': 'name: Shop\n',
  });
  const { code, err } = await wait(held);
  expect(code).toBe(4);
  const command = /to let it go: millwright (approve shop sha256:[0-9a-f]{64})\n/.exec(err)?.[1]?.split(' ') ?? [];
  expect(
    await call(command, { environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: manager } }),
  ).toMatchObject({ code: 0 });
  expect(await wait(held)).toMatchObject({ code: 0 });
});

it('waits for a commit that is not there yet until the time is over', async () => {
  expect(await wait('0123456789abcdef', manager, '1')).toMatchObject({
    code: 3,
    err: expect.stringContaining('unknown: no pass has seen this revision'),
  });
});
