/**
 * The factory interface: sources, lists and cursors, status and its conditions, passes, dispatch, and the trail that
 * changes leave. contract §4.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Factory, FactoryList, FactoryStatus, SyncList } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver, runIn, statusOf, webhookPath } from '../support/factories/factory-files.ts';
import {
  factoryFolder,
  growingFolder,
  type FactoryFolder,
  type FactoryTree,
} from '../support/factories/factory-folder.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const NOWHERE = 'fac_00000000000000000000000000';
/** What clients read where a factory's file says nothing of its agents. */
const NO_DEFAULTS = { mcp_servers: {}, secrets: [], worker_host: '', default_runner_uid: '' };
const UNREAD = { kind: 'git', url: 'https://git.invalid/r' };
let service: TestService;
const folders: FactoryFolder[] = [];

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook-token', TOKEN);
});
afterAll(async () => {
  await service.stop();
  await Promise.all(folders.map((folder) => folder.remove()));
});

async function created(slug: string, source: object = { kind: 'dashboard' }, more: object = {}): Promise<Factory> {
  const answer = await service.api('POST', '/factory', { slug, source, ...more });
  expect({ slug, status: answer.status }).toEqual({ slug, status: 200 });
  return answer.body as unknown as Factory;
}

async function following(
  slug: string,
  tree: FactoryTree = { webhooks: { orders: { secretName: 'hook-token' } } },
): Promise<{ uid: string; folder: FactoryFolder }> {
  const folder = await factoryFolder(tree);
  folders.push(folder);
  const { uid } = await created(slug, folder.source);
  await service.sync(uid);
  return { uid, folder };
}

function put({ path }: FactoryFolder, file: string, text: string): void {
  mkdirSync(dirname(join(path, file)), { recursive: true });
  writeFileSync(join(path, file), text);
}

const pointersOf = ({ body }: ApiAnswer): string[] =>
  (body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort();

describe('a factory', () => {
  it('has every member of its table', async () => {
    const { uid } = await following('complete', { webhooks: { orders: { secretName: 'hook-token' } } });
    const { body } = await service.api('GET', `/factory/${uid}`);
    expect(body).toEqual({
      uid,
      slug: 'complete',
      name: 'complete',
      description: '',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      source: { kind: 'directory', path: expect.any(String) },
      sync_policy: {},
      suspended: false,
      definitions_managed: true,
      service_account: expect.stringMatching(/^svc_/),
      agent_defaults: NO_DEFAULTS,
      alias: 'complete',
      code_forge: 'NONE',
      code_forges: [],
      credential_strategy: 'CREATOR',
      repositories: [],
      scorer_defaults: {},
      scoring: {},
      team_uid: 'team',
    });
    await deliver(service.ingressUrl('complete', 'orders'), TOKEN);
  });

  it('keeps every member of a git source, and shows names of secrets, never values', async () => {
    const source = {
      kind: 'git',
      url: 'https://git.invalid/r',
      branch: 'main',
      path: 'factories/shop',
      interval: 3_600,
      credential_secret: 'git-reader',
      push_secret: 'push-signer',
    };
    expect((await created('all-members', source)).source).toEqual(source);
    expect((await created('few-members', UNREAD)).source).toEqual(UNREAD);
    const refused = await service.api('POST', '/factory', { slug: 'mistyped', source: { ...UNREAD, brnach: 'main' } });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        errors: [{ pointer: '/source/brnach', message: 'unknown key "brnach" in source; did you mean "branch"?' }],
      },
    });
  });

  it('of a dashboard reads no files, and is ready', async () => {
    const { uid, ...factory } = await created('by-hand', undefined, { name: 'By hand' });
    expect(factory).toMatchObject({ name: 'By hand', definitions_managed: false, source: { kind: 'dashboard' } });
    await service.sync(uid);
    expect(await statusOf(service, uid)).toMatchObject({
      definitions_managed: false,
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'dashboard' }),
      ]),
      last_sync: null,
      inventory: [],
    });
  });

  it('goes from the dashboard to files and back', async () => {
    const folder = await factoryFolder({ webhooks: { orders: { secretName: 'hook-token' } } });
    folders.push(folder);
    const { uid } = await created('moving');
    expect((await service.api('PATCH', `/factory/${uid}`, { source: folder.source })).body).toMatchObject({
      definitions_managed: true,
    });
    await service.sync(uid);
    expect((await deliver(service.ingressUrl('moving', 'orders'), TOKEN)).status).toBe(202);
    expect((await service.api('PATCH', `/factory/${uid}`, { source: { kind: 'dashboard' } })).body).toMatchObject({
      definitions_managed: false,
    });
    rmSync(join(folder.path, 'webhooks'), { recursive: true });
    await service.sync(uid);
    expect((await statusOf(service, uid)).inventory).toMatchObject([
      { kind: 'webhook', slug: 'orders', file: null, state: 'applied' },
    ]);
    expect((await deliver(service.ingressUrl('moving', 'orders'), TOKEN)).status).toBe(202);
  });

  it('that is made again has nothing of its former life but its UIDs', async () => {
    const { uid, folder } = await following('again');
    put(folder, 'factory.yaml', 'name: From the file\nagentDefaults:\n  basePrompt: Be brief.\n');
    await service.sync(uid);
    expect((await service.api('GET', `/factory/${uid}`)).body).toMatchObject({
      name: 'From the file',
      agent_defaults: { base_prompt: 'Be brief.' },
    });
    await service.api('DELETE', `/factory/${uid}`);
    expect(await created('again')).toMatchObject({ uid, name: 'again', description: '' });
    expect((await service.api('GET', `/factory/${uid}`)).body).toHaveProperty('agent_defaults', NO_DEFAULTS);
    expect(await statusOf(service, uid)).toMatchObject({
      revision_applied: null,
      inventory: [],
      condition: { ending: 'none' },
    });
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', undefined, ['']],
    ['no object', [], ['']],
    ['no members', {}, ['/slug', '/source']],
    ['a bad slug and a source without a kind', { slug: 'A', source: {} }, ['/slug', '/source/kind']],
    ['a slug of 64', { slug: 'a'.repeat(64), source: { kind: 'dashboard' } }, ['/slug']],
    ['git without an address', { slug: 'x', source: { kind: 'git' } }, ['/source/url']],
    ['a directory without a path', { slug: 'x', source: { kind: 'directory' } }, ['/source/path']],
    ['a relative directory', { slug: 'x', source: { kind: 'directory', path: 'rel/factory' } }, ['/source/path']],
    ['another kind', { slug: 'x', source: { kind: 'svn' } }, ['/source/kind']],
    [
      'every member of a wrong type',
      {
        slug: 1,
        name: 2,
        source: { kind: 'git', url: 3, branch: 4, path: 5, interval: 'x', credential_secret: 6, push_secret: 7 },
      },
      [
        '/name',
        '/slug',
        '/source/branch',
        '/source/credential_secret',
        '/source/interval',
        '/source/path',
        '/source/push_secret',
        '/source/url',
      ],
    ],
    [
      'every member out of range',
      {
        slug: 'x',
        name: '',
        source: {
          kind: 'git',
          url: '',
          branch: '',
          path: '',
          interval: 0,
          credential_secret: '1x',
          push_secret: 'x'.repeat(129),
        },
      },
      [
        '/name',
        '/source/branch',
        '/source/credential_secret',
        '/source/interval',
        '/source/path',
        '/source/push_secret',
        '/source/url',
      ],
    ],
    [
      'what git could not take',
      { slug: 'x', source: { kind: 'git', url: 'ftp://x/y', branch: '-x', path: '../y' } },
      ['/source/branch', '/source/path', '/source/url'],
    ],
    [
      'NUL',
      { slug: 'x', name: 'a\0', source: { kind: 'git', url: 'https://x/\0', branch: '\0' } },
      ['/name', '/source/branch', '/source/url'],
    ],
  ])('is not made of %s', async (_what, body, pointers) => {
    const answer = await service.api('POST', '/factory', body);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toEqual(pointers);
  });
});

describe('the list', () => {
  let ours: string[];
  let limited: string;
  beforeAll(async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        created(`listed-${n}`, undefined, { name: n % 2 === 0 ? `Even ${n}%` : `Odd_${n}` }),
      ),
    );
    ours = all
      .slice(2, 5)
      .map(({ uid }) => uid)
      .sort();
    limited = await makeKey(service, 'viewer', { factories: ours });
  });

  async function pagesOf(query: string, key?: string): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const { status, body } = await service.api(
        'GET',
        `/factory?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
        undefined,
        key,
      );
      expect(status).toBe(200);
      const page = body as unknown as FactoryList;
      pages.push(page.factories.map(({ uid }) => uid));
      cursor = page.page_info.next_cursor;
      expect(page.page_info.has_next_page).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    return pages;
  }

  it('is in order of the UIDs, page by page, each factory once', async () => {
    const pages = await pagesOf('limit=3&search=listed');
    expect(pages.map((page) => page.length)).toEqual([3, 3, 2]);
    expect(pages.flat()).toEqual([...new Set(pages.flat())].sort());
  });

  it.each<[string, number]>([
    ['search=LISTED-', 8],
    ['search=even', 4],
    ['search=%25', 4],
    ['search=d_', 4],
    ['search=d%25', 0],
    ['search=', 8],
    ['search=listed-3', 1],
    ['search=no-such', 0],
    ['unheard=of&search=odd', 4],
  ])('%s finds %d', async (query, amount) => {
    const found = (await pagesOf(`limit=500&${query}`)).flat();
    if (query === 'search=') expect(found.length).toBeGreaterThanOrEqual(amount);
    else expect(found).toHaveLength(amount);
  });

  it('shows a limited key its own, on full pages, and nothing else by any question', async () => {
    expect(await pagesOf('limit=2', limited)).toEqual([ours.slice(0, 2), ours.slice(2)]);
    expect((await pagesOf('search=listed', limited)).flat()).toEqual(ours);
    expect((await pagesOf('search=listed-0', limited)).flat()).toEqual([]);
    expect((await pagesOf('', await makeKey(service, 'viewer', { factories: [] }))).flat()).toEqual([]);
    expect((await pagesOf('', await makeKey(service, 'viewer', { factories: [NOWHERE] }))).flat()).toEqual([]);
  });

  it('takes no cursor of another query', async () => {
    const cursorOf = async (path: string): Promise<string> =>
      ((await service.api('GET', path)).body as unknown as FactoryList).page_info.next_cursor ?? '';
    const cursor = await cursorOf('/factory?limit=1&search=listed');
    expect((await service.api('GET', `/factory?limit=5&search=listed&cursor=${cursor}`)).status).toBe(200);
    for (const query of [
      `cursor=${cursor}`,
      `search=even&cursor=${cursor}`,
      `search=listed&cursor=${cursor.slice(1)}`,
      'cursor=x',
      `cursor=${ours[0]}`,
      'search=listed&cursor=%00',
    ]) {
      const answer = await service.api('GET', `/factory?${query}`);
      expect({ query, status: answer.status, pointers: pointersOf(answer) }).toEqual({
        query,
        status: 400,
        pointers: ['cursor'],
      });
    }
  });

  it('names every malformed parameter', async () => {
    const answer = await service.api('GET', `/factory?limit=0&search=${'x'.repeat(201)}&cursor=${'x'.repeat(4_097)}`);
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['cursor', 'limit', 'search']]);
  });
});

describe('the status', () => {
  const conditions = ({ conditions: all }: Pick<FactoryStatus, 'conditions'>): Record<string, string> =>
    Object.fromEntries(all.map(({ type, status, reason }) => [type, `${status} ${reason}`]));

  async function syncedStatus(uid: string): Promise<FactoryStatus> {
    await service.sync(uid);
    return (await statusOf(service, uid)) as unknown as FactoryStatus;
  }

  it('of files that apply is ready, with an inventory', async () => {
    const { uid } = await following('ready', {
      webhooks: { orders: { secretName: 'hook-token' }, off: { secretName: 'hook-token', enabled: false } },
      automations: { triage: { webhooks: ['orders'] } },
    });
    const status = await syncedStatus(uid);
    expect(conditions(status)).toEqual({
      Ready: 'True applied',
      Reconciling: 'False idle',
      Stalled: 'False applied',
      FetchFailed: 'False applied',
      SourceVerificationFailed: 'False not-required',
      DefinitionsInvalid: 'False applied',
      PruneHeld: 'False applied',
      SecretsDegraded: 'False secrets-usable',
      HistoryRewritten: 'False not-rewritten',
    });
    expect(status.conditions[0]).toMatchObject({
      since: status.condition.since,
      observed_generation: status.generation_handled,
      message: expect.any(String),
    });
    expect(status).toMatchObject({
      factory_uid: uid,
      suspended: false,
      revision_seen: status.revision_applied,
      revision_attempted: status.revision_applied,
      generation_handled: status.generation_requested,
    });
    expect(status.inventory).toEqual([
      {
        kind: 'webhook',
        slug: 'off',
        uid: service.webhookUid('ready', 'off'),
        file: webhookPath('off'),
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
        revision: status.revision_applied,
        state: 'disabled',
      },
      {
        kind: 'webhook',
        slug: 'orders',
        uid: service.webhookUid('ready', 'orders'),
        file: webhookPath('orders'),
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
        revision: status.revision_applied,
        state: 'applied',
      },
      {
        kind: 'automation',
        slug: 'triage',
        uid: expect.stringMatching(/^auto_/),
        file: 'automations/triage/automation.md',
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
        revision: status.revision_applied,
        state: 'applied',
      },
    ]);
  });

  it('of files in error is stalled, and tells what is held', async () => {
    const { uid, folder } = await following('invalid', {
      webhooks: { orders: { secretName: 'hook-token' }, sales: { secretName: 'hook-token' } },
    });
    const before = await syncedStatus(uid);
    put(folder, webhookPath('orders'), 'secretname: x\n');
    const status = await syncedStatus(uid);
    expect(conditions(status)).toMatchObject({
      Ready: 'False definitions-invalid',
      Stalled: 'True definitions-invalid',
      FetchFailed: 'False blocked',
      DefinitionsInvalid: 'True definitions-invalid',
      PruneHeld: 'False blocked',
    });
    expect(status.inventory.map(({ slug, state }) => `${slug} ${state}`)).toEqual(['orders held', 'sales applied']);
    expect(status).toMatchObject({
      revision_applied: before.revision_applied,
      condition: { ending: 'blocked' },
      last_sync: { ending: 'blocked', problems: [{ rule: 'unknown-key' }, { rule: 'missing-key' }] },
    });
    expect(status.revision_attempted).not.toBe(before.revision_applied);
    expect(Date.parse(status.conditions[0]?.since ?? '')).toBeGreaterThan(
      Date.parse(before.conditions[0]?.since ?? ''),
    );
  });

  it('of a mass deletion waits for an approval, until there is one', async () => {
    const { uid, folder } = await following('pruned', { webhooks: { orders: { secretName: 'hook-token' } } });
    rmSync(join(folder.path, 'webhooks'), { recursive: true });
    put(folder, 'factory.yaml', 'description: empty\n');
    const status = await syncedStatus(uid);
    expect(conditions(status)).toMatchObject({
      Ready: 'False prune-held',
      Stalled: 'True prune-held',
      DefinitionsInvalid: 'False blocked',
      PruneHeld: 'True prune-held',
    });
    expect(status.inventory).toMatchObject([{ slug: 'orders', state: 'held' }]);
    const approval = await service.api('POST', `/factory/${uid}/approve`, { plan: status.last_sync?.plan });
    expect(approval.body).toEqual({ factory_uid: uid, plan: status.last_sync?.plan, approved: true });
    expect(conditions(await syncedStatus(uid))).toMatchObject({ Ready: 'True applied', PruneHeld: 'False applied' });
    const late = await service.api('POST', `/factory/${uid}/approve`, { plan: status.last_sync?.plan });
    expect(late).toMatchObject({ status: 409, body: { error: 'conflict', retryable: false } });
  });

  it('of a mass deletion is approved although its files cannot be read any more', async () => {
    const { uid, folder } = await following('pruned-away', { webhooks: { orders: { secretName: 'hook-token' } } });
    rmSync(join(folder.path, 'webhooks'), { recursive: true });
    put(folder, 'factory.yaml', 'description: empty\n');
    const { last_sync: held } = await syncedStatus(uid);
    renameSync(folder.path, `${folder.path}-away`);
    const away = await syncedStatus(uid);
    expect(conditions(away)).toMatchObject({ FetchFailed: 'True path-missing' });
    expect(away).toMatchObject({ last_sync: { ending: 'failed', plan: null }, held_sync: held });
    const approval = await service.api('POST', `/factory/${uid}/approve`, { plan: away.held_sync?.plan });
    expect(approval).toMatchObject({ status: 200, body: { approved: true } });
    renameSync(`${folder.path}-away`, folder.path);
    expect((await syncedStatus(uid)).inventory).toEqual([]);
  });

  it('of files that cannot be read knows nothing of them', async () => {
    const { uid, folder } = await following('away');
    rmSync(folder.path, { recursive: true });
    const status = await syncedStatus(uid);
    expect(conditions(status)).toMatchObject({
      Ready: 'False path-missing',
      Stalled: 'False failed',
      FetchFailed: 'True path-missing',
      DefinitionsInvalid: 'Unknown path-missing',
      PruneHeld: 'Unknown path-missing',
    });
    expect(status.inventory).toMatchObject([{ slug: 'orders', state: 'applied' }]);
  });

  it('shows which webhooks lost their secret', async () => {
    await service.secret('short-lived', TOKEN);
    const { uid } = await following('degraded', {
      webhooks: { orders: { secretName: 'short-lived' }, sales: { secretName: 'hook-token' } },
    });
    await service.api('DELETE', '/secrets/short-lived?force=true');
    const { conditions: all } = await syncedStatus(uid);
    expect(all.find(({ type }) => type === 'SecretsDegraded')).toMatchObject({
      status: 'True',
      reason: 'secret-missing',
      message: expect.stringMatching(/: orders$/),
    });
  });

  it('of a suspended factory keeps the last ending', async () => {
    const { uid, folder } = await following('paused');
    expect((await service.api('POST', `/factory/${uid}/suspend`)).body).toMatchObject({ uid, suspended: true });
    put(folder, webhookPath('orders'), 'broken: true\n');
    expect(conditions(await syncedStatus(uid))).toMatchObject({
      Ready: 'True applied',
      Reconciling: 'False suspended',
    });
    expect((await service.api('POST', `/factory/${uid}/resume`)).body).toMatchObject({ uid, suspended: false });
    expect(conditions(await syncedStatus(uid))).toMatchObject({ Ready: 'False definitions-invalid' });
  });
});

describe('asking for a pass', () => {
  it('answers where the factory stands, at once or when the pass is over', async () => {
    const { uid } = await following('asked');
    const before = await statusOf(service, uid);
    const asked = (await service.api('POST', `/factory/${uid}/sync`)).body as unknown as FactoryStatus;
    expect(asked).toMatchObject({
      factory_uid: uid,
      generation_requested: before.generation_requested + 1,
      revision_applied: before.revision_applied,
    });
    const waited = (await service.api('POST', `/factory/${uid}/sync?wait=true`)).body as unknown as FactoryStatus;
    expect(waited.generation_requested).toBe(before.generation_requested + 2);
    expect(waited.generation_handled).toBeGreaterThanOrEqual(waited.generation_requested);
  });

  it('takes no other word for yes', async () => {
    const { uid } = await created('words');
    for (const word of ['maybe', '1', 'TRUE']) {
      const answer = await service.api('POST', `/factory/${uid}/sync?wait=${word}`);
      expect([answer.status, pointersOf(answer)]).toEqual([400, ['wait']]);
    }
  });
});

describe('passes', () => {
  it('are found in their own factory only, and their cursors too', async () => {
    const [one, two] = [await following('passes-one'), await following('passes-two')];
    put(one.folder, webhookPath('more'), 'secretName: hook-token\n');
    await service.sync(one.uid);
    const { syncs, page_info: page } = (await service.api('GET', `/factory/${one.uid}/syncs?limit=1`))
      .body as unknown as SyncList;
    expect(page).toEqual({ has_next_page: true, next_cursor: expect.any(String) });
    expect((await service.api('GET', `/factory/${one.uid}/syncs/${syncs[0]?.id}`)).body).toEqual(syncs[0]);
    expect(await service.api('GET', `/factory/${two.uid}/syncs/${syncs[0]?.id}`)).toMatchObject({
      status: 404,
      body: { detail: 'the sync was not found' },
    });
    const rest = (await service.api('GET', `/factory/${one.uid}/syncs?cursor=${page.next_cursor}`))
      .body as unknown as SyncList;
    expect(rest.syncs.length).toBeGreaterThan(0);
    expect(rest.syncs.map(({ id }) => id)).not.toContain(syncs[0]?.id);
    for (const path of [
      `/factory/${two.uid}/syncs?cursor=${page.next_cursor}`,
      `/factory/${one.uid}/syncs?cursor=x`,
      `/factory/${one.uid}/syncs?cursor=${syncs[0]?.id}`,
    ]) {
      expect(await service.api('GET', path)).toMatchObject({ status: 400, body: { errors: [{ pointer: 'cursor' }] } });
    }
  });
});

describe('dispatching', () => {
  it('starts a run of the factory, with its defaults, files and ticket', async () => {
    const { uid, folder } = await following('dispatching');
    put(folder, 'factory.yaml', 'agentDefaults:\n  basePrompt: Be brief.\n  model: small\n');
    await service.sync(uid);
    const { body, status } = await service.api('POST', `/factory/${uid}/runs`, {
      prompt: 'Look.',
      title: 'A look',
      config: { model_id: 'big' },
      metadata: { a: 'b' },
      ticket_ref: 'T-1',
      ticket_url: 'https://tickets.example/T-1',
      attachments: [{ file_name: 'notes.txt', mime_type: 'text/plain', data: Buffer.from('x').toString('base64') }],
      unheard: 'of',
    });
    expect(status).toBe(200);
    const runId = String(body['run_id']);
    expect(body).toEqual({
      factory_uid: uid,
      run_id: runId,
      state: 'QUEUED',
      ticket_ref: 'T-1',
      run_url: `${service.url}/runs/${runId}`,
      foreman_agent: '',
      ignored: ['/unheard'],
    });
    expect(await runIn(service, runId, 'QUEUED')).toMatchObject({
      title: 'A look',
      factory_uid: uid,
      trigger_url: 'https://tickets.example/T-1',
      agent_config: { base_prompt: 'Be brief.', model_id: 'big' },
      metadata: { a: 'b', ticket_ref: 'T-1', ticket_url: 'https://tickets.example/T-1' },
    });
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', {}, ['/prompt']],
    ['an empty prompt', { prompt: '' }, ['/prompt']],
    [
      'every member of a wrong type',
      { prompt: 1, title: 2, config: 3, metadata: 4, attachments: 5, ticket_ref: 6, ticket_url: 7 },
      ['/attachments', '/config', '/metadata', '/prompt', '/ticket_ref', '/ticket_url', '/title'],
    ],
    ['an address that a page could run', { prompt: 'x', ticket_url: 'javascript:alert(1)' }, ['/ticket_url']],
    [
      'members that no schema can state',
      {
        prompt: 'x',
        metadata: { automation_id: 'x' },
        config: { mcp_servers: { a: {} } },
        attachments: [{ file_name: '../x', mime_type: 'text/plain', data: '' }],
      },
      ['/attachments/0/file_name', '/config/mcp_servers/a', '/metadata/automation_id'],
    ],
  ])('%s is 400', async (_what, body, pointers) => {
    const { uid } = await created(`bad-dispatch-${Math.random().toString(16).slice(2)}`);
    const answer = await service.api('POST', `/factory/${uid}/runs`, body);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toEqual(pointers);
  });
});

describe('a key limited to one factory', () => {
  it('gets for every other one what it gets for none', async () => {
    const [own, other] = [await created('limited-own'), await created('limited-other')];
    const key = await makeKey(service, 'manager', { factories: [own.uid] });
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['GET', '/status'],
      ['GET', '/syncs'],
      ['GET', '/syncs/x'],
      ['POST', '/sync'],
      ['POST', '/sync?wait=true'],
      ['POST', '/suspend'],
      ['POST', '/resume'],
      ['POST', '/approve', { plan: `sha256:${'0'.repeat(64)}` }],
      ['POST', '/runs', { prompt: 'x' }],
      ['POST', '/plan', { files: [] }],
      ['POST', '/filters/test', { filter: {}, payload: 1 }],
      ['GET', '/webhooks/x/deliveries'],
    ];
    const shape = ({ status, body: { detail, error } }: ApiAnswer): unknown => ({ status, detail, error });
    for (const [method, path, body] of calls) {
      const [foreign, missing] = await Promise.all(
        [other.uid, NOWHERE].map((uid) => service.api(method, `/factory/${uid}${path}`, body, key)),
      );
      expect({ method, path, answer: shape(foreign as ApiAnswer) }).toEqual({
        method,
        path,
        answer: { status: 404, detail: 'the factory was not found', error: 'resource_not_found' },
      });
      expect(shape(foreign as ApiAnswer)).toEqual(shape(missing as ApiAnswer));
    }
    expect((await service.api('GET', `/factory/${own.uid}`, undefined, key)).status).toBe(200);
    expect((await service.api('GET', `/factory/${other.uid}`)).body).toMatchObject({ suspended: false });
  });
});

describe('the audit trail', () => {
  it('tells of every change, by whom, and of nothing else', async () => {
    const key = await makeKey(service, 'admin');
    const asAdmin = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
      service.api(method, path, body, key);
    const folder = await growingFolder();
    folders.push(folder);
    const { source } = folder;
    const made = await asAdmin('POST', '/factory', {
      slug: 'trail',
      source,
      sync_policy: { growth_approval: 'manager' },
    });
    const uid = String(made.body['uid']);
    const { last_sync: held } = (await asAdmin('POST', `/factory/${uid}/sync?wait=true`)).body as unknown as {
      last_sync: { plan: string };
    };
    const digest = held.plan;
    await asAdmin('PATCH', `/factory/${uid}`, { name: 'Trail' });
    await asAdmin('PATCH', `/factory/${uid}`, { name: 'Trail', source }); // nothing new
    await asAdmin('POST', `/factory/${uid}/approve`, { plan: digest });
    await asAdmin('POST', `/factory/${uid}/approve`, { plan: `sha256:${'0'.repeat(64)}` });
    await asAdmin('POST', `/factory/${uid}/approve`, { plan: 'x' });
    await asAdmin('PATCH', `/factory/${uid}`, { name: 'Path', source: { kind: 'dashboard' }, sync_policy: {} });
    await asAdmin('PATCH', `/factory/${uid}`, { name: '' });
    await asAdmin('POST', '/factory', { slug: 'trail', source });
    await asAdmin('POST', `/factory/${uid}/suspend`);
    await asAdmin('POST', `/factory/${uid}/resume`);
    await asAdmin('POST', `/factory/${uid}/sync`);
    await asAdmin('POST', `/factory/${uid}/plan`, { files: [] });
    await asAdmin('DELETE', `/factory/${uid}`);
    await asAdmin('DELETE', `/factory/${uid}`);
    const { body } = await service.api('GET', `/audit?factory_uid=${uid}&limit=100`);
    const entries = (body['entries'] as Record<string, unknown>[]).toReversed();
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['factory.create', { slug: 'trail', source: 'directory', policy: ['growth_approval'] }],
      ['factory.sync', { generation: expect.any(Number) }],
      ['factory.change', { changed: ['name'] }],
      ['factory.approve', { plan: digest }],
      [
        'factory.change',
        {
          changed: ['name', 'source', 'sync_policy'],
          source: 'dashboard',
          policy: [],
          policy_changes: ['−growth_approval'],
        },
      ],
      ['factory.suspend', {}],
      ['factory.resume', {}],
      ['factory.sync', { generation: expect.any(Number) }],
      ['factory.delete', { slug: 'trail' }],
    ]);
    const { id, principal } = (await asAdmin('GET', '/api-keys/current')).body as {
      id: string;
      principal: { uid: string };
    };
    for (const entry of entries)
      expect(entry).toMatchObject({
        subject: uid,
        key_id: id,
        principal: { uid: principal.uid },
        address: expect.any(String),
      });
  });
});
