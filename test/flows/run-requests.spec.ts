/**
 * Every member of a request to create a run: kept, shown, or refused by name; and what a key may refer to. spec: Agent
 * run interface; contract §2, §3.2 (Create).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeKey } from '../support/services/api-keys.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, outputOf, pointersOf, saidBy, SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';

let service: TestService;
let folder: FactoryFolder;
let ours: string;
let theirs: string;
let limited: string;

const NOWHERE = '00000000-0000-7000-8000-000000000000';

// Nobody works on runs here: they stay QUEUED for as long as a test looks at them.
beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600' } });
  folder = await factoryFolder({});
  [ours, theirs] = [await service.factory('ours', folder.source), await service.factory('theirs', folder.source)];
  limited = await makeKey(service, 'operator', { factories: [ours] });
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const create = (body: unknown, key?: string): Promise<ApiAnswer> => service.api('POST', '/agent/runs', body, key);
const created = (more: Record<string, unknown> = {}): Promise<string> => startedRun(service, 'x', more);
const look = async (runId: string): Promise<Record<string, unknown>> =>
  (await service.api('GET', `/agent/runs/${runId}`)).body;

describe('a run', () => {
  it('shows the whole configuration that it was given, and nothing that it was not', async () => {
    const config = {
      name: 'nightly',
      model_id: 'm',
      base_prompt: 'Be brief.',
      environment_id: 'env',
      skill_spec: 'acme/tools:skills/review/SKILL.md',
      idle_timeout_minutes: 60,
      computer_use_enabled: true,
      mcp_servers: {
        files: { command: 'x', args: ['-v'], env: { A: '1' } },
        web: { url: 'https://mcp.example/x', headers: { X: 'y' } },
      },
      harness: { type: 'command', model_id: 'hm', reasoning_level: 'high' },
      secrets: [{ name: 'TOKEN' }],
    };
    const run = await look(
      await created({
        config,
        mode: 'orchestrate',
        interactive: true,
        metadata: { a: 'b' },
        team: true,
        unheard_of: { x: 1 },
      }),
    );
    expect(run['agent_config']).toEqual({ ...config, model_id: 'hm' }); // the one model that it means
    expect(run).toMatchObject({
      mode: 'orchestrate',
      interactive: true,
      metadata: { a: 'b' },
      agent_skill: { name: 'review', full_path: 'skills/review/SKILL.md' },
      execution_location: 'REMOTE',
      is_run_type_cancellable: true,
      is_sandbox_running: false,
      creator: { type: 'user', uid: 'user_admin', display_name: 'admin', email: null },
    });
    expect(run['executor']).toEqual(run['creator']);
    for (const absent of [
      'team',
      'unheard_of',
      'parent_run_id',
      'artifacts',
      'request_usage',
      'trigger_url',
      'schedule',
      'scope',
      'run_time',
      'factory_uid',
    ])
      expect(run).not.toHaveProperty(absent);
  });

  it('is normal, not interactive, and a conversation of its own, unless it says otherwise', async () => {
    const runId = await created();
    expect(await look(runId)).toMatchObject({ mode: 'normal', interactive: false, conversation_id: runId });
  });

  it.each([
    { request: { config: { name: 'mine' }, skill: 'acme/tools:review' }, name: 'mine', why: 'explicitly' },
    {
      request: { skill: 'acme/tools:review', config: { skill_spec: 'acme/tools:other' } },
      name: 'review',
      why: 'after its skill',
    },
    {
      request: { config: { skill_spec: 'acme/tools:skills/deploy/SKILL.md' } },
      name: 'deploy',
      why: 'after the folder of its skill',
    },
    { request: {}, name: undefined, why: 'after nothing' },
  ])('is named $why', async ({ request, name }) => {
    expect(((await look(await created(request)))['agent_config'] as { name?: string }).name).toBe(name);
  });

  it('of a factory takes its defaults, below what it says itself', async () => {
    const defaults = await factoryFolder({});
    await writeFile(
      join(defaults.path, 'factory.yaml'),
      'agentDefaults:\n  model: of-factory\n  basePrompt: of-factory\n  skill: acme/tools:triage\n',
    );
    const uid = await service.factory('with-defaults', defaults.source);
    expect((await look(await created({ factory_uid: uid, config: { model_id: 'of-run' } })))['agent_config']).toEqual({
      name: 'triage',
      model_id: 'of-run',
      base_prompt: 'of-factory',
      skill_spec: 'acme/tools:triage',
      idle_timeout_minutes: 10,
      harness: { type: 'command' },
    });
    await defaults.remove();
  });
});

describe('a dispatch', () => {
  it('is a run of its factory with its ticket', async () => {
    const answer = await service.api('POST', `/factory/${ours}/runs`, {
      prompt: 'x',
      title: 'T',
      metadata: { a: 'b' },
      ticket_ref: 'T-1',
      ticket_url: 'https://tickets.example/T-1',
    });
    expect(answer.body).toEqual({
      factory_uid: ours,
      run_id: expect.any(String),
      state: 'QUEUED',
      ticket_ref: 'T-1',
      run_url: `${service.url}/runs/${String(answer.body['run_id'])}`,
      foreman_agent: '',
    });
    expect(await look(String(answer.body['run_id']))).toMatchObject({
      title: 'T',
      factory_uid: ours,
      trigger_url: 'https://tickets.example/T-1',
      metadata: { a: 'b', ticket_ref: 'T-1', ticket_url: 'https://tickets.example/T-1' },
    });
  });

  it('names everything that is wrong with it at once', async () => {
    const answer = await service.api('POST', `/factory/${ours}/runs`, {
      prompt: 5,
      metadata: { delivery_id: 'x' },
      ticket_ref: 'é'.repeat(129),
      config: { mcp_servers: { a: {} } },
    });
    expect(answer.status).toBe(400);
    expect(pointersOf(answer).sort()).toEqual([
      '/config/mcp_servers/a',
      '/metadata/delivery_id',
      '/prompt',
      '/ticket_ref',
    ]);
  });
});

describe('a wrong request', () => {
  it('names what the schema and what the rules find, together', async () => {
    const answer = await create({
      title: 5,
      mode: 'fast',
      interactive: 'yes',
      skill: 'No Skill',
      metadata: { 'a b': 'x', c: 1 },
      conversation_id: 7,
      attachments: [{ file_name: '../x', mime_type: 'text', data: '?' }, { file_name: 'a' }],
      images: [{ mime_type: 'image/tiff', data: 'YQ' }],
      config: {
        idle_timeout_minutes: 61,
        computer_use_enabled: 1,
        mcp_servers: { a: {}, b: { url: 'ftp://x' } },
        harness: { type: 5 },
      },
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', retryable: false } });
    expect(pointersOf(answer).sort()).toEqual([
      '/attachments/0/data',
      '/attachments/0/file_name',
      '/attachments/0/mime_type',
      '/attachments/1/data',
      '/attachments/1/mime_type',
      '/config/computer_use_enabled',
      '/config/harness/type',
      '/config/idle_timeout_minutes',
      '/config/mcp_servers/a',
      '/config/mcp_servers/b/url',
      '/conversation_id',
      '/images/0/data',
      '/images/0/mime_type',
      '/interactive',
      '/metadata/a b',
      '/metadata/c',
      '/mode',
      '/skill',
      '/title',
    ]);
  });

  it.each([['on_behalf_of']])('that names %s is 422, and 400 when more is wrong with it', async (member) => {
    const answer = await create({ prompt: 'x', [member]: 'someone' });
    expect(answer).toMatchObject({ status: 422, body: { error: 'operation_not_supported', retryable: false } });
    expect(pointersOf(answer)).toEqual([`/${member}`]);
    expect((await create({ prompt: 5, [member]: 'someone' })).status).toBe(400);
    expect((await create({ prompt: 'x', [member]: null })).status).toBe(200);
  });

  it('makes nothing', async () => {
    const before = (await service.api('GET', '/agent/runs?limit=1')).body;
    await create({ prompt: 'x', attachments: [{ file_name: 'a', mime_type: 'text/plain', data: '?' }] });
    expect((await service.api('GET', '/agent/runs?limit=1')).body).toEqual(before);
  });
});

describe('a conversation', () => {
  it('is continued under the ID of the run that began it', async () => {
    const root = await created();
    const second = await created({ conversation_id: root });
    expect(await look(second)).toMatchObject({ run_id: second, conversation_id: root });
    expect((await look(await created({ conversation_id: root, parent_run_id: second })))['conversation_id']).toBe(root);
  });

  it('that does not exist is 404; a run that continues another’s has none of its own', async () => {
    const second = await created({ conversation_id: await created() });
    for (const conversationId of [second, NOWHERE, 'nonsense', ''])
      expect(await create({ prompt: 'x', conversation_id: conversationId })).toMatchObject({
        status: 404,
        body: { error: 'resource_not_found' },
      });
  });
});

describe('a parent', () => {
  it('is kept; one that does not exist is 400', async () => {
    const parent = await created();
    expect(await look(await created({ parent_run_id: parent }))).toMatchObject({ parent_run_id: parent });
    expect(await create({ prompt: 'x', parent_run_id: NOWHERE })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', errors: [{ pointer: '/parent_run_id' }] },
    });
  });

  it('leads to the run at the top of its tree, which a run without one is itself', async () => {
    const top = await created();
    const middle = await created({ parent_run_id: top });
    const low = await created({ parent_run_id: middle });
    for (const runId of [top, middle, low]) expect(await look(runId)).toMatchObject({ root_run_id: top });
  });
});

describe('a key that is limited to one factory', () => {
  it('refers to runs of another one as to runs that do not exist', async () => {
    const foreign = await created({ factory_uid: theirs });
    const free = await created();
    for (const [member, status] of [['conversation_id', 404] as const, ['parent_run_id', 400] as const]) {
      const nowhere = await create({ prompt: 'x', factory_uid: ours, [member]: NOWHERE }, limited);
      expect(nowhere.status).toBe(status);
      for (const runId of [foreign, free])
        expect(saidBy(await create({ prompt: 'x', factory_uid: ours, [member]: runId }, limited))).toEqual(
          saidBy(nowhere),
        );
    }
    const own = await created({ factory_uid: ours });
    expect(
      (await create({ prompt: 'x', factory_uid: ours, conversation_id: own, parent_run_id: own }, limited)).status,
    ).toBe(200);
  });

  it('takes part in a conversation that began elsewhere, once it has a run in it', async () => {
    const root = await created({ factory_uid: theirs });
    await created({ factory_uid: ours, conversation_id: root });
    expect((await create({ prompt: 'x', factory_uid: ours, conversation_id: root }, limited)).status).toBe(200);
  });
});

describe('an idempotency key', () => {
  const keyed = async (key: string, body: unknown, path = '/agent/runs'): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it('makes one run of many requests at once, and each gets the same answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        keyed('at-once', {
          prompt: 'x',
          config: { name: 'at-once' },
          attachments: [{ file_name: 'a', mime_type: 'text/plain', data: 'YQ==' }],
        }),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await service.api('GET', '/agent/runs?name=at-once')).body['runs']).toHaveLength(1);
  });

  it('repeats the answers of dispatch, follow-up and cancel as they were', async () => {
    const dispatched = await keyed('d', { prompt: 'x' }, `/factory/${ours}/runs`);
    expect(JSON.parse(dispatched.text)).toMatchObject({ factory_uid: ours, foreman_agent: '' });
    expect(await keyed('d', { prompt: 'x' }, `/factory/${ours}/runs`)).toEqual(dispatched);
    const runId = await created();
    const followed = await keyed('f', { message: 'more' }, `/agent/runs/${runId}/followups`);
    expect(await keyed('f', { message: 'more' }, `/agent/runs/${runId}/followups`)).toEqual(followed);
    expect((await look(runId))['submitted_prompt']).toBe('x\n\nmore');
    const cancelled = await keyed('c', undefined, `/agent/runs/${runId}/cancel`);
    expect(cancelled).toEqual({ status: 200, text: JSON.stringify(runId) });
    expect(await keyed('c', undefined, `/agent/runs/${runId}/cancel`)).toEqual(cancelled);
  });
});

describe('the audit trail', () => {
  it('tells of a create, a follow-up and a cancel, once each, and of nothing that was refused', async () => {
    const runId = await created({ factory_uid: ours });
    await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'hidden-words' });
    for (let time = 0; time < 2; time += 1) await service.api('POST', `/agent/runs/${runId}/cancel`);
    await create({ prompt: 5 });
    const { body } = await service.api('GET', `/audit?subject=${runId}`);
    const entries = body['entries'] as { action: string; factory_uid: string }[];
    expect(entries.map(({ action, factory_uid: uid }) => [action, uid]).toReversed()).toEqual([
      ['run.create', ours],
      ['run.followup', ours],
      ['run.cancel', ours],
    ]);
    expect(JSON.stringify(body)).not.toContain('hidden-words');
  });
});

describe('a service that is full', () => {
  it('says so when a run has to wait, and only then', async () => {
    const busy = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '1' } });
    const first = await busy.api('POST', '/agent/runs', { prompt: 'echo begun; sleep 30' });
    expect(first.body).toEqual({
      run_id: expect.any(String),
      task_id: first.body['run_id'],
      state: 'QUEUED',
      at_capacity: false,
    });
    await wroteWord(busy, String(first.body['run_id']), 'begun');
    expect((await busy.api('POST', '/agent/runs', { prompt: 'x' })).body['at_capacity']).toBe(true);
    await busy.api('POST', `/agent/runs/${String(first.body['run_id'])}/cancel`);
    await busy.stop();
  });

  it('refuses more waiting runs than its queue takes, each factory’s apart, and says when to ask again', async () => {
    const small = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_QUEUE_MAX: '2' } });
    const uid = await small.factory('small', folder.source);
    const make = (more: Record<string, unknown>): Promise<ApiAnswer> =>
      small.api('POST', '/agent/runs', { prompt: 'x', ...more });
    for (const more of [{}, { factory_uid: uid }]) {
      expect([(await make(more)).status, (await make(more)).status]).toEqual([200, 200]);
      const refused = await make(more);
      expect(refused).toMatchObject({ status: 503, body: { error: 'resource_unavailable', retryable: true } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect((await small.api('POST', `/factory/${uid}/runs`, { prompt: 'x' })).status).toBe(503);
    await small.stop();
  });

  it('takes no run of a factory that was deleted', async () => {
    const uid = await service.factory('to-be-deleted', folder.source);
    expect((await service.api('DELETE', `/factory/${uid}`)).status).toBe(204);
    expect(saidBy(await create({ prompt: 'x', factory_uid: uid }))).toEqual(
      saidBy(await create({ prompt: 'x', factory_uid: 'fac_00000000000000000000000000' })),
    );
  });
});

describe('the command of a run', () => {
  it('is told how it was asked for', async () => {
    const working = await bootService({ environment: SHELL });
    const script =
      'echo "$MILLWRIGHT_RUN_MODE $MILLWRIGHT_INTERACTIVE $MILLWRIGHT_CONVERSATION_ID ' +
      '${MILLWRIGHT_PARENT_RUN_ID:-none}"';
    const first = await startedRun(working, script);
    await runIn(working, first, ...ENDED);
    expect(await outputOf(working, first)).toBe(`normal false ${first} none\n`);
    const second = await startedRun(working, script, {
      mode: 'plan',
      interactive: true,
      conversation_id: first,
      parent_run_id: first,
    });
    await runIn(working, second, ...ENDED);
    expect(await outputOf(working, second)).toBe(`plan true ${first} ${first}\n`);
    await working.api('POST', `/agent/runs/${second}/followups`, { message: script, mode: 'orchestrate' });
    await runIn(working, second, 'SUCCEEDED');
    await wroteWord(working, second, 'orchestrate true');
    await working.api('POST', `/agent/runs/${second}/followups`, { message: script });
    await wroteWord(working, second, 'normal true');
    await working.stop();
  });
});
