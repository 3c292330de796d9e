/**
 * Losing the right to reconcile: whoever lost it writes nothing, whatever it was doing. contract §9.6 (lease, fencing);
 * explanation: Invariants (I9).
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
import { FenceLostError } from '../support/services/built-service.ts';
import { change } from '../../apps/server/store/database/transactions.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const FILES = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
let git: GitServer;
let service: TestService;
let count = 0;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  await service.secret('hook-token', TOKEN);
});

afterEach(() => {
  git.fault = undefined;
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

async function following(): Promise<{ slug: string; uid: string; repository: TestRepository }> {
  const slug = `f${(count += 1)}`;
  const repository = git.createRepository(slug);
  repository.commit(FILES);
  return { slug, repository, uid: await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' }) };
}

/** What another replica does once the lease has run out: takes it, which raises the fence. */
async function leasedByAnother(uid: string): Promise<number> {
  const { database, factories } = service.service;
  return eventually('the lease is given', async () => {
    await database.run(() => change('UPDATE factory SET lease_until = 0 WHERE uid = ?', uid));
    return (await factories.acquireLease(uid, 'another-replica', 60_000))?.fence; // where it was not renewed between
  });
}

describe('a pass whose factory was taken over while it read the repository', () => {
  it('writes nothing: no definition, no condition, no history', async () => {
    const { slug, uid, repository } = await following();
    const before = await statusOf(service, uid);
    const recorded = await syncsOf(service, uid);
    const commit = repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    let goOn: (() => void) | undefined;
    git.fault = { kind: 'hold', until: new Promise<void>((resolve) => (goOn = resolve)), only: 'fetch' };
    git.forget();
    await service.api('POST', `/factory/${uid}/sync`);
    await eventually('the pass reads', () => (git.count('fetch') > 0 ? true : undefined));
    const fence = await leasedByAnother(uid);
    goOn?.();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const after = await statusOf(service, uid);
    expect(after.revision_applied).toBe(before.revision_applied);
    expect(after.condition).toEqual(before.condition);
    expect(after.generation_handled).toBe(before.generation_handled);
    expect(await syncsOf(service, uid)).toEqual(recorded);
    expect((await deliver(service.ingressUrl(slug, 'second'), TOKEN)).status).toBe(404);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);

    git.fault = undefined;
    await service.service.factories.releaseLease(uid, fence);
    // the other one gave it back: all converges
    expect((await syncAndGetStatus(service, uid)).revision_applied).toBe(`main@sha1:${commit}`);
  });
});

describe('a factory that another replica holds', () => {
  it('is left alone, and taken up again by itself when the other one is gone', async () => {
    const { uid, repository } = await following();
    const before = await statusOf(service, uid);
    const fence = await leasedByAnother(uid);
    const commit = repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    git.forget();
    await service.api('POST', `/factory/${uid}/sync`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(git.requests).toEqual([]);
    expect((await statusOf(service, uid)).revision_applied).toBe(before.revision_applied);
    await service.service.factories.releaseLease(uid, fence);
    await eventually('the generation that was asked for is handled', async () =>
      (await statusOf(service, uid)).revision_applied === `main@sha1:${commit}` ? true : undefined,
    );
  });

  it('keeps serving and accepts no write under a lower fence', async () => {
    const { slug, uid } = await following();
    const { definitions, factories } = service.service;
    const stale = (await factories.acquireLease(uid, 'first', 1))?.fence ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await leasedByAnother(uid);
    const write = {
      factoryUid: uid,
      fence: stale,
      revision: 'stale',
      factory: { path: '', applyMode: 'atomic' as const },
      upserts: [],
      deletions: [{ kind: 'webhook' as const, uid: service.webhookUid(slug, 'orders') }],
    };
    await expect(definitions.apply(write as never)).rejects.toThrow(FenceLostError);
    await expect(definitions.rebindSecrets(uid, stale)).rejects.toThrow(FenceLostError);
    await expect(
      factories.recordPass(uid, stale, {
        generationHandled: 99,
        condition: { ending: 'applied', sinceMs: 0, checkedMs: 0 },
        failures: 0,
      }),
    ).rejects.toThrow(FenceLostError);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
  });
});

describe('a service that is stopped in the middle of a pass', () => {
  it('stops soon, and the next one converges', async () => {
    const own = await bootService({
      environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_SYNC_INTERVAL: '3600' },
    });
    await own.secret('hook-token', TOKEN);
    const repository = git.createRepository('stopped');
    repository.commit(FILES);
    const uid = await own.factory('stopped', { kind: 'git', url: git.urlOf('stopped'), branch: 'main' });
    const commit = repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    git.fault = { kind: 'hang', only: 'fetch' };
    git.forget();
    await own.api('POST', `/factory/${uid}/sync`);
    await eventually('the pass hangs', () => (git.count('fetch') > 0 ? true : undefined));
    await own.stop({ keepData: true });
    git.fault = undefined;
    const next = await bootService({
      dataDir: own.dataDir,
      environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_ADMIN_KEY: own.adminKey },
    });
    await eventually('the new service is up to date', async () =>
      (await statusOf(next, uid)).revision_applied === `main@sha1:${commit}` ? true : undefined,
    );
    expect((await deliver(next.ingressUrl('stopped', 'second'), TOKEN)).status).toBe(202);
    await next.stop();
  });
});
