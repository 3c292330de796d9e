/** Factories over the API: made, looked at, pointed at sources, deleted; and their pass history. contract §4. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import {
  automationFile,
  automationPath,
  conditionOf,
  deliver,
  statusOf,
  syncAndGetStatus,
  webhookFile,
  webhookPath,
  type SyncItem,
} from '../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const FILES = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
let git: GitServer;
const repositories = new Map<string, TestRepository>();
let service: TestService;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'false',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
    },
  });
  await service.secret('hook-token', TOKEN);
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

function repositoryOf(slug: string): TestRepository {
  const repository = repositories.get(slug);
  if (repository === undefined) throw new Error(`no repository ${slug}`);
  return repository;
}

async function created(slug: string): Promise<string> {
  const repository = git.createRepository(slug);
  repositories.set(slug, repository);
  repository.commit(FILES);
  const answer = await service.api('POST', '/factory', {
    slug,
    source: { kind: 'git', url: git.urlOf(slug), branch: 'main' },
  });
  expect(answer.status).toBe(200);
  await service.sync(String(answer.body['uid']));
  return String(answer.body['uid']);
}

describe('creating a factory', () => {
  it('follows a git repository from then on', async () => {
    const uid = await created('alpha');
    expect(uid).toMatch(/^fac_[0-9a-hjkmnp-tv-z]{26}$/);
    expect((await service.api('GET', `/factory/${uid}`)).body).toMatchObject({
      uid,
      slug: 'alpha',
      name: 'alpha',
      suspended: false,
      definitions_managed: true,
      source: { kind: 'git', branch: 'main' },
    });
    expect((await deliver(service.ingressUrl('alpha', 'orders'), TOKEN)).status).toBe(202);
    const webhooks = (await service.api('GET', `/factory/${uid}/webhooks`)).body['webhooks'];
    expect(webhooks).toEqual([
      expect.objectContaining({
        uid: service.webhookUid('alpha', 'orders'),
        slug: 'orders',
        auth_mode: 'token',
        secret_name: 'hook-token',
        enabled: true,
        file: webhookPath('orders'),
        ingress_url: service.ingressUrl('alpha', 'orders'),
        revision: (await statusOf(service, uid)).revision_applied,
      }),
    ]);
  });

  const refused: [string, unknown, number, string, string][] = [
    [
      'a directory',
      { slug: 'x', source: { kind: 'directory', path: '/etc' } },
      400,
      '/source/kind',
      'the operator did not allow local sources',
    ],
    [
      'a file: address',
      { slug: 'x', source: { kind: 'git', url: 'file:///etc' } },
      400,
      '/source/url',
      'the operator did not allow local sources',
    ],
    [
      'a plain path',
      { slug: 'x', source: { kind: 'git', url: '/etc' } },
      400,
      '/source/url',
      'the operator did not allow local sources',
    ],
    [
      'an http: address',
      { slug: 'x', source: { kind: 'git', url: 'http://example.com/r' } },
      400,
      '/source/url',
      'credentials would travel in the clear',
    ],
    [
      'an ext:: address',
      { slug: 'x', source: { kind: 'git', url: 'ext::sh -c id' } },
      400,
      '/source/url',
      'it would run a command',
    ],
    [
      'an option',
      { slug: 'x', source: { kind: 'git', url: '--upload-pack=id' } },
      400,
      '/source/url',
      'git would take it for an option',
    ],
    [
      'a password in the address',
      { slug: 'x', source: { kind: 'git', url: 'https://u:hidden-word@example.com/r' } },
      400,
      '/source/url',
      'secrets are named, not written',
    ],
    [
      'a user name in the address',
      { slug: 'x', source: { kind: 'git', url: 'https://hidden-word@example.com/r' } },
      400,
      '/source/url',
      'it can be a token',
    ],
    [
      'an option for a branch',
      { slug: 'x', source: { kind: 'git', url: 'https://example.com/r', branch: '--upload-pack=x' } },
      400,
      '/source/branch',
      'no branch is called so',
    ],
    [
      'a path that leads out',
      { slug: 'x', source: { kind: 'git', url: 'https://example.com/r', path: '../..' } },
      400,
      '/source/path',
      'a folder of the repository',
    ],
    ['no address', { slug: 'x', source: { kind: 'git' } }, 400, '/source/url', 'the member is required'],
    ['an unknown kind', { slug: 'x', source: { kind: 'svn', url: 'x' } }, 400, '/source/kind', 'only what is known'],
    [
      'a bad slug',
      { slug: 'X Y', source: { kind: 'git', url: 'https://example.com/r' } },
      400,
      '/slug',
      'slugs are part of UIDs',
    ],
    ['no slug', { source: { kind: 'git', url: 'https://example.com/r' } }, 400, '/slug', 'the member is required'],
  ];
  it.each(refused)('refuses %s', async (_what, body, status, pointer, why) => {
    expect(why).not.toBe('');
    const answer = await service.api('POST', '/factory', body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect((answer.body['errors'] as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
    expect(JSON.stringify(answer.body)).not.toContain('hidden-word');
  });

  it('refuses a slug that is taken', async () => {
    await created('taken');
    const answer = await service.api('POST', '/factory', {
      slug: 'taken',
      source: { kind: 'git', url: git.urlOf('taken') },
    });
    expect(answer).toMatchObject({ status: 409, body: { error: 'conflict', retryable: false } });
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  it('lets one of two that race for a slug win', async () => {
    git.createRepository('race').commit(FILES);
    const body = { slug: 'race', source: { kind: 'git', url: git.urlOf('race') } };
    const answers = await Promise.all([service.api('POST', '/factory', body), service.api('POST', '/factory', body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('changing a factory', () => {
  it('gives it another name, which passes leave alone', async () => {
    const uid = await created('labelled');
    expect(await service.api('PATCH', `/factory/${uid}`, { name: 'Our orders' })).toMatchObject({
      status: 200,
      body: { uid, slug: 'labelled', name: 'Our orders', source: { kind: 'git', branch: 'main' } },
    });
    repositoryOf('labelled').commit({ [webhookPath('more')]: webhookFile('hook-token') });
    await service.sync(uid);
    expect((await service.api('GET', `/factory/${uid}`)).body).toMatchObject({ name: 'Our orders' });
  });

  it('keeps its source when the new one cannot be', async () => {
    const uid = await created('kept');
    const answer = await service.api('PATCH', `/factory/${uid}`, {
      source: { kind: 'git', url: git.urlOf('kept'), branch: 'a..b' },
    });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/source/branch' }] } });
    expect((await service.api('GET', `/factory/${uid}`)).body).toMatchObject({ source: { branch: 'main' } });
  });

  it('leaves a name to the file that decides it, and takes it back when the file is silent', async () => {
    const uid = await created('named');
    const repository = repositoryOf('named');
    repository.commit({ 'factory.yaml': 'name: From the file\n' });
    await service.sync(uid);
    const answer = await service.api('PATCH', `/factory/${uid}`, { name: 'Mine' });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: 'conflict', retryable: false, file: 'factory.yaml', key: 'name' },
    });
    repository.commit({ 'factory.yaml': 'description: no name\n' });
    await service.sync(uid);
    expect((await service.api('GET', `/factory/${uid}`)).body).toMatchObject({ name: 'named', description: 'no name' });
    expect((await service.api('PATCH', `/factory/${uid}`, { name: 'Mine' })).body).toMatchObject({ name: 'Mine' });
  });

  it('points it to another source, with the same URLs', async () => {
    const uid = await created('moving');
    const other = git.createRepository('moved');
    other.commit({ ...FILES, [webhookPath('new-here')]: webhookFile('hook-token') });
    const answer = await service.api('PATCH', `/factory/${uid}`, {
      source: { kind: 'git', url: git.urlOf('moved'), branch: 'main' },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { uid, name: 'moving', source: { kind: 'git', url: git.urlOf('moved') } },
    });
    await service.sync(uid);
    expect((await statusOf(service, uid)).inventory.map(({ slug }) => slug).sort()).toEqual([
      'new-here',
      'orders',
      'triage',
    ]);
    expect((await deliver(service.ingressUrl('moving', 'orders'), TOKEN)).status).toBe(202);
  });

  it.each([
    [{ name: '' }, '/name', 'a label is not empty'],
    [{ name: 5 }, '/name', 'wrong type'],
    [{ source: { kind: 'directory', path: '/etc' } }, '/source/kind', 'the operator did not allow local sources'],
    [{ source: { kind: 'git', url: 'ext::sh -c id' } }, '/source/url', 'the same rules as at its making'],
    [{ source: { kind: 'git' } }, '/source/url', 'the member is required'],
  ])('refuses %j', async (body, pointer, why) => {
    expect(why).not.toBe('');
    const [{ uid } = { uid: '' }] = (await service.api('GET', '/factory?search=moving')).body['factories'] as {
      uid: string;
    }[];
    const before = (await service.api('GET', `/factory/${uid}`)).body;
    const answer = await service.api('PATCH', `/factory/${uid}`, body);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map((error) => error.pointer)).toEqual([pointer]);
    expect((await service.api('GET', `/factory/${uid}`)).body).toEqual(before);
  });

  it('changes nothing when nothing is asked for, and nothing where there is none', async () => {
    const uid = await created('unchanged');
    const before = (await service.api('GET', `/factory/${uid}`)).body;
    expect((await service.api('PATCH', `/factory/${uid}`, {})).body).toEqual(before);
    expect((await service.api('PATCH', `/factory/${uid}`, { slug: 'other' })).status).toBe(400);
    expect((await service.api('GET', `/factory/${uid}`)).body).toEqual(before);
    expect((await service.api('PATCH', '/factory/fac_00000000000000000000000000', { name: 'x' })).status).toBe(404);
  });
});

describe('a sync policy', () => {
  const ALWAYS = { windows: [{ kind: 'deny', schedule: '* * * * *', duration_minutes: 1 }] };

  it('that closes the window keeps definitions until it is changed; secrets move, what is wrong is shown', async () => {
    const uid = await created('windowed');
    expect(await service.api('PATCH', `/factory/${uid}`, { sync_policy: ALWAYS })).toMatchObject({
      status: 200,
      body: { sync_policy: ALWAYS, name: 'windowed' },
    });
    repositoryOf('windowed').commit({ [webhookPath('later')]: webhookFile('hook-token') });
    await service.secret('hook-token', `${TOKEN}-2`);
    const held = await syncAndGetStatus(service, uid);
    expect(held.condition).toMatchObject({ ending: 'blocked', reason: 'outside-sync-window' });
    expect(held.inventory.map(({ slug }) => slug)).toEqual(['orders', 'triage']);
    expect([conditionOf(held, 'Ready'), conditionOf(held, 'Stalled'), conditionOf(held, 'DefinitionsInvalid')]).toEqual(
      ['False(outside-sync-window)', 'False(outside-sync-window)', 'False(blocked)'],
    );
    expect((await deliver(service.ingressUrl('windowed', 'orders'), `${TOKEN}-2`)).status).toBe(202);
    await service.secret('hook-token', TOKEN);
    const revision = await service.api('GET', `/factory/${uid}/revisions/${repositoryOf('windowed').tip()}`);
    expect(revision.body).toMatchObject({ state: 'waiting', sync: { reason: 'outside-sync-window' } });
    // A plan is of the pass that comes when it opens, and says that it waits until then.
    const files = [...Object.entries(FILES), [webhookPath('later'), webhookFile('hook-token')]].map(
      ([path, content]) => ({ path, content }),
    );
    expect((await service.api('POST', `/factory/${uid}/plan`, { files })).body).toMatchObject({
      ending: 'applied',
      reason: null,
      message: expect.stringContaining('the sync windows do not open within 400 days'),
      summary: { create: 1 },
    });
    expect((await service.api('POST', `/factory/${uid}/plan`, { files: files.slice(0, -1) })).body).toMatchObject({
      ending: 'applied',
      message: null,
      summary: { create: 0 },
    });
    expect((await service.api('PATCH', `/factory/${uid}`, { sync_policy: {} })).body).toMatchObject({
      sync_policy: {},
    });
    await eventually('the policy change asks for a pass', async () =>
      (await statusOf(service, uid)).condition.ending === 'applied' ? true : undefined,
    );
    expect((await statusOf(service, uid)).events.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['policy-changed', 'outside-sync-window', 'secrets-moved', 'applied']),
    );
    const [entry] = (await service.api('GET', `/audit?subject=${uid}&limit=1`)).body['entries'] as {
      action: string;
      details: unknown;
    }[];
    expect(entry).toMatchObject({
      action: 'factory.change',
      details: { changed: ['sync_policy'], policy: [], policy_changes: ['−windows'] },
    });
    // A mistyped member would ask nothing.
    const mistyped = await service.api('PATCH', `/factory/${uid}`, { sync_policy: { fast_foward_only: true } });
    expect(mistyped).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            pointer: '/sync_policy/fast_foward_only',
            message: expect.stringContaining('did you mean "fast_forward_only"?'),
          },
        ],
      },
    });
  });

  it('is taken at the making too, and every part that cannot be is named', async () => {
    git.createRepository('policed').commit(FILES);
    const source = { kind: 'git', url: git.urlOf('policed'), branch: 'main' };
    const pointersOf = (answer: { body: Record<string, unknown> }): string[] =>
      (answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);
    const bad = {
      verify_commits: { keys: ['no key at all, whoever says so'] },
      windows: [
        { kind: 'allow', schedule: '0 9 * * 1-5', duration_minutes: 60 },
        { kind: 'deny', schedule: '61 * * * *', duration_minutes: 60 },
        { kind: 'deny', schedule: '@hourly    ', duration_minutes: 60 },
      ],
    };
    const refused = await service.api('POST', '/factory', { slug: 'policed', source, sync_policy: bad });
    expect(refused.status).toBe(400);
    expect(pointersOf(refused).toSorted()).toEqual([
      '/sync_policy/verify_commits/keys/0',
      '/sync_policy/windows/1/schedule',
      '/sync_policy/windows/2/schedule',
    ]);
    expect(
      pointersOf(
        await service.api('POST', '/factory', {
          slug: 'policed',
          source,
          sync_policy: { windows: [{ kind: 'allow', schedule: '0 9 * * *', duration_minutes: 0 }] },
        }),
      ),
    ).toEqual(['/sync_policy/windows/0/duration_minutes']);
    expect(
      pointersOf(
        await service.api('POST', '/factory', {
          slug: 'policed',
          source: { kind: 'dashboard' },
          sync_policy: { fast_forward_only: true },
        }),
      ),
    ).toEqual(['/sync_policy']);
    const made = await service.api('POST', '/factory', {
      slug: 'policed',
      source,
      sync_policy: { fast_forward_only: true },
    });
    expect(made).toMatchObject({ status: 200, body: { sync_policy: { fast_forward_only: true } } });
    expect(
      pointersOf(await service.api('PATCH', `/factory/${String(made.body['uid'])}`, { source: { kind: 'dashboard' } })),
    ).toEqual(['/sync_policy']);
    expect(
      (
        await service.api('PATCH', `/factory/${String(made.body['uid'])}`, {
          source: { kind: 'dashboard' },
          sync_policy: {},
        })
      ).status,
    ).toBe(200);
  });
});

describe('what files say, on the wire', () => {
  it('is spelled as the API spells', async () => {
    const uid = await created('spelled');
    repositoryOf('spelled').commit({
      'factory.yaml': 'agentDefaults:\n  basePrompt: Be brief.\n  idleTimeoutMinutes: 5\n  harness:\n    modelId: m\n',
      [automationPath('triage')]: automationFile(['orders'], 'Look.', {
        payload: '{eventType: {in: [a]}}',
        lines: [
          'description: looks',
          'model: big',
          'environmentId: box',
          'concurrency: {group: one, whenBusy: skip}',
          'limits: {minutes: 5}',
          'mcpServers: {fileStore: {command: x}}',
        ],
      }),
      'environments/box.yaml': 'description: a box\n',
    });
    await service.sync(uid);
    expect((await service.api('GET', `/factory/${uid}`)).body['agent_defaults']).toEqual({
      base_prompt: 'Be brief.',
      idle_timeout_minutes: 5,
      harness: { model_id: 'm' },
      mcp_servers: {},
      secrets: [],
      worker_host: '',
      default_runner_uid: '',
    });
    expect(
      ((await service.api('GET', '/factory?search=spelled')).body['factories'] as Record<string, unknown>[])[0],
    ).toHaveProperty('agent_defaults.base_prompt', 'Be brief.');
    const { body } = await service.api('GET', `/factory/${uid}/automations`);
    expect(body['automations']).toMatchObject([
      {
        uid: expect.stringMatching(/^auto_/),
        slug: 'triage',
        file: automationPath('triage'),
        revision: (await statusOf(service, uid)).revision_applied,
        description: 'looks',
        enabled: true,
        triggers: [
          {
            provider: 'webhook',
            webhook_uids: [service.webhookUid('spelled', 'orders')],
            payload: { eventType: { in: ['a'] } },
          },
        ],
        prompt: 'Look.',
        agent: { model_id: 'big', environment_id: 'box', mcp_servers: { fileStore: { command: 'x' } } },
        concurrency: { group: 'one', when_busy: 'skip' },
        limits: { minutes: 5 },
      },
    ]);
  });

  it('has the ends of problems and the sources of renames too', async () => {
    const uid = await created('renaming');
    const repository = repositoryOf('renaming');
    repository.commit({
      [webhookPath('orders')]: null,
      [webhookPath('sales')]: webhookFile('hook-token'),
      [webhookPath('kept')]: webhookFile('hook-token'),
      [automationPath('triage')]: automationFile(['sales']),
    });
    const renamed = (await syncAndGetStatus(service, uid)).last_sync;
    expect(renamed?.changes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'create', kind: 'webhook', renamed_from: webhookPath('orders') }),
      ]),
    );
    repository.commit({ [webhookPath('sales')]: webhookFile('hook-token', 'authMode: tokn') });
    const problem = (await syncAndGetStatus(service, uid)).last_sync?.problems.find(
      ({ path }) => path === webhookPath('sales'),
    );
    expect(problem).toMatchObject({ line: 2, end_line: 2, end_column: expect.any(Number) });
    expect(problem).not.toHaveProperty('endLine');
  });
});

describe('dispatching to a factory', () => {
  it('keeps the ticket as metadata', async () => {
    const uid = await created('dispatching');
    const answer = await service.api('POST', `/factory/${uid}/runs`, {
      prompt: 'x',
      ticket_ref: 'T-1',
      ticket_url: 'https://tickets.example/1',
      metadata: { a: 'b' },
      skill: 7,
    });
    expect(answer).toMatchObject({ status: 200, body: { factory_uid: uid, ticket_ref: 'T-1', state: 'QUEUED' } });
    const run = (await service.api('GET', `/agent/runs/${String(answer.body['run_id'])}`)).body;
    expect(run).toMatchObject({
      factory_uid: uid,
      trigger_url: 'https://tickets.example/1',
      metadata: { a: 'b', ticket_ref: 'T-1', ticket_url: 'https://tickets.example/1' },
    });
    const long = await service.api('POST', `/factory/${uid}/runs`, {
      prompt: 'x',
      ticket_ref: 'é'.repeat(129),
      ticket_url: `https://x/${'é'.repeat(129)}`,
    });
    expect(long.status).toBe(400);
    expect((long.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '/ticket_ref',
      '/ticket_url',
    ]);
    for (const member of ['agent_identity_uid', 'on_behalf_of']) {
      expect(await service.api('POST', `/factory/${uid}/runs`, { prompt: 'x', [member]: 'y' })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: `/${member}` }] },
      });
    }
  });
});

describe('approving', () => {
  it.each([
    '',
    'x',
    `sha256:${'0'.repeat(63)}`,
    `sha256:${'A'.repeat(64)}`,
    `sha512:${'0'.repeat(64)}`,
    `sha256:${'0'.repeat(64)}\n`,
  ])('takes no digest like %j', async (plan) => {
    const [{ uid } = { uid: '' }] = (await service.api('GET', '/factory?search=alpha')).body['factories'] as {
      uid: string;
    }[];
    expect(await service.api('POST', `/factory/${uid}/approve`, { plan })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/plan' }] },
    });
  });
});

describe('deleting a factory', () => {
  it('makes its webhooks 404 at once, cancels what waits, and hides it', async () => {
    const uid = await created('doomed');
    const url = service.ingressUrl('doomed', 'orders');
    const cached = async (): Promise<string[]> =>
      (await readdir(join(service.dataDir, 'git'))).filter((name) => name.startsWith(uid));
    expect(await cached()).toContain(uid);
    expect((await deliver(url, TOKEN)).status).toBe(202);
    const [run] = (await service.api('GET', `/agent/runs?factory_uid=${uid}`)).body['runs'] as Record<
      string,
      unknown
    >[];
    expect(run?.['state']).toBe('QUEUED');
    expect((await service.api('DELETE', `/factory/${uid}`)).status).toBe(204);
    expect(await cached()).toEqual([]);
    expect((await deliver(url, TOKEN)).status).toBe(404);
    expect((await deliver(url, 'a-wrong-token-of-length')).status).toBe(404);
    const after = (await service.api('GET', `/agent/runs/${String(run?.['run_id'])}`)).body;
    expect(after).toMatchObject({ state: 'CANCELLED', status_message: { message: 'the factory was deleted' } });
    expect((await service.api('GET', `/factory/${uid}`)).status).toBe(404);
    expect((await service.api('POST', `/factory/${uid}/sync`)).status).toBe(404);
    const listed = (await service.api('GET', '/factory?limit=500')).body['factories'] as { uid: string }[];
    expect(listed.map((factory) => factory.uid)).not.toContain(uid);
  });

  it('leaves its runs where they are: no follow-up revives one', async () => {
    const uid = await created('gone-with-runs');
    const runId = String((await service.api('POST', `/factory/${uid}/runs`, { prompt: 'x' })).body['run_id']);
    expect((await service.api('DELETE', `/factory/${uid}`)).status).toBe(204);
    const answer = await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'go on' });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: 'conflict', retryable: false, detail: 'the factory of this run was deleted' },
    });
    expect((await service.api('GET', `/agent/runs/${runId}`)).body['state']).toBe('CANCELLED');
  });

  it('and making it again gives the same URLs back', async () => {
    const uid = await created('again');
    expect((await deliver(service.ingressUrl('again', 'orders'), TOKEN, { n: 1 })).status).toBe(202);
    await service.api('POST', `/factory/${uid}/suspend`);
    await service.api('DELETE', `/factory/${uid}`);
    const answer = await service.api('POST', '/factory', {
      slug: 'again',
      source: { kind: 'git', url: git.urlOf('again'), branch: 'main' },
    });
    expect(answer.body).toMatchObject({ uid, suspended: false });
    await service.sync(uid);
    expect((await deliver(service.ingressUrl('again', 'orders'), TOKEN, { n: 2 })).status).toBe(202);
    await eventually('the deliveries of both lives are in the log', async () => {
      const { body } = await service.api(
        'GET',
        `/factory/${uid}/webhooks/${service.webhookUid('again', 'orders')}/deliveries`,
      );
      return (body['deliveries'] as unknown[]).length === 2 ? true : undefined;
    });
  });
});

describe('the list of factories', () => {
  it('is paged and searched', async () => {
    for (const slug of ['list-a', 'list-b', 'list-c']) await created(slug);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await service.api(
        'GET',
        `/factory?search=LIST-&limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...(body['factories'] as { slug: string }[]).map(({ slug }) => slug));
      cursor = (body['page_info'] as { next_cursor?: string }).next_cursor;
    } while (cursor !== undefined);
    expect(seen.sort()).toEqual(['list-a', 'list-b', 'list-c']);
    // a wildcard is a character here
    expect((await service.api('GET', '/factory?search=%25')).body['factories']).toEqual([]);
  });
});

describe('the pass history', () => {
  it('says what changed, and each pass can be fetched', async () => {
    const uid = await created('history');
    const [only] = (await service.api('GET', `/factory/${uid}/syncs`)).body['syncs'] as SyncItem[];
    expect(only).toMatchObject({
      ending: 'applied',
      changes: [
        { action: 'create', kind: 'webhook' },
        { action: 'create', kind: 'automation' },
      ],
    });
    expect((await service.api('GET', `/factory/${uid}/syncs/${only?.id}`)).body).toEqual(only);
    expect((await service.api('GET', `/factory/${uid}/syncs/unknown`)).status).toBe(404);
  });

  it('is newest first and paged back to the first pass', async () => {
    const repository = git.createRepository('paged');
    repository.commit(FILES);
    const { body } = await service.api('POST', '/factory', {
      slug: 'paged',
      source: { kind: 'git', url: git.urlOf('paged'), branch: 'main' },
    });
    const uid = String(body['uid']);
    await service.sync(uid);
    for (const name of ['one', 'two', 'three']) {
      repository.commit({ [webhookPath(name)]: webhookFile('hook-token') });
      await syncAndGetStatus(service, uid);
    }
    const added: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (
        await service.api('GET', `/factory/${uid}/syncs?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      ).body;
      added.push(...(page['syncs'] as SyncItem[]).flatMap(({ changes }) => changes.map(({ slug }) => slug)));
      cursor = (page['page_info'] as { next_cursor?: string }).next_cursor;
    } while (cursor !== undefined);
    expect(added).toEqual(['three', 'two', 'one', 'orders', 'triage']);
  });
});
