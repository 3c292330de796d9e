/**
 * Pull requests at a real Gitea, from the push to the merge: it is asked, told and answered as any other of its
 * clients, and its own webhook says when. contract §9.9 (Feedback in pull requests).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PullRequestList } from '#contracts';
import { startGitea, type Gitea } from '../support/forges/gitea.ts';
import { automationFile, automationPath, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { createRepository, type TestRepository } from '../support/git/git-repository.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const PUSH_SECRET = 'a-push-secret-of-sixteen';
/** Gitea on SQLite leaves a request unanswered for 20 s now and then, while it takes pushes. */
const AWAITED_MS = 120_000;

interface Status {
  id: number;
  status: string;
  context: string;
  description: string;
}

let folder: string;
let gitea: Gitea;
let service: TestService;
let local: TestRepository;
let token: string;
let uid: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gitea-work-'));
  gitea = await startGitea();
  token = await gitea.user('ann');
  demand(await gitea.api(token, 'POST', '/user/repos', { name: 'shop', default_branch: 'main' }), 201);
  local = createRepository(folder, 'shop');
  local.commit({
    [webhookPath('orders')]: webhookFile('hook-token'),
    [automationPath('triage')]: automationFile(['orders']),
  });
  push('main');
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: gitea.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
    },
  });
  await service.secret('hook-token', 'a-token-of-sixteen-or-more');
  const grants = { factories: '*', uses: ['forge'] };
  for (const [name, value] of Object.entries({ 'forge-token': token, push: PUSH_SECRET }))
    demand(await service.api('PUT', `/secrets/${name}`, { value, grants }), 200);
  uid = await service.factory('shop', {
    kind: 'git',
    url: `${gitea.url}/ann/shop.git`,
    branch: 'main',
    forge: 'gitea',
    forgeSecret: 'forge-token',
    pushSecret: 'push',
  });
  const events = ['push', 'pull_request', 'pull_request_sync'];
  const config = { url: `${service.url}/api/v1/factory/${uid}/push`, content_type: 'json', secret: PUSH_SECRET };
  const hook = { type: 'gitea', active: true, events, config };
  demand(await gitea.api(token, 'POST', '/repos/ann/shop/hooks', hook), 201);
}, 300_000);

afterAll(async () => {
  await service?.stop();
  await gitea?.close();
  await rm(folder, { recursive: true, force: true });
});

function demand({ status, body }: { status: number; body: unknown }, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body)}`);
}

function push(branch: string, to: { repository?: string; user?: string; token?: string } = {}): void {
  const { repository = 'ann/shop', user = 'ann', token: secret = token } = to;
  const address = `${gitea.url.replace('https://', `https://${user}:${secret}@`)}/${repository}.git`;
  local.git('-c', `http.sslCAInfo=${gitea.caFile}`, 'push', '--quiet', '--force', address, `${branch}:${branch}`);
}

/** Commits to a branch of its own, and pushes it. */
function commit(branch: string, files: Record<string, string | null>): string {
  if (local.git('branch', '--list', branch).trim() === '') local.git('branch', branch, 'main');
  const head = local.commit(files, { branch });
  push(branch);
  return head;
}

/** Gitea knows a branch some time after the push was answered, and until then no pull request can be made of it. */
async function open(branch: string, title: string, head = branch): Promise<number> {
  const [owner, name] = head.includes(':') ? head.split(':') : ['ann', head];
  await eventually(
    `Gitea knows the branch ${head}`,
    async () => (await gitea.api(token, 'GET', `/repos/${owner}/shop/branches/${name}`)).status === 200 || undefined,
    AWAITED_MS,
  );
  const made = await gitea.api<{ number: number }>(token, 'POST', '/repos/ann/shop/pulls', {
    title,
    head,
    base: 'main',
  });
  expect(made.status).toBe(201);
  return made.body.number;
}

const statusOf = async (sha: string): Promise<Status | undefined> =>
  (await gitea.api<Status[]>(token, 'GET', `/repos/ann/shop/commits/${sha}/statuses?limit=50`)).body
    .filter(({ context }) => context === 'millwright/shop')
    .toSorted((one, other) => one.id - other.id)
    .at(-1);
const terminal = (sha: string): Promise<Status> =>
  eventually(
    `${sha.slice(0, 7)} has a terminal status`,
    async () => {
      const status = await statusOf(sha);
      return status !== undefined && status.status !== 'pending' ? status : undefined;
    },
    AWAITED_MS,
  );
const comments = async (number: number): Promise<{ id: number; body: string }[]> =>
  (await gitea.api<{ id: number; body: string }[]>(token, 'GET', `/repos/ann/shop/issues/${number}/comments`)).body;
const pulls = async (): Promise<PullRequestList> =>
  (await service.api('GET', `/factory/${uid}/pull-requests`)).body as unknown as PullRequestList;

it('fails with file and line, succeeds once it is mended, and its merged commit serves', async () => {
  const broken = commit('topic', { [webhookPath('sales')]: 'secretname: hook-token\n' });
  const number = await open('topic', 'Take deliveries of sales');
  expect(await terminal(broken)).toMatchObject({
    status: 'failure',
    description: expect.stringMatching(/^webhooks\/sales\.yaml:1:1: /),
  });
  const [comment] = await eventually('there is a comment', async () => {
    const found = await comments(number);
    return found.length > 0 ? found : undefined;
  });
  expect(comment?.body).toContain('this does not apply');

  const mended = commit('topic', { [webhookPath('sales')]: webhookFile('hook-token') });
  expect(await terminal(mended)).toMatchObject({
    status: 'success',
    description: '1 to create, 0 to update, 0 to delete',
  });
  await eventually(
    'the comment is the one of the plan',
    async () => (await comments(number))[0]?.body.includes('+ webhook sales') || undefined,
  );
  expect(await comments(number)).toHaveLength(1);
  expect(await pulls()).toMatchObject({
    pull_requests: [{ number, head: mended, verdict: 'success', author: 'ann' }],
    forge: { kind: 'gitea', repository: 'ann/shop', fault: null },
  });

  const merge = { Do: 'merge', delete_branch_after_merge: false };
  const merged = await eventually('it can be merged', async () => {
    const { status } = await gitea.api(token, 'POST', `/repos/ann/shop/pulls/${number}/merge`, merge);
    return status === 200 || undefined;
  });
  expect(merged).toBe(true);
  const tip = (await gitea.api<{ commit: { id: string } }>(token, 'GET', '/repos/ann/shop/branches/main')).body.commit;
  await eventually(
    'the merged commit serves',
    async () => (await statusOf(tip.id))?.status === 'success' || undefined,
    AWAITED_MS,
  );
  expect((await statusOf(tip.id))?.description).toBe('applied: it serves');
  await eventually('it is open no more', async () => (await pulls()).pull_requests.length === 0 || undefined);
}, 240_000);

it('has one comment, however it is closed, opened again and written to', async () => {
  const head = commit('again', { [webhookPath('again')]: webhookFile('hook-token') });
  const number = await open('again', '<b>Again</b> `and` @ann');
  await terminal(head);
  const [first] = await eventually('there is a comment', async () => {
    const found = await comments(number);
    return found.length > 0 ? found : undefined;
  });
  for (const state of ['closed', 'open'])
    expect((await gitea.api(token, 'PATCH', `/repos/ann/shop/pulls/${number}`, { state })).status).toBe(201);
  expect((await gitea.api(token, 'DELETE', `/repos/ann/shop/issues/comments/${first?.id}`)).status).toBe(204);
  const next = commit('again', { [webhookPath('more')]: webhookFile('hook-token') });
  await terminal(next);
  const left = await eventually('it is said anew', async () => {
    const found = await comments(number);
    return found.some(({ body }) => body.includes('+ webhook more')) ? found : undefined;
  });
  expect(left).toHaveLength(1);
  expect(left[0]?.id).not.toBe(first?.id);
}, 240_000);

it('of a fork is judged without what is known of secrets', async () => {
  const stranger = await gitea.user('bob');
  expect((await gitea.api(stranger, 'POST', '/repos/ann/shop/forks', {})).status).toBe(202);
  if (local.git('branch', '--list', 'theirs').trim() === '') local.git('branch', 'theirs', 'main');
  const head = local.commit({ [webhookPath('guess')]: webhookFile('is-there-one') }, { branch: 'theirs' });
  await eventually('the fork is there', async () => {
    const { status } = await gitea.api(stranger, 'GET', '/repos/bob/shop/branches/main');
    return status === 200 || undefined;
  });
  push('theirs', { repository: 'bob/shop', user: 'bob', token: stranger });
  const number = await open('theirs', 'From outside', 'bob:theirs');
  expect(await terminal(head)).toMatchObject({ status: 'success' });
  await eventually(
    'it is listed',
    async () => (await pulls()).pull_requests.some((pull) => pull.number === number && pull.fork) || undefined,
  );
}, 240_000);

it('gives every commit of a burst a terminal status', async () => {
  const heads: string[] = [];
  const numbers: number[] = [];
  for (let at = 0; at < 10; at += 1) {
    heads.push(commit(`burst-${at}`, { [webhookPath(`b${at}`)]: webhookFile('hook-token') }));
    numbers.push(await open(`burst-${at}`, `Burst ${at}`));
  }
  // Of the commits that a pull request has when it is first listed only its head has a status.
  const listed = async (): Promise<Set<number>> => new Set((await pulls()).pull_requests.map(({ number }) => number));
  await eventually(
    'all are listed',
    async () => (await listed().then((known) => numbers.every((number) => known.has(number)))) || undefined,
    AWAITED_MS,
  );
  for (let round = 1; round <= 5; round += 1)
    for (let at = 0; at < 10; at += 1)
      heads.push(commit(`burst-${at}`, { [webhookPath(`b${at}`)]: `${webhookFile('hook-token')}# ${round}\n` }));
  const beganMs = performance.now();
  for (const head of heads) await terminal(head);
  const tookMs = Math.round(performance.now() - beganMs);
  process.stderr.write(`${heads.length} commits of 10 pull requests: all terminal ${tookMs} ms after the last\n`);
}, 400_000);
