/**
 * Secrets and the reconciler: missing, set later, rotated, revoked; a rotation waits for no commit and no git host.
 * contract §2, §9.1 (secrets).
 */
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import {
  automationFile,
  automationPath,
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const OLD = 'old-token-of-sixteen-or-more';
const NEW = 'new-token-of-sixteen-or-more';
let git: GitServer;
let service: TestService;
let count = 0;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
});

afterEach(() => {
  git.fault = undefined;
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

async function following(
  setSecret = true,
): Promise<{ slug: string; uid: string; repository: TestRepository; secret: string; url: string }> {
  const slug = `f${(count += 1)}`;
  const secret = `token-${slug}`;
  if (setSecret) await service.secret(secret, OLD);
  const repository = git.createRepository(slug);
  repository.commit({
    [webhookPath('orders')]: webhookFile(secret),
    [automationPath('triage')]: automationFile(['orders']),
  });
  const uid = await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' });
  return { slug, uid, repository, secret, url: service.ingressUrl(slug, 'orders') };
}

/** From an address of its own each time, so that the budget for failures never speaks. */
const answered = (url: string, token: string): Promise<number> =>
  deliver(
    url,
    token,
    { at: Math.random() },
    {
      'x-forwarded-for':
        `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}` +
        `:${Math.floor(Math.random() * 65_536).toString(16)}::1`,
    },
  ).then(({ status }) => status);

async function expectRotated(url: string): Promise<void> {
  await eventually('the new value is served', async () => ((await answered(url, NEW)) === 202 ? true : undefined));
  expect(await answered(url, OLD)).toBe(401); // at once: there is no overlap
}

describe('a secret that is missing', () => {
  it('is an error at the value of secretName, and setting it is all that is needed', async () => {
    const { uid, secret, url } = await following(false);
    const missing = await statusOf(service, uid);
    expect(missing.condition).toMatchObject({ ending: 'blocked', reason: 'definitions-invalid' });
    expect(missing.last_sync?.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: webhookPath('orders'), line: 1, column: 13, rule: 'secret-known' }),
      ]),
    );
    expect(await answered(url, OLD)).toBe(404);
    await service.secret(secret, OLD);
    await eventually('the webhook serves without a commit', async () =>
      (await answered(url, OLD)) === 202 ? true : undefined,
    );
    const last = await eventually('the pass is recorded', async () =>
      (await syncsOf(service, uid)).find(({ ending }) => ending === 'applied'),
    );
    expect(last.triggers).toEqual(['secret']);
  });

  it('looks the same when it exists and is not granted', async () => {
    await service.api('PUT', '/secrets/granted-elsewhere', { value: OLD, grants: { factories: [] } });
    const repository = git.createRepository('notgranted');
    repository.commit({
      [webhookPath('orders')]: webhookFile('granted-elsewhere'),
      [webhookPath('other')]: webhookFile('does-not-exist'),
    });
    const uid = await service.factory('notgranted', { kind: 'git', url: git.urlOf('notgranted'), branch: 'main' });
    const [first, second] = (await statusOf(service, uid)).last_sync?.problems ?? [];
    expect(first?.message.replace('granted-elsewhere', 'X')).toBe(second?.message.replace('does-not-exist', 'X'));
  });

  it('is not suggested to a factory that may not see it', async () => {
    await service.api('PUT', '/secrets/hidden-hook', { value: OLD, grants: { factories: [] } });
    const repository = git.createRepository('suggest');
    repository.commit({ [webhookPath('orders')]: webhookFile('hiden-hook') });
    const uid = await service.factory('suggest', { kind: 'git', url: git.urlOf('suggest'), branch: 'main' });
    expect(JSON.stringify((await statusOf(service, uid)).last_sync)).not.toContain('hidden-hook');
  });

  it(
    'may be declared without a value: a disabled webhook applies, an enabled one is a problem, neither ' +
      'authenticates',
    async () => {
      await service.api('PUT', '/secrets/declared', {});
      const repository = git.createRepository('declared');
      repository.commit({ [webhookPath('orders')]: webhookFile('declared', 'enabled: false') });
      const uid = await service.factory('declared', { kind: 'git', url: git.urlOf('declared'), branch: 'main' });
      expect((await statusOf(service, uid)).condition.ending).toBe('applied');
      repository.commit({ [webhookPath('orders')]: webhookFile('declared', 'enabled: true') });
      const status = await syncAndGetStatus(service, uid);
      expect(status.last_sync?.problems.map(({ rule }) => rule)).toEqual(['secret-unset']);
      expect(await answered(service.ingressUrl('declared', 'orders'), '')).toBe(404);
    },
  );
});

describe('a rotated secret', () => {
  it('is taken over without a commit; the history names the version', async () => {
    const { uid, secret, url } = await following();
    expect(await answered(url, OLD)).toBe(202);
    await service.secret(secret, NEW);
    await expectRotated(url);
    const last = await eventually('the pass is recorded', async () =>
      (await syncsOf(service, uid)).find(({ triggers }) => triggers.includes('secret')),
    );
    expect(last.changes).toEqual([
      expect.objectContaining({
        action: 'update',
        kind: 'webhook',
        slug: 'orders',
        changes: ['secretVersion'],
        secret_version: 2,
      }),
    ]);
    expect(JSON.stringify(last)).not.toContain(NEW);
  });

  it('is taken over while git is down', async () => {
    const { uid, secret, url } = await following();
    git.fault = { kind: 'status', status: 500 };
    await service.secret(secret, NEW);
    await expectRotated(url);
    expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({ ending: 'failed', reason: 'unreachable' });
    expect(await answered(url, NEW)).toBe(202);
  });

  it('is taken over while a git host hangs: a pass that waits for it holds up no rotation', async () => {
    const { slug, uid, secret, url } = await following();
    git.fault = { kind: 'hang' };
    git.forget();
    await service.api('POST', `/factory/${uid}/sync`);
    await eventually(
      'the pass waits for the host',
      () => git.requests.some(({ path }) => path.startsWith(`/${slug}/`)) || undefined,
    );
    await service.secret(secret, NEW);
    await expectRotated(url);
    expect((await service.api('DELETE', `/secrets/${secret}?force=true`)).status).toBe(204);
    expect(await answered(url, NEW)).toBe(401);
    await service.api('DELETE', `/factory/${uid}`); // ends the pass that hangs
  });

  it('is taken over while the tree is broken', async () => {
    const { uid, secret, url, repository } = await following();
    repository.commit({ [webhookPath('orders')]: 'nonsense' });
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('blocked');
    await service.secret(secret, NEW);
    await expectRotated(url);
    expect((await statusOf(service, uid)).condition.ending).toBe('blocked');
  });

  it('is taken over while the factory is suspended', async () => {
    const { uid, secret, url } = await following();
    await service.api('POST', `/factory/${uid}/suspend`);
    await service.secret(secret, NEW);
    await expectRotated(url);
  });

  it('moves every webhook that uses it, in every factory', async () => {
    const first = await following();
    const repository = git.createRepository('sharing');
    repository.commit({ [webhookPath('a')]: webhookFile(first.secret), [webhookPath('b')]: webhookFile(first.secret) });
    await service.factory('sharing', { kind: 'git', url: git.urlOf('sharing'), branch: 'main' });
    await service.secret(first.secret, NEW);
    for (const url of [first.url, service.ingressUrl('sharing', 'a'), service.ingressUrl('sharing', 'b')])
      await expectRotated(url);
  });

  it('under load never lets the old value in after the new one was', async () => {
    const { secret, url } = await following();
    let rotated = false;
    const senders = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 8; n += 1) {
        const knew = rotated;
        const status = await answered(url, OLD);
        expect({ knew, status }).not.toEqual({ knew: true, status: 202 });
      }
    });
    await service.secret(secret, NEW);
    await eventually('the new value is served', async () => ((await answered(url, NEW)) === 202 ? true : undefined));
    rotated = true;
    await Promise.all(senders);
    expect(await answered(url, OLD)).toBe(401);
  });
});

describe('a revoked secret', () => {
  it('that is deleted by force refuses everything at once', async () => {
    const { uid, secret, url } = await following();
    const refused = await service.api('DELETE', `/secrets/${secret}`);
    expect(refused.status).toBe(409);
    expect(JSON.stringify(refused.body)).toContain('orders');
    expect(await answered(url, OLD)).toBe(202);
    expect((await service.api('DELETE', `/secrets/${secret}?force=true`)).status).toBe(204);
    expect(await answered(url, OLD)).toBe(401);
    await service.sync(uid);
    expect((await statusOf(service, uid)).inventory.map(({ slug }) => slug)).toContain('orders');
    expect(await answered(url, OLD)).toBe(401);
    await service.secret(secret, NEW);
    await eventually('a new value under the old name serves', async () =>
      (await answered(url, NEW)) === 202 ? true : undefined,
    );
    expect(await answered(url, OLD)).toBe(401);
  });

  it('whose grant is taken away refuses everything', async () => {
    const { secret, url } = await following();
    await service.api('PUT', `/secrets/${secret}`, { grants: { uses: ['run'] } });
    await eventually('nothing authenticates', async () => ((await answered(url, OLD)) === 401 ? true : undefined));
    await service.api('PUT', `/secrets/${secret}`, { grants: { uses: ['webhook', 'run'] } });
    await eventually('the grant is back', async () => ((await answered(url, OLD)) === 202 ? true : undefined));
  });
});
