/** Runs over the API: create, look at, follow up, cancel. spec: Agent run interface; contract §3. */
import { runIn } from '../support/factories/factory-files.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let service: TestService;

// Nobody works on runs here: they stay QUEUED for as long as a test looks at them.
beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
});

afterAll(() => service.stop());

const create = (body: unknown, path = '/agent/runs'): Promise<ApiAnswer> => service.api('POST', path, body);
const idOf = (answer: ApiAnswer): string => String(answer.body['run_id']);
const pointersOf = (answer: ApiAnswer): string[] =>
  (answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);

describe('creating a run', () => {
  it.each(['/agent/run', '/agent/runs'])('by POST %s answers its ids and its first state', async (path) => {
    const answer = await create({ prompt: 'Say hello.' }, path);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      run_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/),
      state: 'QUEUED',
    });
    expect(answer.body['task_id']).toBe(answer.body['run_id']);
  });

  it('shows everything that was asked for in the RunItem', async () => {
    const runId = idOf(
      await create({
        prompt: 'First line.\nSecond line.',
        metadata: { ticket: 'T-1', 'a.b_c-d': '' },
        config: {
          name: 'nightly',
          model_id: 'm',
          base_prompt: 'Be brief.',
          environment_id: 'env',
          mcp_servers: { files: { command: 'x' } },
          harness: { type: 'command' },
          idle_timeout_minutes: 0,
          secrets: [],
        },
      }),
    );
    const { body } = await service.api('GET', `/agent/runs/${runId}`);
    expect(body).toMatchObject({
      run_id: runId,
      task_id: runId,
      title: 'First line.',
      state: 'QUEUED',
      prompt: 'First line.\nSecond line.',
      submitted_prompt: 'First line.\nSecond line.',
      started_at: null,
      finished_at: null,
      source: 'API',
      creator: { type: 'user', uid: 'user_admin', display_name: 'admin' },
      metadata: { ticket: 'T-1', 'a.b_c-d': '' },
      agent_config: {
        name: 'nightly',
        model_id: 'm',
        base_prompt: 'Be brief.',
        environment_id: 'env',
        mcp_servers: { files: { command: 'x' } },
        harness: { type: 'command' },
        idle_timeout_minutes: 0,
      },
      is_run_type_cancellable: true,
      is_sandbox_running: false,
    });
    for (const member of ['created_at', 'updated_at']) expect(body[member]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(body).not.toHaveProperty('session_link'); // from CLAIMED on
  });

  it('takes a title, cuts a long first line, and a skill instead of a prompt', async () => {
    const titled = await service.api('GET', `/agent/runs/${idOf(await create({ prompt: 'x', title: 'Mine' }))}`);
    expect(titled.body['title']).toBe('Mine');
    const long = await service.api('GET', `/agent/runs/${idOf(await create({ prompt: 'y'.repeat(300) }))}`);
    expect(String(long.body['title']).length).toBeLessThanOrEqual(80);
    const skilled = await service.api(
      'GET',
      `/agent/runs/${idOf(await create({ skill: 'acme/tools:review', config: { skill_spec: 'acme/tools:other' } }))}`,
    );
    expect(skilled.body['agent_config']).toMatchObject({ skill_spec: 'acme/tools:review' });
    expect((await create({ config: { skill_spec: 'acme/tools:review' } })).status).toBe(200);
  });

  it('knows the command line as a source', async () => {
    const answer = await fetch(`${service.url}/api/v1/agent/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': 'application/json',
        'x-millwright-client': 'cli/0.1.0',
      },
      body: '{"prompt": "x"}',
    });
    const { run_id: runId } = (await answer.json()) as { run_id: string };
    expect((await service.api('GET', `/agent/runs/${runId}`)).body['source']).toBe('CLI');
  });

  it('ignores members that it does not know', async () => {
    const answer = await create({
      prompt: 'x',
      colour: 'red',
      config: { wheels: 4, harness: { type: 'command', gears: 3 }, mcp_servers: { a: { command: 'x', speed: [1] } } },
    });
    expect(answer.status).toBe(200);
    expect((await service.api('GET', `/agent/runs/${idOf(answer)}`)).body['agent_config']).toEqual({
      harness: { type: 'command' },
      mcp_servers: { a: { command: 'x' } },
      idle_timeout_minutes: 10,
    });
  });

  it.each([
    { depth: 62, status: 200, why: 'with body and config 64 in all' },
    { depth: 63, status: 400, why: 'one more' },
    { depth: 4_110, status: 400, why: 'what a serializer would run out of stack over' },
    { depth: 400_000, status: 400, why: 'as deep as a body can be' },
  ])('bears a member nested $depth deep: $status, $why', async ({ depth, status }) => {
    const answer = await fetch(`${service.url}/api/v1/agent/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body: `{"prompt":"true","config":{"zz":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
    });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(answer.status).toBe(status);
    if (status === 400) expect(body['detail']).toBe('the body is nested too deeply');
    expect((await service.api('GET', '/agent/runs')).status).toBe(200);
  });

  const wrong: [string, unknown, string[], string][] = [
    ['nothing', {}, ['/prompt'], 'a run needs something to do'],
    ['a number for a prompt', { prompt: 5 }, ['/prompt'], 'wrong type'],
    ['an empty prompt', { prompt: '' }, ['/prompt'], 'nothing to do'],
    ['a title of 201 characters', { prompt: 'x', title: 'x'.repeat(201) }, ['/title'], 'the limit is 200'],
    ['a config that is text', { prompt: 'x', config: 'fast' }, ['/config'], 'wrong type'],
    [
      'idle time-outs out of range',
      { prompt: 'x', config: { idle_timeout_minutes: 61 } },
      ['/config/idle_timeout_minutes'],
      '0–60',
    ],
    [
      'secrets that are names only',
      { prompt: 'x', config: { secrets: ['A'] } },
      ['/config/secrets/0'],
      'items are objects',
    ],
    [
      'a skill that cannot be one',
      { prompt: 'x', skill: 'No Skill', config: { skill_spec: '../x' } },
      ['/skill', '/config/skill_spec'],
      'neither owner/repo:… nor a name',
    ],
    [
      'MCP servers of no kind or two',
      {
        prompt: 'x',
        config: {
          mcp_servers: { a: {}, 'b/c': { command: 'x', url: 'https://x.example' }, d: { url: 'https://x.example' } },
        },
      },
      ['/config/mcp_servers/a', '/config/mcp_servers/b~1c'],
      'exactly one of command and url',
    ],
    [
      'MCP servers of wrong types',
      { prompt: 'x', config: { mcp_servers: { a: { command: 5 }, b: { url: 'ftp://x' } } } },
      ['/config/mcp_servers/a/command', '/config/mcp_servers/b/url'],
      'known members have types',
    ],
    ['an unknown mode', { prompt: 'x', mode: 'fast' }, ['/mode'], 'one of three'],
    [
      'many things at once',
      { prompt: 5, title: 6, config: { model_id: 7, secrets: [{}] } },
      ['/prompt', '/title', '/config/model_id', '/config/secrets/0/name'],
      'every one is named',
    ],
    ['an array', [], [''], 'the body is an object'],
    ['metadata that is a list', { prompt: 'x', metadata: ['a'] }, ['/metadata'], 'wrong type'],
    [
      'metadata values that are no text',
      { prompt: 'x', metadata: { a: 1, b: 'fine', c: null } },
      ['/metadata/a', '/metadata/c'],
      'every one is named',
    ],
    [
      'bad metadata keys and values',
      {
        prompt: 'x',
        metadata: {
          'a b': '1',
          'a/b~c': '2',
          delivery_id: '3',
          webhook_uid: '3',
          long: 'ü'.repeat(129),
          nul: 'a\u0000b',
          ok: 'x',
        },
      },
      [
        '/metadata/a b',
        '/metadata/a~1b~0c',
        '/metadata/delivery_id',
        '/metadata/webhook_uid',
        '/metadata/long',
        '/metadata/nul',
      ],
      'every one is named, reserved ones too',
    ],
    [
      'too much metadata',
      { prompt: 'x', metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v'])) },
      ['/metadata'],
      'at most 20',
    ],
    ['an empty metadata key', { prompt: 'x', metadata: { '': 'v' } }, ['/metadata/'], 'keys have 1 to 64 characters'],
  ];
  it.each(wrong)('refuses %s', async (_what, body, pointers, why) => {
    expect(why).not.toBe('');
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_request', status: 400, retryable: false });
    expect(pointersOf(answer).sort()).toEqual([...pointers].sort());
  });

  it('accepts prompts of any script and size up to the limit, and gives them back unchanged', async () => {
    const prompt = `日本語 \u202e \ud83d\ude80 ${'x'.repeat(500_000)}`;
    const runId = idOf(await create({ prompt }));
    expect((await service.api('GET', `/agent/runs/${runId}`)).body['prompt']).toBe(prompt);
  });

  it('refuses a factory that does not exist', async () => {
    expect((await create({ prompt: 'x', factory_uid: 'fac_00000000000000000000000000' })).status).toBe(404);
  });
});

describe('fetching a run', () => {
  it.each(['00000000-0000-7000-8000-000000000000', 'nonsense', '%2e%2e', "'; DROP TABLE run; --"])(
    '%s, which is none, is 404',
    async (runId) => {
      const answer = await service.api('GET', `/agent/runs/${encodeURIComponent(runId)}`);
      expect(answer).toMatchObject({ status: 404, body: { error: 'resource_not_found' } });
    },
  );
});

describe('following up on a run that waits', () => {
  it('joins the words to its prompt; the first prompt stays what it was', async () => {
    const runId = idOf(await create({ prompt: 'Begin.' }));
    const answer = await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'And then end.' });
    expect(answer).toMatchObject({ status: 200, body: { followup_id: expect.any(String), outcome: 'queued_prompt' } });
    expect((await service.api('GET', `/agent/runs/${runId}`)).body).toMatchObject({
      prompt: 'Begin.',
      submitted_prompt: 'Begin.\n\nAnd then end.',
      state: 'QUEUED',
    });
  });

  it('takes 8 MiB in all, no more, and keeps what it had', async () => {
    const runId = idOf(await create({ prompt: 'x'.repeat(1_000_000) }));
    const more = (): Promise<ApiAnswer> =>
      service.api('POST', `/agent/runs/${runId}/followups`, { message: 'y'.repeat(1_000_000) });
    for (let n = 0; n < 7; n += 1) expect((await more()).status).toBe(200);
    const refused = await more();
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request', retryable: false } });
    expect(pointersOf(refused)).toEqual(['/message']);
    expect(String((await service.api('GET', `/agent/runs/${runId}`)).body['submitted_prompt'])).toHaveLength(8_000_014);
  });

  it('refuses a message that is none', async () => {
    const runId = idOf(await create({ prompt: 'Begin.' }));
    for (const body of [{}, { message: '' }, { message: 5 }])
      expect(pointersOf(await service.api('POST', `/agent/runs/${runId}/followups`, body))).toEqual(['/message']);
    expect(
      (await service.api('POST', '/agent/runs/00000000-0000-7000-8000-000000000000/followups', { message: 'x' }))
        .status,
    ).toBe(404);
  });
});

describe('cancelling a run that waits', () => {
  it('ends it at once, answers its id as a bare JSON string, and may be repeated', async () => {
    const runId = idOf(await create({ prompt: 'Never.' }));
    for (let time = 0; time < 2; time += 1) {
      const answer = await fetch(`${service.url}/api/v1/agent/runs/${runId}/cancel`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminKey}` },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(await answer.text()).toBe(JSON.stringify(runId));
    }
    const run = await runIn(service, runId, 'CANCELLED');
    expect(run).toMatchObject({ started_at: null, status_message: { message: 'cancelled before it started' } });
    expect(run['finished_at']).not.toBeNull();
  });

  it('of nothing is 404', async () => {
    expect((await service.api('POST', '/agent/runs/00000000-0000-7000-8000-000000000000/cancel')).status).toBe(404);
  });

  it('and following up afterwards queues the same run again', async () => {
    const runId = idOf(await create({ prompt: 'Never.' }));
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    expect(
      (await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'Do it after all.' })).body['outcome'],
    ).toBe('handoff_execution');
    expect((await service.api('GET', `/agent/runs/${runId}`)).body).toMatchObject({ run_id: runId, state: 'QUEUED' });
  });
});
