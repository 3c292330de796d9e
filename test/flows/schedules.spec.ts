/**
 * Schedules over the API: made, looked at, changed, paused, resumed and deleted, and what their ticks start. contract
 * §12.8 (Schedules), §3.11 (tasks).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const ENVIRONMENT = { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_API_RATE: '0' };

type Item = Record<string, unknown> & { id: string };

let service: TestService;
let dataDir: string;
let folder: FactoryFolder;
let birds: string;
let skewMs = 0;
let made = 0;
/** The scheduler's look at what is due; only a test takes one, at its time. */
let look: () => Promise<void>;

async function boot(environment: Record<string, string>): Promise<void> {
  service = await bootService({ environment, nowMs: () => Date.now() + skewMs, dataDir });
  const { scheduler } = service.service;
  look = scheduler.ask.bind(scheduler);
  scheduler.ask = async () => undefined;
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-schedules-'));
  await boot(ENVIRONMENT);
  folder = await factoryFolder({});
  await folder.writeFile('factory.yaml', 'name: birds\nagentDefaults:\n  model: large\n');
  await folder.writeFile('environments/lake.yaml', 'description: Wet.\n');
  await folder.writeFile(
    'automations/nightly/automation.md',
    '---\ntriggers:\n  - {provider: schedule, event: cron_fired, schedule: {name: m, cron: "0 9 * * *"}}\n---\nLook.\n',
  );
  birds = await service.factory('birds', folder.source);
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
  await rm(dataDir, { recursive: true, force: true });
});

const setClock = (text: string): void => void (skewMs = Date.parse(`2031-03-04T${text}Z`) - Date.now());
/** The time, and a look at the schedules then. */
async function at(text: string): Promise<void> {
  setClock(text);
  await look();
}
const api: TestService['api'] = (...call) => service.api(...call);
async function schedule(more: Record<string, unknown> = {}): Promise<Item> {
  made += 1;
  const { status, body } = await api('POST', '/agent/schedules', {
    name: `s${made}`,
    cron_schedule: '0 * * * *',
    prompt: 'Sweep.',
    ...more,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Item;
}
const runsOf = async ({ id }: Item): Promise<Record<string, unknown>[]> =>
  (await api('GET', `/agent/runs?schedule_id=${id}&sort_by=created_at&sort_order=asc`)).body['runs'] as never;
const found = async ({ id }: Item): Promise<Item> => (await api('GET', `/agent/schedules/${id}`)).body as Item;

describe('a schedule', () => {
  it('is made with everything that can be said, and comes back', async () => {
    setClock('08:30:00');
    const wanted = {
      name: 'Nightly sweep',
      cron_schedule: '30 9 * * 1-5',
      prompt: 'Sweep.',
      enabled: true,
      agent_config: {
        model_id: 'm-1',
        environment_id: 'lake',
        skill_spec: 'acme/birds:count',
        harness: { type: 'oz' },
        base_prompt: 'Be exact.',
      },
      metadata: { team: 'birds' },
      mode: 'plan',
    };
    const item = await schedule({ ...wanted, factory_uid: birds, team: true });
    const who = { type: 'user', uid: expect.any(String), display_name: 'admin', email: null };
    expect(item).toEqual({
      ...wanted,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      read_only: false,
      factory_uid: birds,
      created_at: expect.stringMatching(/^2031-03-04T08:3[01]:/),
      updated_at: item['created_at'],
      created_by: who,
      updated_by: who,
      history: { next_run: '2031-03-04T09:30:00.000Z', missed: 0 },
    });
    expect(await found(item)).toEqual(item);
    const { schedules } = (await api('GET', '/agent/schedules')).body as { schedules: Item[] };
    expect(schedules.map(({ name, read_only: isReadOnly }) => [name, isReadOnly])).toEqual([
      ['Nightly sweep', false],
      ['m', true],
    ]);
    expect(schedules[0]).toEqual(item);
  });

  it('starts one run a tick, which names it, however often anybody looks', async () => {
    setClock('09:58:30');
    const item = await schedule({ metadata: { team: 'birds' }, agent_config: { model_id: 'm-1' }, mode: 'plan' });
    await at('09:59:30');
    expect(await runsOf(item)).toEqual([]);
    await at('10:00:03');
    await at('10:00:04');
    const [run, ...others] = await runsOf(item);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      state: 'QUEUED',
      source: 'SCHEDULED_AGENT',
      title: `${String(item['name'])} · Sweep.`,
      prompt: 'Sweep.',
      mode: 'plan',
      creator: { type: 'user', display_name: 'admin' },
      agent_config: { name: item['name'], model_id: 'm-1' },
      metadata: { team: 'birds' },
      schedule: { schedule_id: item.id, schedule_name: item['name'], cron_schedule: '0 * * * *' },
    });
    expect(run).not.toHaveProperty('factory_uid');
    expect((await api('GET', '/agent/runs?metadata[team]=birds')).body['runs']).toHaveLength(1);
    expect(await found(item)).toMatchObject({
      history: { last_ran: '2031-03-04T10:00:00.000Z', next_run: '2031-03-04T11:00:00.000Z', missed: 0 },
      updated_at: item['updated_at'],
    });
  });

  it('of a factory starts runs of the factory, with its defaults and its service account', async () => {
    setClock('11:30:00');
    const item = await schedule({ factory_uid: birds, agent_config: { skill_spec: 'count' }, prompt: undefined });
    await at('12:00:01');
    expect(await runsOf(item)).toMatchObject([
      {
        prompt: 'Use the skill count.',
        factory_uid: birds,
        creator: { type: 'service_account' },
        agent_config: { model_id: 'large', skill_spec: 'count' },
      },
    ]);
  });

  it('makes up for the latest tick within five minutes, and counts the others', async () => {
    setClock('12:30:00');
    const [late, tooLate] = [await schedule({ cron_schedule: '*/10 * * * *' }), await schedule()];
    await at('13:13:00');
    expect([await runsOf(late), await runsOf(tooLate)]).toEqual([
      [expect.objectContaining({ created_at: expect.stringMatching(/T13:1[34]:/) })],
      [],
    ]);
    expect([(await found(late))['history'], (await found(tooLate))['history']]).toMatchObject([
      { last_ran: '2031-03-04T13:10:00.000Z', missed: 3, last_missed_at: '2031-03-04T13:00:00.000Z' },
      { missed: 1, last_missed_at: '2031-03-04T13:00:00.000Z' },
    ]);
  });

  it('that is paused starts nothing, and counts from now once it is resumed', async () => {
    setClock('13:58:00');
    const item = await schedule();
    const paused = await api('POST', `/agent/schedules/${item.id}/pause`);
    expect(paused).toMatchObject({ status: 200, body: { id: item.id, enabled: false, history: { missed: 0 } } });
    expect(paused.body['history']).not.toHaveProperty('next_run');
    expect((await api('POST', `/agent/schedules/${item.id}/pause`)).body).toEqual(paused.body);
    await at('14:00:01');
    setClock('14:00:02');
    expect((await api('POST', `/agent/schedules/${item.id}/resume`)).body).toMatchObject({
      enabled: true,
      history: { next_run: '2031-03-04T15:00:00.000Z', missed: 0 },
    });
    await at('14:00:03');
    expect(await runsOf(item)).toEqual([]);
    await at('15:00:00');
    expect(await runsOf(item)).toHaveLength(1);
  });

  it('changes at once, keeps what a change leaves out, and counts from now with another expression', async () => {
    setClock('15:58:00');
    const item = await schedule({ agent_config: { model_id: 'm-1' }, metadata: { a: '1' }, mode: 'plan' });
    const update = (body: Record<string, unknown>): ReturnType<TestService['api']> =>
      api('PUT', `/agent/schedules/${item.id}`, { name: 'b', cron_schedule: '0 * * * *', enabled: true, ...body });
    expect((await update({})).body).toEqual({
      ...item,
      name: 'b',
      updated_at: expect.any(String),
      updated_by: item['updated_by'],
    });
    // Due, and nobody has looked: it starts as it is now.
    setClock('16:00:01');
    await update({ prompt: 'Sweep again.', agent_config: {}, metadata: {}, mode: 'normal' });
    await at('16:00:02');
    expect(await runsOf(item)).toMatchObject([{ prompt: 'Sweep again.', mode: 'normal', metadata: {} }]);
    setClock('16:01:10');
    await update({ cron_schedule: '* * * * *' });
    await at('16:01:20');
    expect(await runsOf(item)).toHaveLength(1);
    await at('16:02:00');
    expect(await runsOf(item)).toHaveLength(2);
    await update({ enabled: false });
    await at('16:03:01');
    expect(await runsOf(item)).toHaveLength(2);
  });

  it('that is deleted while it is due starts nothing, and its runs stay', async () => {
    setClock('16:58:00');
    const item = await schedule({ cron_schedule: '* * * * *' });
    await at('16:59:01');
    setClock('17:00:01');
    expect(await api('DELETE', `/agent/schedules/${item.id}`)).toMatchObject({ status: 200, body: { success: true } });
    await at('17:00:02');
    expect(await runsOf(item)).toHaveLength(1);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', { name: 'b', cron_schedule: '0 * * * *', enabled: true }],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
    ] as const)
      expect(await api(method, `/agent/schedules/${item.id}${path}`, body)).toMatchObject({
        status: 404,
        body: { error: 'resource_not_found' },
      });
  });

  it('is there after a restart, and fires no tick again', async () => {
    setClock('17:58:00');
    const item = await schedule();
    await at('18:00:01');
    await service.stop({ keepData: true });
    await boot({ ...ENVIRONMENT, MILLWRIGHT_ADMIN_KEY: service.adminKey });
    await at('18:00:02');
    expect(await runsOf(item)).toHaveLength(1);
    await at('19:00:00');
    expect(await runsOf(item)).toHaveLength(2);
    // A clock that is set back finds nothing due, nor does a schedule that counts anew then start what it started.
    await at('18:30:00');
    await api('POST', `/agent/schedules/${item.id}/pause`);
    await api('POST', `/agent/schedules/${item.id}/resume`);
    await at('19:00:01');
    expect(await runsOf(item)).toHaveLength(2);
    await at('20:00:00');
    expect(await runsOf(item)).toHaveLength(3);
  });

  it('is made once for an idempotency key', async () => {
    const send = async (): Promise<unknown> =>
      (
        await fetch(`${service.url}/api/v1/agent/schedules`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${service.adminKey}`,
            'content-type': 'application/json',
            'idempotency-key': 'once',
          },
          body: JSON.stringify({ name: 'once', cron_schedule: '@daily', prompt: 'x' }),
        })
      ).json();
    expect(await send()).toEqual(await send());
    const { schedules } = (await api('GET', '/agent/schedules')).body as { schedules: Item[] };
    expect(schedules.filter(({ name }) => name === 'once')).toHaveLength(1);
  });
});

describe('a request for a schedule', () => {
  it.each<[why: string, body: Record<string, unknown>, status: number, pointers: string[], words: RegExp]>([
    [
      'without a name and an expression',
      { name: undefined, cron_schedule: undefined },
      400,
      ['/cron_schedule', '/name'],
      /./,
    ],
    ['that cannot fire', { cron_schedule: '0 0 30 2 *' }, 400, ['/cron_schedule'], /never fires/],
    ['with four fields', { cron_schedule: '* * * *' }, 400, ['/cron_schedule'], /4 fields/],
    ['that says nothing to do', { prompt: undefined }, 400, ['/prompt'], /skill_spec/],
    ['with a name that is too long', { name: 'x'.repeat(201) }, 400, ['/name'], /200/],
    ['with metadata that is reserved', { metadata: { webhook_uid: 'x' } }, 400, ['/metadata/webhook_uid'], /reserved/],
    [
      'with an environment and no factory',
      { agent_config: { environment_id: 'lake' } },
      400,
      ['/agent_config/environment_id'],
      /factory_uid/,
    ],
    [
      'with a skill of no factory',
      { agent_config: { skill_spec: 'count' } },
      400,
      ['/agent_config/skill_spec'],
      /bare name/,
    ],
    [
      'with skills of no factory',
      { agent_config: { skills: ['acme/birds:count', 'count'] } },
      400,
      ['/agent_config/skills/1'],
      /bare name/,
    ],
    ['for an agent identity that is none', { agent_uid: NOBODY }, 400, ['/agent_uid'], /agent identity/],
    ['of a factory that is none', { factory_uid: 'fac_00000000000000000000000001' }, 404, [], /factory/],
  ])('%s is refused', async (_why, body, status, pointers, words) => {
    const { schedules: before } = (await api('GET', '/agent/schedules')).body as { schedules: Item[] };
    const answer = await api('POST', '/agent/schedules', {
      name: 'x',
      cron_schedule: '0 9 * * *',
      prompt: 'x',
      ...body,
    });
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
    const errors = (answer.body['errors'] ?? []) as { pointer: string; message: string }[];
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(pointers);
    expect(`${String(answer.body['detail'])} ${errors.map(({ message }) => message).join(' ')}`).toMatch(words);
    expect((await api('GET', '/agent/schedules')).body['schedules']).toHaveLength(before.length);
  });

  it('names the environments that its factory has', async () => {
    const unknown = { agent_config: { environment_id: 'sea' } };
    const expected = { status: 400, body: { detail: expect.stringMatching(/"sea": there are lake/) } };
    const body = { name: 'x', cron_schedule: '0 9 * * *', prompt: 'x', factory_uid: birds, ...unknown };
    expect(await api('POST', '/agent/schedules', body)).toMatchObject(expected);
    const item = await schedule({ factory_uid: birds });
    const change = { name: 'x', cron_schedule: '0 9 * * *', enabled: true, ...unknown };
    expect(await api('PUT', `/agent/schedules/${item.id}`, change)).toMatchObject(expected);
  });

  it('leaves no schedule without anything to do', async () => {
    const item = await schedule({ prompt: undefined, agent_config: { skill_spec: 'acme/birds:count' } });
    const change = { name: 'x', cron_schedule: '0 9 * * *', enabled: true };
    expect(await api('PUT', `/agent/schedules/${item.id}`, { ...change, agent_config: {} })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/prompt' }] },
    });
    expect(await found(item)).toEqual(item);
    expect(await api('PUT', `/agent/schedules/${item.id}`, change)).toMatchObject({ status: 200 });
  });
});

describe('what nothing here serves of a schedule', () => {
  const OZ = { harness: { type: 'oz' } };
  const change = { name: 'told', cron_schedule: '0 * * * *', enabled: true };
  const put = async (item: Item, more: Record<string, unknown> = {}): Promise<unknown> =>
    (await api('PUT', `/agent/schedules/${item.id}`, { ...change, ...more })).body['ignored'];

  it('is ignored, answered, and the first line in the logs of its runs', async () => {
    setClock('20:30:00');
    const config = { ...OZ, memory_stores: ['x'], modle_id: 'x', mcp_servers: { kept: { warp_id: 'w' } } };
    const said = { team: false, notes: 'x', nothing: null, mode: 'orchestrate', agent_config: config };
    const item = await schedule(said);
    const ignored = [
      '/agent_config/memory_stores',
      '/agent_config/modle_id',
      '/notes',
      '/team',
      '/mode',
      '/agent_config/mcp_servers/kept',
    ];
    expect((item['ignored'] as string[]).toSorted()).toEqual(ignored.toSorted());
    expect(await found(item)).toEqual(item);
    await at('21:00:01');
    const [run] = await runsOf(item);
    const log = await api('GET', `/agent/runs/${String(run?.['run_id'])}/events?limit=10`);
    const [first] = log.body['events'] as { payload: { text: string } }[];
    expect(first?.payload.text).toMatch(/^ignored of the schedule, .*\/agent_config\/modle_id/);
  });

  it('stays told as long as it stays, and goes with what it was part of', async () => {
    setClock('21:30:00');
    const item = await schedule({ notes: 'x', mode: 'orchestrate', agent_config: { ...OZ, modle_id: 'x' } });
    expect(await put(item)).toEqual(['/agent_config/modle_id', '/mode']);
    const paused = (await api('POST', `/agent/schedules/${item.id}/pause`)).body;
    expect(paused['ignored']).toEqual(['/agent_config/modle_id', '/mode']);
    expect(await put(item, { agent_config: OZ })).toEqual(['/mode']);
    expect(await put(item, { mode: 'normal' })).toBeUndefined();
  });
});

describe('the agent identity of a schedule', () => {
  const identity = async (more: Record<string, unknown> = {}): Promise<string> =>
    String((await api('POST', '/agent/identities', { name: 'reviewer', base_model: 'small', ...more })).body['uid']);
  const change = { name: 'of an identity', cron_schedule: '0 * * * *', enabled: true };

  it('gives its runs what it has at the tick, below the schedule and above the factory', async () => {
    setClock('22:30:00');
    const uid = await identity({ prompt: 'Read first.' });
    const item = await schedule({ factory_uid: birds, agent_uid: uid });
    expect(item['agent_uid']).toBe(uid);
    const own = await schedule({ factory_uid: birds, agent_uid: uid, agent_config: { model_id: 'own' } });
    await api('PUT', `/agent/identities/${uid}`, { prompt: 'Read twice.' });
    await at('23:00:01');
    expect([await runsOf(item), await runsOf(own)]).toMatchObject([
      [
        {
          agent_config: { name: 'reviewer', model_id: 'small', base_prompt: 'Read twice.' },
          metadata: { agent_identity_uid: uid },
        },
      ],
      [{ agent_config: { model_id: 'own', base_prompt: 'Read twice.' } }],
    ]);
  });

  it('says the factory where nothing else does, and no other', async () => {
    const uid = await identity({ factory_uid: birds });
    expect(await schedule({ agent_uid: uid })).toMatchObject({ agent_uid: uid, factory_uid: birds });
    const ofNone = await schedule();
    expect(await api('PUT', `/agent/schedules/${ofNone.id}`, { ...change, agent_uid: uid })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/agent_uid' }] },
    });
  });

  it('stays as long as a schedule has it', async () => {
    const uid = await identity();
    const item = await schedule({ agent_uid: uid });
    expect(await api('DELETE', `/agent/identities/${uid}`)).toMatchObject({
      status: 409,
      body: { retryable: false, detail: expect.stringContaining(String(item['name'])) },
    });
    expect((await api('PUT', `/agent/schedules/${item.id}`, change)).body['agent_uid']).toBe(uid);
    const without = (await api('PUT', `/agent/schedules/${item.id}`, { ...change, agent_uid: null })).body;
    expect(without).not.toHaveProperty('agent_uid');
    expect((await api('DELETE', `/agent/identities/${uid}`)).status).toBe(204);
  });
});

it('a secret that only a schedule or an agent identity names is in use', async () => {
  const grants = { factories: [birds], uses: ['run'], runs: '*' };
  await api('PUT', '/secrets/BIRD_TOKEN', { value: 'a value of its own', grants });
  const secrets = [{ name: 'BIRD_TOKEN' }];
  const uid = String(
    (await api('POST', '/agent/identities', { name: 'reader', factory_uid: birds, secrets })).body['uid'],
  );
  const [own, through] = [
    await schedule({ name: 'own', factory_uid: birds, agent_config: { secrets } }),
    await schedule({ name: 'through', factory_uid: birds, agent_uid: uid }),
  ];
  const users = [
    { kind: 'schedule', factory_uid: birds, slug: 'own', uid: own.id },
    { kind: 'schedule', factory_uid: birds, slug: 'through', uid: through.id },
    { kind: 'agent_identity', factory_uid: birds, slug: 'reader', uid },
  ];
  expect((await api('GET', '/secrets/BIRD_TOKEN')).body['used_by']).toEqual(users);
  expect(await api('DELETE', '/secrets/BIRD_TOKEN')).toMatchObject({ status: 409, body: { used_by: users } });
  for (const { id } of [own, through]) await api('DELETE', `/agent/schedules/${id}`);
  await api('DELETE', `/agent/identities/${uid}`);
  expect((await api('DELETE', '/secrets/BIRD_TOKEN')).status).toBe(204);
});

describe('a schedule trigger of an automation', () => {
  it.each([
    ['PUT', '', { name: 'x', cron_schedule: '0 9 * * *', enabled: false }],
    ['DELETE', '', undefined],
    ['POST', '/pause', undefined],
    ['POST', '/resume', undefined],
  ] as const)('is not changed by %s …%s, whose answer names its file', async (method, path, body) => {
    const { schedules } = (await api('GET', '/agent/schedules')).body as { schedules: Item[] };
    const trigger = schedules.find(({ read_only: isReadOnly }) => isReadOnly === true) as Item;
    expect(await api(method, `/agent/schedules/${trigger.id}${path}`, body)).toMatchObject({
      status: 409,
      body: {
        error: 'conflict',
        retryable: false,
        detail: 'the schedule "m" is a trigger in automations/nightly/automation.md: change it in this file',
        file: 'automations/nightly/automation.md',
      },
    });
    expect(await found(trigger)).toEqual(trigger);
  });
});

describe('a key that is limited to factories', () => {
  it('makes, sees and changes schedules of these alone', async () => {
    const [own, other] = [
      await makeKey(service, 'operator', { factories: [birds] }),
      await makeKey(service, 'operator', { factories: ['fac_00000000000000000000000001'] }),
    ];
    const body = { name: 'limited', cron_schedule: '0 9 * * *', prompt: 'x' };
    expect(await api('POST', '/agent/schedules', body, own)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('factory_uid') },
    });
    const item = (await api('POST', '/agent/schedules', { ...body, factory_uid: birds }, own)).body as Item;
    const ofNobody = await schedule();
    const listed = async (key: string): Promise<string[]> =>
      ((await api('GET', '/agent/schedules', undefined, key)).body['schedules'] as Item[]).map(({ id }) => id);
    expect(await listed(own)).toContain(item.id);
    expect(await listed(own)).not.toContain(ofNobody.id);
    expect(await listed(other)).toEqual([]);
    for (const id of [item.id, ofNobody.id, NOBODY]) {
      expect((await api('GET', `/agent/schedules/${id}`, undefined, other)).status).toBe(404);
      expect((await api('POST', `/agent/schedules/${id}/pause`, undefined, other)).status).toBe(404);
    }
    expect((await api('POST', `/agent/schedules/${item.id}/pause`, undefined, own)).status).toBe(200);
  });
});

it('goes with its factory', async () => {
  const other = await factoryFolder({});
  const doomed = await service.factory('doomed', other.source);
  setClock('20:58:00');
  const item = await schedule({ factory_uid: doomed });
  expect((await api('DELETE', `/factory/${doomed}`)).status).toBe(204);
  expect((await api('GET', `/agent/schedules/${item.id}`)).status).toBe(404);
  await at('21:00:01');
  expect(await runsOf(item)).toEqual([]);
  await other.remove();
});

it('tasks are runs under their older name', async () => {
  const { body } = await api('POST', '/agent/run', { prompt: 'Count.', config: { name: 'older' } });
  const run = (await api('GET', `/agent/runs/${String(body['run_id'])}`)).body;
  expect(run['task_id']).toBe(body['task_id']);
  expect((await api('GET', `/agent/tasks/${String(body['task_id'])}`)).body).toEqual(run);
  const { body: page } = await api('GET', '/agent/tasks?config_name=older&limit=1&state=QUEUED,PENDING&state=CLAIMED');
  expect(page).toEqual({ tasks: [run], page_info: { has_next_page: false } });
  expect((await api('GET', `/agent/tasks/${NOBODY}`)).status).toBe(404);
  expect((await api('GET', '/agent/tasks?limit=0')).status).toBe(400);
});
