/**
 * Cannot read is not empty: whatever a git host does, what was applied keeps serving, the state is shown, and it mends
 * itself. contract §9.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createRepository,
  hideRepository,
  startGitServer,
  type Fault,
  type GitServer,
  type TestRepository,
} from '../support/git/git-server.ts';
import {
  automationFile,
  automationPath,
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
  type FactoryStatus,
} from '../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

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
  git.token = undefined;
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

interface Following {
  slug: string;
  uid: string;
  repository: TestRepository;
  before: FactoryStatus;
}

async function following(source: { path?: string } = {}, files: Record<string, string> = FILES): Promise<Following> {
  const slug = `f${(count += 1)}`;
  const repository = git.createRepository(slug);
  repository.commit(files);
  const uid = await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main', ...source });
  return { slug, uid, repository, before: await statusOf(service, uid) };
}

async function expectServing({ slug, uid, before }: Following, reason: string): Promise<FactoryStatus> {
  const status = await syncAndGetStatus(service, uid);
  expect(status.condition).toMatchObject({ ending: 'failed', reason });
  expect(status.revision_applied).toBe(before.revision_applied);
  expect(status.inventory).toEqual(before.inventory);
  expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  return status;
}

/** Takes an object out of a repository's store; answers what puts it back. */
function loseObject(repository: TestRepository, object: string): () => void {
  const file = join(repository.folder, 'objects', object.slice(0, 2), object.slice(2));
  renameSync(file, `${file}.lost`);
  return () => renameSync(`${file}.lost`, file);
}

/** It recovers by itself: nobody asks for the pass that finds the repository again. */
async function expectRecovery({ slug, uid, repository }: Following): Promise<void> {
  repository.commit({ [webhookPath('later')]: webhookFile('hook-token') });
  await eventually('the factory follows again', async () =>
    (await statusOf(service, uid)).inventory.some(({ slug: name }) => name === 'later') ? true : undefined,
  );
  expect((await deliver(service.ingressUrl(slug, 'later'), TOKEN)).status).toBe(202);
}

describe('a git host that', () => {
  const faults: [string, Fault, string, string][] = [
    ['refuses connections', { kind: 'refuse' }, 'unreachable', 'a host that is down'],
    ['answers 500', { kind: 'status', status: 500 }, 'unreachable', 'a brown-out, the outage that wiped others'],
    ['answers 503', { kind: 'status', status: 503 }, 'unreachable', 'maintenance'],
    ['answers 429', { kind: 'status', status: 429 }, 'unreachable', 'too many questions, which only patience answers'],
    ['answers 401', { kind: 'status', status: 401 }, 'denied', 'a token that ran out'],
    ['answers 403', { kind: 'status', status: 403 }, 'denied', 'access that was taken away'],
    ['answers 404', { kind: 'status', status: 404 }, 'repository-missing', 'hosts hide private repositories so'],
    ['redirects', { kind: 'redirect', to: 'https://127.0.0.1:1' }, 'refused', 'credentials would follow a redirect'],
    [
      'answers a web page',
      { kind: 'html' },
      'empty',
      'a sign-in page in front of the host: no refs, which must not mean no files',
    ],
  ];
  it.each(faults)('%s changes nothing', async (_what, fault, reason, why) => {
    expect(why).not.toBe('');
    const factory = await following();
    git.fault = fault;
    await expectServing(factory, reason);
    git.fault = undefined;
    await expectRecovery(factory);
  });

  const newer: [string, Fault][] = [
    ['cuts the connection in the middle of a pack', { kind: 'cut', afterBytes: 40, only: 'fetch' }],
    ['keeps the files back', { kind: 'withhold', only: 'fetch' }],
  ];
  it.each(newer)('%s never shows half a tree', async (_what, fault) => {
    const factory = await following();
    factory.repository.commit({
      [webhookPath('orders')]: null,
      [automationPath('triage')]: null,
      [webhookPath('next')]: webhookFile('hook-token'),
    });
    git.fault = fault;
    const status = await syncAndGetStatus(service, factory.uid);
    expect(status.condition.ending).not.toBe('applied');
    // Whether the deletions were seen and held or not: the same serves as before.
    expect(status.inventory.map(({ kind, slug, revision }) => [kind, slug, revision])).toEqual(
      factory.before.inventory.map(({ kind, slug, revision }) => [kind, slug, revision]),
    );
    git.fault = undefined;
  });

  it('is slow is waited for as long as it sends; one that sends less than one can wait for is a failure', async () => {
    const [slow, stalled] = [await following(), await following()];
    for (const { repository } of [slow, stalled])
      repository.commit(
        { [webhookPath('next')]: webhookFile('hook-token') },
        { message: randomBytes(56_000).toString('base64') },
      );
    git.forget();
    git.fault = { kind: 'trickle', bytesPerSecond: 500, only: 'fetch' };
    await service.api('POST', `/factory/${stalled.uid}/sync`);
    await eventually(
      'the pack is on its way',
      () =>
        git.requests.some(({ kind, path }) => kind === 'fetch' && path.startsWith(`/${stalled.slug}/`)) || undefined,
    );
    // longer than the half minute after which a stalled transfer is given up
    git.fault = { kind: 'trickle', bytesPerSecond: 1_700, only: 'fetch' };
    await service.api('POST', `/factory/${slow.uid}/sync`);
    const ended = async ({ uid, before }: Following): Promise<FactoryStatus> =>
      eventually(
        'the pass is over',
        async () =>
          ((status) => (status.generation_handled > before.generation_handled ? status : undefined))(
            await statusOf(service, uid),
          ),
        100_000,
      );
    const status = await ended(stalled);
    git.fault = undefined; // what is on its way stays slow
    expect(status).toMatchObject({
      condition: { ending: 'failed', reason: 'timeout' },
      revision_applied: stalled.before.revision_applied,
    });
    expect(status.inventory).toEqual(stalled.before.inventory);
    expect((await deliver(service.ingressUrl(stalled.slug, 'orders'), TOKEN)).status).toBe(202);
    expect(await ended(slow)).toMatchObject({
      condition: { ending: 'applied' },
      inventory: expect.arrayContaining([expect.objectContaining({ slug: 'next' })]),
    });
    await eventually(
      'it is read again, by itself',
      async () => (await statusOf(service, stalled.uid)).inventory.some(({ slug }) => slug === 'next') || undefined,
    );
  }, 150_000);

  it.each([
    ['commit', (repository: TestRepository) => repository.tip()],
    ['tree', (repository: TestRepository) => repository.git('rev-parse', 'main:webhooks').trim()],
    ['file', (repository: TestRepository) => repository.git('rev-parse', `main:${webhookPath('next')}`).trim()],
  ])('advertises what it does not have (a %s) never shows half a tree', async (_what, objectOf) => {
    const factory = await following();
    factory.repository.commit({ [webhookPath('next')]: webhookFile('hook-token', 'description: next') });
    const bringBack = loseObject(factory.repository, objectOf(factory.repository));
    const { condition, inventory, revision_applied } = await syncAndGetStatus(service, factory.uid);
    expect(condition.ending).toBe('failed');
    expect([revision_applied, inventory.length]).toEqual([
      factory.before.revision_applied,
      factory.before.inventory.length,
    ]);
    expect((await deliver(service.ingressUrl(factory.slug, 'orders'), TOKEN)).status).toBe(202);
    bringBack();
    await expectRecovery(factory);
  });

  it('hangs holds up no other factory, no readiness and no deletion of the factory', async () => {
    const hanging = await following();
    const other = await following();
    git.fault = { kind: 'hang' };
    await service.api('POST', `/factory/${hanging.uid}/sync`);
    await eventually('the pass waits for the host', () =>
      git.requests.at(-1)?.path.startsWith(`/${hanging.slug}/`) ? true : undefined,
    );
    git.fault = undefined;
    other.repository.commit({ [webhookPath('later')]: webhookFile('hook-token') });
    expect((await syncAndGetStatus(service, other.uid)).inventory.map(({ slug }) => slug)).toContain('later');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect((await deliver(service.ingressUrl(hanging.slug, 'orders'), TOKEN)).status).toBe(202);
    expect((await service.api('DELETE', `/factory/${hanging.uid}`)).status).toBe(204);
    expect((await deliver(service.ingressUrl(hanging.slug, 'orders'), TOKEN)).status).toBe(404);
  });
});

describe('a repository', () => {
  it('that is gone changes nothing', async () => {
    const factory = await following();
    const bring = hideRepository(factory.repository);
    await expectServing(factory, 'repository-missing');
    bring();
    await expectRecovery(factory);
  });

  it('without the branch changes nothing', async () => {
    const factory = await following();
    factory.repository.commit({ 'README.md': 'x' }, { branch: 'other' });
    const tip = factory.repository.tip();
    factory.repository.deleteBranch('main');
    const status = await expectServing(factory, 'branch-missing');
    expect(status.condition.message).toContain('"main"');
    factory.repository.git('update-ref', 'refs/heads/main', tip);
    await expectRecovery(factory);
  });

  it('without any commit changes nothing', async () => {
    const factory = await following();
    factory.repository.deleteBranch('main');
    await expectServing(factory, 'empty');
    factory.repository.commit(FILES);
    await expectRecovery(factory);
  });

  it('without the configured path changes nothing', async () => {
    const inFolder = Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`factory/${path}`, text]));
    const factory = await following({ path: 'factory' }, inFolder);
    factory.repository.commit({
      ...Object.fromEntries(Object.keys(inFolder).map((path) => [path, null])),
      'README.md': 'moved',
    });
    await expectServing(factory, 'path-missing');
  });

  it('with an empty tree is held, and so is one whose definitions are all gone', async () => {
    const factory = await following();
    factory.repository.commit({
      ...Object.fromEntries(Object.keys(FILES).map((path) => [path, null])),
      'README.md': 'nothing here',
    });
    const held = await syncAndGetStatus(service, factory.uid);
    expect(held.condition.ending).toBe('blocked');
    expect(held.inventory).toEqual(factory.before.inventory);
    factory.repository.commit({ 'README.md': null });
    expect((await syncAndGetStatus(service, factory.uid)).condition.ending).not.toBe('applied');
    expect((await deliver(service.ingressUrl(factory.slug, 'orders'), TOKEN)).status).toBe(202);
  });

  it('whose outage lasts is recorded once, not once per try', async () => {
    const factory = await following();
    const hidden = hideRepository(factory.repository);
    await syncAndGetStatus(service, factory.uid);
    const recorded = await syncsOf(service, factory.uid);
    for (let time = 0; time < 3; time += 1) await syncAndGetStatus(service, factory.uid);
    expect(await syncsOf(service, factory.uid)).toEqual(recorded);
    hidden();
  });

  it('that needs a token is read with the secret that is granted for git, and only with it', async () => {
    git.token = 'git-token-of-the-host';
    const repository = git.createRepository('private');
    repository.commit(FILES);
    expect(
      (await service.api('PUT', '/secrets/git-token', { value: git.token, grants: { uses: ['webhook'] } })).status,
    ).toBe(200);
    const created = await service.api('POST', '/factory', {
      slug: 'private',
      source: { kind: 'git', url: git.urlOf('private'), branch: 'main', credential_secret: 'git-token' },
    });
    const uid = String(created.body['uid']);
    expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({ ending: 'failed', reason: 'denied' });
    await service.api('PUT', '/secrets/git-token', { grants: { uses: ['git'] } });
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('applied');
    expect(service.logged.join('')).not.toContain('git-token-of-the-host');
    expect(JSON.stringify(await syncsOf(service, uid))).not.toContain('git-token-of-the-host');
  });
});

describe('a local repository', () => {
  it('is read by a file: address where the operator allows it', async () => {
    const root = mkdtempSync(join(tmpdir(), 'millwright-local-'));
    const repository = createRepository(root, 'local');
    repository.commit(FILES);
    const created = await service.api('POST', '/factory', {
      slug: 'local',
      source: { kind: 'git', url: `file://${repository.folder}`, branch: 'main' },
    });
    expect(created.status).toBe(200);
    expect((await syncAndGetStatus(service, String(created.body['uid']))).condition.ending).toBe('applied');
    rmSync(root, { recursive: true });
  });
});
