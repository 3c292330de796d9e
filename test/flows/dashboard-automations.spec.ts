/**
 * Automations of a factory that is managed over the API: made under the rules of files, edited in the state that was
 * seen, deleted. contract §4, §5.8 (Transaction), §8.
 */
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let mill: TestService;
let factory: string;
let manager: string;
let hook: { uid: string; ingress_url: string; secret: string };

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  factory = String((await mill.api('POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } })).body['uid']);
  manager = await makeKey(mill, 'manager', { factories: [factory] });
  hook = (await mill.api('POST', `/factory/${factory}/webhooks`, { name: 'orders' }, manager)).body as never;
  await mill.api('PUT', '/secrets/NPM_TOKEN', { value: 'a token of npm', grants: { uses: ['run'] } });
});

afterAll(() => mill.stop());

interface Automation {
  uid: string;
  slug: string;
  version: number;
  last_fired_at: string | null;
  [member: string]: unknown;
}

const path = (uid = ''): string => `/factory/${factory}/automations${uid === '' ? '' : `/${uid}`}`;
const onOrders = (payload?: object): object => ({
  provider: 'webhook',
  webhook_uids: [hook.uid],
  ...(payload === undefined ? {} : { payload }),
});
const create = (body: object): Promise<ApiAnswer> => mill.api('POST', path(), body, manager);
const errorsOf = ({ body }: ApiAnswer): { pointer: string; message: string }[] =>
  body['errors'] as { pointer: string; message: string }[];

async function made(body: object): Promise<Automation> {
  const answer = await create({ prompt: 'Look.', triggers: [onOrders()], ...body });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as unknown as Automation;
}

async function edit(
  uid: string,
  ifMatch: string | undefined,
  body: object | undefined,
  method = 'PATCH',
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const headers = {
    authorization: `Bearer ${manager}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
  const request: RequestInit = { method, headers, body: body && JSON.stringify(body) };
  const answer = await fetch(`${mill.url}/api/v1${path(uid)}`, request);
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

const remove = async (uid: string): Promise<number> => (await edit(uid, undefined, undefined, 'DELETE')).status;

let unique = 0;
async function send(body: object = {}): Promise<string> {
  const answer = await fetch(hook.ingress_url, {
    method: 'POST',
    headers: { authorization: `Bearer ${hook.secret}` },
    body: JSON.stringify({ n: (unique += 1), ...body }),
  });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { delivery_id: string }).delivery_id;
}

async function runsOf(
  uid: string,
): Promise<{ title: string; prompt: string; agent_config: Record<string, unknown> }[]> {
  return (await mill.api('GET', `/agent/runs?automation_id=${uid}&sort_by=created_at`)).body['runs'] as never;
}

describe('a new automation', () => {
  it('says back what it was told, and starts runs at once', async () => {
    const body = {
      name: 'Triage Größe',
      description: 'Looks at orders.',
      triggers: [onOrders({ status: ['failed'] }), { provider: 'schedule', cron: '0 3 * * *', name: 'nightly' }],
      prompt: '\n\nLook at the order.\n',
      agent: {
        model_id: 'm-1',
        base_prompt: 'Be brief.',
        skill_spec: 'owner/repo:triage',
        mcp_servers: { docs: { url: 'https://docs.example.com/mcp' } },
        harness: { type: 'command', reasoning_level: 'low' },
        idle_timeout_minutes: 0,
        secrets: [{ name: 'NPM_TOKEN' }],
      },
      concurrency: { group: 'orders', when_busy: 'skip' },
      limits: { minutes: 5, cost: 0.5 },
      network: { allow: ['*.example.com'] },
    };
    const automation = await made(body);
    expect(automation).toMatchObject({
      ...body,
      prompt: 'Look at the order.',
      slug: 'triage-gro-e',
      enabled: true,
      version: 1,
      file: null,
      revision: expect.stringMatching(/^dashboard@\d+$/),
      last_fired_at: null,
      recent_runs: { total: 0, states: {} },
    });
    expect(automation.uid).toMatch(/^auto_[0-9a-hjkmnp-tv-z]{26}$/);
    const looked = await mill.api(
      'GET',
      path(automation.uid),
      undefined,
      await makeKey(mill, 'viewer', { factories: [factory] }),
    );
    expect([looked.status, looked.headers.get('etag'), looked.body]).toEqual([200, '"1"', automation]);
    await send({ status: 'ok' });
    await send({ status: 'failed' });
    const [run, ...others] = await runsOf(automation.uid);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      title: 'Triage Größe · Look at the order.',
      agent_config: {
        name: 'triage',
        model_id: 'm-1',
        skill_spec: 'owner/repo:triage',
        secrets: [{ name: 'NPM_TOKEN' }],
      },
    });
    const fired = (await mill.api('GET', path(automation.uid))).body;
    expect(fired).toMatchObject({
      last_fired_at: expect.any(String),
      recent_runs: { total: 1, states: { QUEUED: 1 } },
    });
    expect((await mill.api('GET', path())).body['automations']).toContainEqual(fired);
    expect(
      await edit(automation.uid, '"1"', { agent: looked.body['agent'], triggers: looked.body['triggers'] }),
    ).toMatchObject({ status: 200, body: { version: 1 } }); // what was read can be sent back
    expect(await remove(automation.uid)).toBe(204);
  });

  it.each<{ why: string; body: object; pointers: string[]; message?: RegExp }>([
    { why: 'empty', body: {}, pointers: ['/name', '/prompt', '/triggers'] },
    { why: 'no trigger', body: { name: 'x', prompt: 'x', triggers: [] }, pointers: ['/triggers'] },
    {
      why: 'an unknown provider',
      body: { name: 'x', prompt: 'x', triggers: [{ provider: 'slack' }] },
      pointers: ['/triggers/0/provider'],
    },
    {
      why: 'no webhook',
      body: { name: 'x', prompt: 'x', triggers: [{ provider: 'webhook', webhook_uids: [] }] },
      pointers: ['/triggers/0/webhook_uids'],
    },
    {
      why: 'a name in place of a UID',
      body: { name: 'x', prompt: 'x', triggers: [{ provider: 'webhook', webhook_uids: ['orders'] }] },
      pointers: ['/triggers/0/webhook_uids/0'],
      message: /webhook UID/,
    },
    {
      why: 'a webhook of nobody',
      body: { name: 'x', prompt: 'x', triggers: [{ provider: 'webhook', webhook_uids: [`wh_${'0'.repeat(26)}`] }] },
      pointers: ['/triggers/0/webhook_uids/0'],
      message: /no webhook of this factory/,
    },
    {
      why: 'a filter that is none',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'webhook', webhook_uids: ['HOOK'], payload: { a: { b: 1 }, c: { in: [{}] } } }],
      },
      pointers: ['/triggers/0/payload/a/b', '/triggers/0/payload/c/in/0'],
      message: /^triggers\[0\]\.payload\.a\.b: .*wrap it/m,
    },
    {
      why: 'a time that never comes',
      body: { name: 'x', prompt: 'x', triggers: [{ provider: 'schedule', cron: '0 0 31 2 *' }] },
      pointers: ['/triggers/0/cron'],
      message: /never fires/,
    },
    {
      why: 'a group that is no pointer',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
        concurrency: { group: '/a~b' },
      },
      pointers: ['/concurrency/group'],
      message: /no JSON pointer/,
    },
    {
      why: 'a blank prompt',
      body: { name: 'x', prompt: ' \n', triggers: [{ provider: 'schedule', cron: '@daily' }] },
      pointers: ['/prompt'],
      message: /empty/,
    },
    {
      why: 'agent members out of range',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
        agent: { idle_timeout_minutes: 61, environment_id: 5 },
      },
      pointers: ['/agent/environment_id', '/agent/idle_timeout_minutes'],
    },
    {
      why: 'references to nothing',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
        agent: {
          environment_id: 'nowhere',
          skill_spec: 'nothing',
          secrets: [{ name: 'NPM_TOKN' }, { name: 'PATH' }],
          mcp_servers: { 'a/b': {} },
        },
        network: { allow: ['a b'] },
      },
      pointers: [
        '/agent/environment_id',
        '/agent/mcp_servers/a~1b',
        '/agent/mcp_servers/a~1b/url',
        '/agent/secrets/0/name',
        '/agent/secrets/1/name',
        '/agent/skill_spec',
        '/network/allow/0',
      ],
      message: /did you mean "NPM_TOKEN"/,
    },
    {
      why: 'NUL in a filter',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'webhook', webhook_uids: ['HOOK'], payload: { a: ['\0'] } }],
      },
      pointers: ['/triggers/0/payload/a/0'],
      message: /NUL/,
    },
    {
      why: 'more than a file may hold',
      body: { name: 'x', prompt: 'x'.repeat(262_100), triggers: [{ provider: 'schedule', cron: '@daily' }] },
      pointers: [''],
      message: /256 KiB/,
    },
  ])('is refused, all of it at once: $why', async ({ body, pointers, message = /./ }) => {
    const before = (await mill.api('GET', path())).body;
    const answer = await create(JSON.parse(JSON.stringify(body).replaceAll('HOOK', hook.uid)) as object);
    expect([answer.status, [...new Set(errorsOf(answer).map(({ pointer }) => pointer))].toSorted()]).toEqual([
      400,
      pointers,
    ]);
    expect(
      errorsOf(answer)
        .map((error) => error.message)
        .join('\n'),
    ).toMatch(message);
    expect((await mill.api('GET', path())).body).toEqual(before);
  });

  it('names no webhook of another factory', async () => {
    const other = String(
      (await mill.api('POST', '/factory', { slug: 'other', source: { kind: 'dashboard' } })).body['uid'],
    );
    const theirs = String((await mill.api('POST', `/factory/${other}/webhooks`, { name: 'theirs' })).body['uid']);
    const answer = await create({
      name: 'x',
      prompt: 'x',
      triggers: [{ provider: 'webhook', webhook_uids: [theirs] }],
    });
    expect(errorsOf(answer)).toMatchObject([
      { pointer: '/triggers/0/webhook_uids/0', message: expect.stringContaining('no webhook of this factory') },
    ]);
    const elsewhere = await made({ name: 'Elsewhere' });
    expect((await mill.api('GET', `/factory/${other}/automations/${elsewhere.uid}`)).status).toBe(404);
    await remove(elsewhere.uid);
  });
});

describe('an edit', () => {
  it('replaces members that it names and leaves the others', async () => {
    const before = await made({
      name: 'Edited',
      description: 'd',
      agent: { model_id: 'm', base_prompt: 'b' },
      limits: { minutes: 1 },
    });
    const after = await edit(before.uid, '"1"', {
      name: 'Other',
      description: null,
      agent: { model_id: 'n' },
      triggers: [{ provider: 'schedule', cron: '@hourly' }],
      enabled: false,
    });
    expect([after.status, after.headers.get('etag')]).toEqual([200, '"2"']);
    expect(after.body).toEqual({
      ...before,
      name: 'Other',
      description: undefined,
      agent: { model_id: 'n' },
      triggers: [{ provider: 'schedule', cron: '@hourly' }],
      enabled: false,
      version: 2,
      revision: expect.not.stringMatching(String(before['revision'])),
      updated_at: expect.any(String),
      schedules: [
        {
          schedule_id: expect.any(String),
          cron: '@hourly',
          next_at: null,
          last_fired_at: null,
          missed: 0,
          last_missed_at: null,
        },
      ],
    });
    expect((await edit(before.uid, '*', { agent: null, limits: null })).body).toMatchObject({
      agent: {},
      prompt: 'Look.',
      version: 3,
    });
    expect((await mill.api('GET', path(before.uid))).body['limits']).toBeUndefined();
    await remove(before.uid);
  });

  it('is about the state that was seen', async () => {
    const { uid } = await made({ name: 'Seen' });
    const [without, malformed] = [
      await edit(uid, undefined, { enabled: false }),
      await edit(uid, '1', { enabled: false }),
    ];
    expect([without, malformed]).toMatchObject([
      { status: 400, body: { errors: [{ pointer: 'If-Match' }] } },
      { status: 400, body: { errors: [{ pointer: 'If-Match' }] } },
    ]);
    const racing = await Promise.all([edit(uid, '"1"', { prompt: 'One.' }), edit(uid, '"1"', { prompt: 'Two.' })]);
    expect(racing.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const late = racing.find(({ status }) => status === 409);
    expect([late?.headers.get('x-should-retry'), late?.body]).toEqual([
      'false',
      expect.objectContaining({ error: 'conflict', retryable: false, version: 2 }),
    ]);
    expect((await edit(uid, '"1"', undefined, 'DELETE')).status).toBe(409);
    expect((await edit(uid, '"2"', undefined, 'DELETE')).status).toBe(204);
    expect([
      (await edit(uid, '*', { enabled: true })).status,
      (await edit(uid, undefined, undefined, 'DELETE')).status,
      (await mill.api('GET', path(uid))).status,
    ]).toEqual([404, 404, 404]);
  });

  it('is checked like a new one, and changes nothing when it is refused', async () => {
    const before = await made({ name: 'Checked' });
    const refused = await edit(before.uid, '"1"', {
      triggers: [onOrders({ a: 1 })],
      agent: { skill_spec: 'nothing' },
      prompt: ' ',
    });
    expect([
      refused.status,
      (refused.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).toSorted(),
    ]).toEqual([400, ['/agent/skill_spec', '/prompt', '/triggers/0/payload/a']]);
    expect((await mill.api('GET', path(before.uid))).body).toEqual(before);
    await remove(before.uid);
  });

  it('acts on the next delivery; what was accepted keeps what it was accepted with', async () => {
    const { uid } = await made({ name: 'Live', prompt: 'First words.' });
    await send();
    await edit(uid, '*', { prompt: 'Second words.' });
    await send();
    await edit(uid, '*', { enabled: false });
    await send();
    await edit(uid, '*', { enabled: true, triggers: [onOrders({ wanted: [true] })] });
    await send({ wanted: false });
    await send({ wanted: true });
    await remove(uid);
    await send({ wanted: true });
    expect((await runsOf(uid)).map(({ prompt }) => prompt.split('\n')[0])).toEqual([
      'Second words.',
      'Second words.',
      'First words.',
    ]);
  });

  it('may go on selecting a webhook that is deleted, and does not fire for it', async () => {
    const gone = (await mill.api('POST', `/factory/${factory}/webhooks`, { name: 'gone' }, manager))
      .body as unknown as typeof hook;
    const { uid } = await made({
      name: 'Faithful',
      triggers: [{ provider: 'webhook', webhook_uids: [gone.uid, hook.uid].toSorted() }],
    });
    expect((await mill.api('DELETE', `/factory/${factory}/webhooks/${gone.uid}`, undefined, manager)).status).toBe(204);
    expect((await mill.api('GET', path(uid))).body['triggers']).toEqual([
      { provider: 'webhook', webhook_uids: [gone.uid, hook.uid].toSorted() },
    ]);
    expect((await edit(uid, '*', { prompt: 'Still here.' })).status).toBe(200);
    expect(
      (
        await fetch(gone.ingress_url, {
          method: 'POST',
          headers: { authorization: `Bearer ${gone.secret}` },
          body: '{}',
        })
      ).status,
    ).toBe(404);
    await send();
    expect(await runsOf(uid)).toHaveLength(1);
    await remove(uid);
  });
});

it('made again under the same name has its UID back', async () => {
  const first = await made({ name: 'Phoenix' });
  await remove(first.uid);
  const again = await made({ name: 'Phoenix' });
  expect([again.uid, again.version]).toEqual([first.uid, 2]);
  expect((await made({ name: 'Phoenix' })).slug).toBe('phoenix-2');
  for (const slug of ['phoenix', 'phoenix-2']) {
    const listed = (await mill.api('GET', `${path()}?limit=500`)).body['automations'] as Automation[];
    expect(await remove(String(listed.find((one) => one.slug === slug)?.uid))).toBe(204);
  }
});

it('are listed in pages, whoever is allowed to look', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await made({ name });
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await mill.api('GET', `${path()}?limit=2${cursor}`);
    expect(status).toBe(200);
    seen.push(...(body['automations'] as Automation[]).map(({ slug }) => slug));
    const page = body['page_info'] as { has_next_page: boolean; next_cursor?: string };
    if (!page.has_next_page) break;
    cursor = `&cursor=${String(page.next_cursor)}`;
  }
  expect(seen).toEqual(names);
  expect((await mill.api('GET', `${path()}?cursor=nonsense`)).status).toBe(400);
  expect((await mill.api('GET', `${path()}?limit=0`)).status).toBe(400);
  const foreign = await makeKey(mill, 'manager', { factories: [`fac_${'0'.repeat(26)}`] });
  const viewer = await makeKey(mill, 'viewer', { factories: [factory] });
  expect([
    (await mill.api('GET', path(), undefined, foreign)).status,
    (await mill.api('POST', path(), { name: 'x', prompt: 'x', triggers: [onOrders()] }, foreign)).status,
  ]).toEqual([404, 404]);
  expect([
    (await mill.api('GET', path(), undefined, viewer)).status,
    (await mill.api('POST', path(), { name: 'x', prompt: 'x', triggers: [onOrders()] }, viewer)).status,
  ]).toEqual([200, 403]);
});

it('every change is in the audit trail, by name and never by what it says', async () => {
  const { uid } = await made({ name: 'Audited', prompt: 'Marker-4711 is in the prompt.' });
  await edit(uid, '*', { prompt: 'Marker-4711 again.', enabled: false });
  await remove(uid);
  const trail = (await mill.api('GET', `/audit?subject=${uid}`)).body['entries'] as {
    action: string;
    details: object;
  }[];
  expect(trail.toReversed().map(({ action, details }) => [action, details])).toEqual([
    ['automation.create', { slug: 'audited', enabled: true }],
    ['automation.change', { slug: 'audited', changed: ['enabled', 'prompt'], enabled: false }],
    ['automation.delete', { slug: 'audited' }],
  ]);
  expect([JSON.stringify(trail), ...mill.logged].join('\n')).not.toContain('Marker-4711');
});
