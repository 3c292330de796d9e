/**
 * Plans of other refs of a followed repository: branches, tags, commits and pull requests, fetched by the service and
 * never applied. contract §12.6 (Plan of a ref)
 */
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan } from '#contracts';
import {
  automationFile,
  automationPath,
  statusOf,
  syncAndGetStatus,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import {
  bootWithRepositories,
  ONE,
  type FollowedFactory,
  type ServiceWithRepositories,
} from '../support/git/git-factories.ts';
import type { GitServer, RequestKind, TestRepository } from '../support/git/git-server.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import type { ApiAnswer } from '../support/services/service.ts';

let git: GitServer;
let service: ServiceWithRepositories['service'];
let following: ServiceWithRepositories['following'];
let stop: ServiceWithRepositories['stop'];
let factory: FollowedFactory;
let repository: TestRepository;
/** One that nothing else is asked of: what its host hears is of these requests. */
let quiet: FollowedFactory;
let viewer: string;
beforeAll(async () => {
  ({ git, service, following, stop } = await bootWithRepositories());
  factory = await following(ONE);
  repository = factory.repository;
  quiet = await following(ONE);
  await syncAndGetStatus(service, quiet.uid);
  viewer = await makeKey(service, 'viewer', { factories: [factory.uid, quiet.uid] });
  await syncAndGetStatus(service, factory.uid);
});
afterAll(() => stop());
afterEach(() => {
  git.fault = undefined;
});

const ask = (ref: unknown, uid = factory.uid): Promise<ApiAnswer> =>
  service.api('POST', `/factory/${uid}/plan`, { ref }, viewer);

async function planned(ref: string): Promise<Plan> {
  const { status, body } = await ask(ref);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as Plan;
}

const shown = ({ changes }: Plan): string[] => changes.map(({ action, kind, slug }) => `${action} ${kind} ${slug}`);

/** A branch that starts where main stands. */
function branch(name: string, files: Record<string, string | null>): string {
  repository.git('update-ref', `refs/heads/${name}`, repository.tip());
  return repository.commit(files, { branch: name });
}

/** A pull request: its commit is on no branch, as a fork's is. */
function pullRequest(name: string, files: Record<string, string | null>): string {
  const commit = branch('of-a-fork', files);
  repository.git('update-ref', name, commit);
  repository.deleteBranch('of-a-fork');
  return commit;
}

describe('a plan of a ref', () => {
  it('shows what a branch would change, and neither applies it nor lets a sync see it', async () => {
    const commit = branch('topic', { [webhookPath('sales')]: webhookFile('hook-token') });
    const before = await statusOf(service, factory.uid);
    const plan = await planned('topic');
    expect(shown(plan)).toEqual(['create webhook sales']);
    expect(plan).toMatchObject({
      valid: true,
      revision: `topic@sha1:${commit}`,
      ref: { name: 'refs/heads/topic', commit },
    });
    expect(plan).not.toHaveProperty('not_run');
    expect(await planned('refs/heads/topic')).toEqual(plan);
    const { revision_seen: seen, revision_applied: applied, inventory } = await syncAndGetStatus(service, factory.uid);
    expect([seen, applied]).toEqual([before.revision_seen, before.revision_applied]);
    expect(inventory.map(({ slug }) => slug).sort()).toEqual(['orders', 'triage']);
    expect((await readdir(join(service.dataDir, 'git'))).sort()).toEqual([factory.uid, quiet.uid].sort());
  });

  it('is of a whole commit, of a tag with a message, and of HEAD', async () => {
    const commit = branch('tagged', { [webhookPath('tagged')]: webhookFile('hook-token') });
    repository.git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'tag', '-a', '-m', 'one', 'v1', commit);
    repository.deleteBranch('tagged');
    const byTag = await planned('v1');
    expect(byTag).toMatchObject({ revision: `refs/tags/v1@sha1:${commit}`, ref: { name: 'refs/tags/v1', commit } });
    const byCommit = await planned(commit.toUpperCase());
    expect(byCommit).toMatchObject({ revision: `sha1:${commit}`, ref: { name: null, commit } });
    expect([shown(byTag), shown(byCommit)]).toEqual([['create webhook tagged'], ['create webhook tagged']]);
    expect(await planned('HEAD')).toMatchObject({ ref: { name: 'refs/heads/main' }, changes: [] });
  });

  it.each([
    ['pull/12', 'refs/pull/12/head'],
    ['refs/pull/13/head', 'refs/pull/13/head'],
    ['merge-requests/14', 'refs/merge-requests/14/head'],
    ['mr/15', 'refs/merge-requests/15/head'],
  ])('%s is a pull request of a fork, judged without what is known of secrets', async (text, name) => {
    const commit = pullRequest(name, {
      [webhookPath('guess')]: webhookFile('hook-token'),
      [webhookPath('other')]: webhookFile('is-there-one-of-this-name'),
    });
    const plan = await planned(text);
    expect(plan).toMatchObject({ valid: true, problems: [], ref: { name, commit } });
    expect(plan.not_run).toEqual(['secrets', 'secret-values', 'secret-changes']);
    expect(shown(plan)).toEqual(['create webhook guess', 'create webhook other']);
    // That the one exists and the other does not is nowhere to be seen.
    for (const change of plan.changes) expect(change).not.toHaveProperty('secret');
    expect((await planned('HEAD')).not_run).toBeUndefined();
  });

  it('has the digest of what a sync would hold only of the branch that is followed', async () => {
    const { uid, repository: own } = await following({ ...ONE, [webhookPath('last')]: webhookFile('hook-token') });
    await syncAndGetStatus(service, uid);
    own.git('update-ref', 'refs/heads/topic', own.tip());
    const nothing = { [webhookPath('orders')]: null, [webhookPath('last')]: null, [automationPath('triage')]: null };
    own.commit({ ...nothing, 'factory.yaml': 'name: x\n' }, { branch: 'topic' });
    const asAdmin = async (ref: string): Promise<Plan> =>
      (await service.api('POST', `/factory/${uid}/plan`, { ref })).body as unknown as Plan;
    expect(await asAdmin('topic')).toMatchObject({ reason: 'prune-held', plan: null });
    own.commit({ ...nothing, 'factory.yaml': 'name: x\n' });
    const { plan } = await asAdmin('main');
    expect(plan).toBe((await syncAndGetStatus(service, uid)).last_sync?.plan);
  });

  it('finds problems with their places, and reads the folder of the factory only', async () => {
    const url = git.urlOf(factory.slug);
    const uid = await service.factory('below', { kind: 'git', url, branch: 'main', path: 'ops' });
    branch('nested', { [`ops/${webhookPath('a')}`]: 'secretname: hook-token\n', 'webhooks/b.yaml': 'nonsense: 1\n' });
    const { body } = await service.api('POST', `/factory/${uid}/plan`, { ref: 'nested' });
    const plan = body as unknown as Plan;
    expect(plan.valid).toBe(false);
    expect([...new Set(plan.problems.map(({ path }) => path))]).toEqual([webhookPath('a')]);
    const without = await service.api('POST', `/factory/${uid}/plan`, { ref: 'topic' });
    expect(without).toMatchObject({ status: 404, body: { detail: expect.stringContaining('no folder "ops"') } });
  });
});

describe('a ref that cannot be planned', () => {
  it.each([
    ['nowhere', 'the repository has no branch and no tag "nowhere"'],
    ['refs/heads/nowhere', 'the repository has no ref "refs/heads/nowhere"'],
    ['pull/99', 'the repository has no pull request "pull/99"'],
    ['+main', 'the repository has no branch and no tag "+main"'],
    ['abcdef1', 'the repository has no branch and no tag "abcdef1"; a commit is named by its whole ID'],
    ['0123456789'.repeat(4), 'the repository has no commit 0123456789'],
  ])('%s is not there', async (ref, words) => {
    expect(await ask(ref)).toMatchObject({
      status: 404,
      body: { error: 'resource_not_found', errors: [{ pointer: '/ref', message: expect.stringContaining(words) }] },
    });
  });

  it('is a file and no commit', async () => {
    const blob = repository.git('rev-parse', `main:${webhookPath('orders')}`).trim();
    repository.git('update-ref', 'refs/tags/a-file', blob);
    expect((await ask('a-file')).status).toBe(404);
    expect((await ask(blob)).status).toBe(404);
  });

  it('is a branch and a tag: both are named', async () => {
    branch('twice', {});
    repository.git('update-ref', 'refs/tags/twice', repository.tip());
    expect(await ask('twice')).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('"twice" is refs/heads/twice and refs/tags/twice') },
    });
    expect((await ask('refs/tags/twice')).status).toBe(200);
  });

  it.each([
    '--upload-pack=touch x',
    '-x',
    'a..b',
    '../../etc',
    'refs/heads/../x',
    'refs/heads/',
    'refs/notes/x',
    'refs/millwright/tip',
    'a b',
    'main~1',
    'refs/heads/*',
    'x:refs/heads/y',
    'a\nb',
    'a\u0000b',
    'x'.repeat(256),
    '\u{1F600}'.repeat(100),
    '',
    7,
    null,
  ])('%j is refused before anybody is asked', async (ref) => {
    git.forget();
    expect(await ask(ref, quiet.uid)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/ref' }] } });
    expect(git.requests.filter(({ path }) => path.startsWith(`/${quiet.slug}/`))).toEqual([]);
  });

  it('stands neither beside files nor alone without both', async () => {
    const plan = (body: unknown): Promise<ApiAnswer> => service.api('POST', `/factory/${factory.uid}/plan`, body);
    expect((await plan({ ref: 'main', files: [] })).status).toBe(400);
    expect((await plan({})).status).toBe(400);
  });

  it('is of a factory that follows no repository', async () => {
    const { body } = await service.api('POST', '/factory', { slug: 'by-hand', source: { kind: 'dashboard' } });
    expect(await service.api('POST', `/factory/${String(body['uid'])}/plan`, { ref: 'main' })).toMatchObject({
      status: 422,
      body: { error: 'operation_not_supported' },
    });
  });

  it('is of a repository that lets nobody in, or is away', async () => {
    const away = await following(ONE);
    const plan = (): Promise<ApiAnswer> => service.api('POST', `/factory/${away.uid}/plan`, { ref: 'main' });
    await syncAndGetStatus(service, away.uid);
    git.tokens.set(away.slug, 'a-token-that-nobody-has');
    expect(await plan()).toMatchObject({ status: 409, body: { error: 'conflict', retryable: false } });
    git.tokens.delete(away.slug);
    git.fault = { kind: 'status', status: 503 };
    expect(await plan()).toMatchObject({ status: 503, body: { error: 'resource_unavailable', retryable: true } });
    git.fault = undefined;
    await service.sync(away.uid);
    expect((await plan()).status).toBe(200);
  });

  it('is of another factory than the key may see', async () => {
    const other = await following(ONE);
    expect((await ask('main', other.uid)).status).toBe(404);
  });
});

describe('millwright plan --ref without a clone', () => {
  const millwright = (...argv: string[]): Promise<Call> =>
    call(['plan', '--factory', factory.slug, ...argv], {
      cwd: tmpdir(),
      environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: viewer },
    });

  it('shows a branch as the service reads it', async () => {
    const commit = branch('for-cli', { [webhookPath('cli')]: webhookFile('hook-token') });
    const { code, out, err } = await millwright('--ref', 'for-cli');
    expect([code, out.split('\n')[0]]).toEqual([2, expect.stringMatching(/^\+ webhook cli /)]);
    expect(err).toContain(`this is refs/heads/for-cli at ${commit}, as the service reads it`);
    expect(await millwright('--ref', 'HEAD', '--remote')).toMatchObject({ code: 0 });
  });

  it('says what was not looked at of a pull request, and what is not there', async () => {
    pullRequest('refs/pull/77/head', { [webhookPath('cli-2')]: webhookFile('nobody-knows') });
    expect(await millwright('--ref', 'pull/77')).toMatchObject({
      code: 2,
      err: expect.stringContaining('not looked at: whether named secrets exist'),
    });
    expect(await millwright('--ref', 'nowhere')).toMatchObject({ code: 5 });
    expect(await millwright('--ref', 'a..b')).toMatchObject({ code: 1 });
    expect(await millwright('--remote')).toMatchObject({ code: 64 });
  });
});

it('asks the host once for all who ask for the same ref, and fetches a commit once', async () => {
  const { uid, slug, repository: own } = await following(ONE);
  await syncAndGetStatus(service, uid);
  own.git('update-ref', 'refs/heads/shared', own.tip());
  own.commit({ [automationPath('shared')]: automationFile(['orders']) }, { branch: 'shared' });
  const plan = async (): Promise<unknown> =>
    (await service.api('POST', `/factory/${uid}/plan`, { ref: 'shared' })).body['changes'];
  // Syncs of other factories go on meanwhile.
  const count = (kind: RequestKind): number =>
    git.requests.filter((request) => request.kind === kind && request.path.startsWith(`/${slug}/`)).length;
  let open = (): void => undefined;
  const until = new Promise<void>((resolve) => (open = resolve));
  git.forget();
  git.fault = { kind: 'hold', until, only: 'ls-refs' };
  const asked = Array.from({ length: 4 }, () => plan());
  while (count('ls-refs') === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  git.fault = undefined;
  open();
  const plans = await Promise.all(asked);
  expect(new Set(plans.map((changes) => JSON.stringify(changes))).size).toBe(1);
  expect(plans[0]).toMatchObject([{ action: 'create', slug: 'shared' }]);
  const fetches = count('fetch');
  // One to look it up, and one of git's own before it fetches.
  expect([count('ls-refs'), fetches > 0]).toEqual([2, true]);
  await plan();
  expect([count('ls-refs'), count('fetch')]).toEqual([3, fetches]);
});

it('answers 429 to a key that asks for too many refs at the same time, and the others go on', async () => {
  let open = (): void => undefined;
  const until = new Promise<void>((resolve) => (open = resolve));
  git.fault = { kind: 'hold', until };
  const asked = Array.from({ length: 8 }, (_, index) => ask(`of-many-${index}`));
  const first = await Promise.race(asked);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '5']);
  git.fault = undefined;
  open();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  expect(statuses.filter((status) => status === 404)).toHaveLength(5);
});

it('lets a sync read the branch while another ref is being read', async () => {
  const { uid, repository: own } = await following(ONE);
  await syncAndGetStatus(service, uid);
  own.git('update-ref', 'refs/heads/topic', own.tip());
  const commit = own.commit({ [webhookPath('new')]: webhookFile('hook-token') });
  const plans = Array.from({ length: 3 }, () => service.api('POST', `/factory/${uid}/plan`, { ref: 'topic' }));
  const synced = await syncAndGetStatus(service, uid);
  expect(synced.revision_applied).toBe(`main@sha1:${commit}`);
  expect((await Promise.all(plans)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
