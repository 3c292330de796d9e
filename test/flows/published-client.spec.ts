/**
 * A published client of the interface, pointed at this service by its base address: what it sends is understood, what
 * it gets is what it knows. spec: Agent run interface; contract §3.
 */
import { randomUUID } from 'node:crypto';
import OzAPI, {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'oz-agent-sdk';
import { change, insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { cannedFrom, startRecordingProxy, type RecordingProxy } from '../support/network/recording-proxy.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NOBODYS_RUN = '00000000-0000-7000-8000-000000000000';

let service: TestService;
let proxy: RecordingProxy;
/** The service's clock runs ahead, so that runs lie minutes apart. */
let aheadMs = 0;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' }, nowMs: () => Date.now() + aheadMs });
  proxy = await startRecordingProxy(service.url);
});

afterAll(async () => {
  await proxy.close();
  await service.stop();
});

const clientOf = (
  url: string,
  apiKey: string,
  options: { maxRetries?: number; defaultHeaders?: Record<string, string> } = {},
): OzAPI => new OzAPI({ baseURL: `${url}/api/v1`, apiKey, logLevel: 'off', ...options });

/** What a call was refused with. */
async function refusalOf(call: PromiseLike<unknown>): Promise<{ status?: number; error?: unknown; headers?: Headers }> {
  try {
    await call;
  } catch (error) {
    return error as { status?: number; error?: unknown; headers?: Headers };
  }
  throw new Error('it was not refused');
}

describe('a run', () => {
  it('is created with everything that the client can say, and comes back', async () => {
    const client = clientOf(service.url, service.adminKey);
    const before = await client.agent.run({ prompt: 'Begin the conversation.' });
    const { conversation_id: conversation = '' } = await client.agent.runs.retrieve(before.run_id);
    const made = await client.agent.run({
      prompt: 'Count the herons.',
      title: 'Herons',
      skill: 'acme/birds:count-herons',
      team: true,
      conversation_id: conversation,
      images: [{ data: PIXEL, mime_type: 'image/png' }],
      config: {
        name: 'birds',
        model_id: 'model-a',
        base_prompt: 'Be exact.',
        environment_id: 'lake',
        skill_spec: 'acme/birds:.claude/skills/overruled/SKILL.md',
        computer_use_enabled: true,
        mcp_servers: {
          local: { command: 'counter', args: ['--birds'], env: { LEVEL: 'high' } },
          remote: { url: 'https://mcp.example.com/sse', headers: { 'X-Team': 'birds' } },
        },
      },
    });
    expect(made).toEqual({
      run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      task_id: made.run_id,
      state: 'QUEUED',
      at_capacity: true,
      ignored: ['/config/computer_use_enabled'],
    });
    const run = await client.agent.runs.retrieve(made.run_id);
    expect(run).toMatchObject({
      run_id: made.run_id,
      task_id: made.run_id,
      state: 'QUEUED',
      title: 'Herons',
      prompt: 'Count the herons.',
      source: 'API',
      conversation_id: conversation,
      started_at: null,
      creator: { type: 'user', uid: expect.any(String), display_name: expect.any(String) },
      agent_config: {
        name: 'birds',
        model_id: 'model-a',
        base_prompt: 'Be exact.',
        environment_id: 'lake',
        skill_spec: 'acme/birds:count-herons',
        computer_use_enabled: true,
        mcp_servers: {
          local: { command: 'counter', args: ['--birds'], env: { LEVEL: 'high' } },
          remote: { url: 'https://mcp.example.com/sse', headers: { 'X-Team': 'birds' } },
        },
      },
    });
    for (const time of [run.created_at, run.updated_at])
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('needs no prompt where a skill says what to do', async () => {
    const client = clientOf(service.url, service.adminKey);
    for (const body of [{ skill: 'acme/birds:count-herons' }, { config: { skill_spec: 'acme/birds:count-herons' } }]) {
      const { run_id: runId } = await client.agent.run(body);
      expect((await client.agent.runs.retrieve(runId)).agent_config).toMatchObject({
        skill_spec: 'acme/birds:count-herons',
        name: 'count-herons',
      });
    }
  });

  it('is cancelled, and the answer is its ID as a bare string', async () => {
    const client = clientOf(service.url, service.adminKey);
    const { run_id: runId } = await client.agent.run({ prompt: 'Never mind.' });
    const cancelled = await client.agent.runs.cancel(runId).withResponse();
    expect(cancelled.data).toBe(runId);
    expect(cancelled.response.headers.get('content-type')).toContain('application/json');
    expect((await client.agent.runs.retrieve(runId)).state).toBe('CANCELLED');
    expect(await client.agent.runs.cancel(runId)).toBe(runId);
  });
});

describe('the list of skills', () => {
  it.each([
    [{}],
    [{ sort_by: 'name' as const }],
    [{ sort_by: 'last_run' as const }],
    [{ repo: 'acme/birds' }],
    [{ refresh: true }],
  ])('is answered as the client asks for it: %j', async (query) => {
    expect(await clientOf(service.url, service.adminKey).agent.list(query)).toMatchObject({
      agents: expect.any(Array),
    });
  });
});

describe('the list of runs', () => {
  const runs: Record<'early' | 'late', string> = { early: '', late: '' };
  let whose: Record<'ada' | 'bob', string>;
  let between = '';

  beforeAll(async () => {
    const [ada, bob] = [await makeKey(service, 'operator'), await makeKey(service, 'operator')];
    runs.early = (
      await clientOf(service.url, ada).agent.run({
        title: 'Listed early',
        prompt: 'Count the bitterns in the reeds.',
        skill: 'acme/birds:count-bitterns',
        config: { name: 'listed-early', model_id: 'model-early', environment_id: 'reeds' },
      })
    ).run_id;
    aheadMs += 60_000;
    between = new Date(Date.now() + aheadMs).toISOString();
    aheadMs += 60_000;
    runs.late = (
      await clientOf(service.url, bob, { defaultHeaders: { 'X-Millwright-Client': 'cli/1.0.0' } }).agent.run({
        title: 'Listed late',
        prompt: 'Paint the fence.',
        skill: 'acme/paint:fence',
        config: { name: 'listed-late', model_id: 'model-late', environment_id: 'yard' },
      })
    ).run_id;
    await clientOf(service.url, bob).agent.runs.cancel(runs.late);
    // What agents and schedules leave behind, without waiting for either.
    await service.service.database.run(function* () {
      yield* insert(
        'artifact',
        ['artifact_uid', 'run_id', 'execution_id', 'artifact_type', 'at', 'details'],
        [
          [
            randomUUID(),
            runs.late,
            randomUUID(),
            'PLAN',
            Date.now(),
            JSON.stringify({ document_uid: randomUUID(), title: 'A plan' }),
          ],
        ],
      );
      yield* change('UPDATE run SET schedule_id = ? WHERE run_id = ?', 'schedule-late', runs.late);
    });
    const creatorOf = async (runId: string): Promise<string> =>
      (await clientOf(service.url, service.adminKey).agent.runs.retrieve(runId)).creator?.uid ?? '';
    whose = { ada: await creatorOf(runs.early), bob: await creatorOf(runs.late) };
  });

  type Params = NonNullable<Parameters<OzAPI['agent']['runs']['list']>[0]>;
  const filters: [name: string, params: () => Params, matching: 'early' | 'late'][] = [
    ['name', () => ({ name: 'listed-early' }), 'early'],
    ['model_id', () => ({ model_id: 'model-late' }), 'late'],
    ['creator', () => ({ creator: whose.ada }), 'early'],
    ['source', () => ({ source: 'CLI' }), 'late'],
    ['state', () => ({ state: ['CANCELLED'] }), 'late'],
    ['several states', () => ({ state: ['SUCCEEDED', 'CANCELLED'] }), 'late'],
    ['created_after', () => ({ created_after: between }), 'late'],
    ['created_before', () => ({ created_before: between }), 'early'],
    ['updated_after', () => ({ updated_after: between }), 'late'],
    ['environment_id', () => ({ environment_id: 'reeds' }), 'early'],
    ['skill', () => ({ skill: 'acme/paint:fence' }), 'late'],
    ['skill_spec', () => ({ skill_spec: 'acme/birds:count-bitterns' }), 'early'],
    ['artifact_type', () => ({ artifact_type: 'PLAN' }), 'late'],
    ['schedule_id', () => ({ schedule_id: 'schedule-late' }), 'late'],
    ['q in the prompt', () => ({ q: 'bitterns reeds' }), 'early'],
    ['q in the title', () => ({ q: 'listed late' }), 'late'],
    ['q in the skill', () => ({ q: 'acme/paint' }), 'late'],
    ['two filters at once', () => ({ name: 'listed-late', state: ['QUEUED', 'CANCELLED'] }), 'late'],
  ];

  it.each(filters)('is filtered by %s', async (_name, params, matching) => {
    const client = clientOf(service.url, service.adminKey);
    const found = (await client.agent.runs.list({ ...params(), limit: 500 })).runs.map(({ run_id: runId }) => runId);
    expect(found).toContain(runs[matching]);
    expect(found).not.toContain(runs[matching === 'early' ? 'late' : 'early']);
  });

  it('offers every filter of the client', () => {
    const offered = [
      'artifact_type',
      'created_after',
      'created_before',
      'creator',
      'environment_id',
      'model_id',
      'name',
      'q',
      'schedule_id',
      'skill',
      'skill_spec',
      'source',
      'state',
      'updated_after',
    ];
    const used = new Set(filters.flatMap(([, params]) => Object.keys(params())));
    expect(offered.filter((name) => !used.has(name))).toEqual([]);
  });

  it('is empty where two filters exclude each other', async () => {
    expect(
      await clientOf(service.url, service.adminKey).agent.runs.list({ name: 'listed-early', model_id: 'model-late' }),
    ).toEqual({ runs: [], page_info: { has_next_page: false } });
  });

  it('is read page by page, newest first, each run once', async () => {
    const client = clientOf(service.url, service.adminKey);
    const all = (await client.agent.runs.list({ limit: 500 })).runs.map(({ run_id: runId }) => runId);
    const paged: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages < 100; pages += 1) {
      const {
        runs: page,
        page_info: { has_next_page: goesOn, next_cursor: next },
      } = await client.agent.runs.list({ limit: 2, cursor });
      paged.push(...page.map(({ run_id: runId }) => runId));
      expect(goesOn).toBe(next !== undefined);
      if (!goesOn) break;
      cursor = next;
    }
    expect(paged).toEqual(all);
    expect(all.length).toBeGreaterThan(4);
    const updated = (await client.agent.runs.list({ limit: 500 })).runs.map(({ updated_at: at }) => at);
    expect(updated).toEqual([...updated].sort().reverse());
  });

  it('refuses a cursor of another query', async () => {
    const client = clientOf(service.url, service.adminKey);
    const { page_info: page } = await client.agent.runs.list({ limit: 1 });
    expect(
      await refusalOf(client.agent.runs.list({ limit: 1, cursor: page.next_cursor, name: 'listed-early' })),
    ).toBeInstanceOf(BadRequestError);
  });
});

describe('a refusal', () => {
  type Case = [
    status: number,
    type: new (...given: never[]) => Error,
    code: string,
    why: string,
    call: () => Promise<unknown>,
  ];
  const admin = (): OzAPI => clientOf(service.url, service.adminKey, { maxRetries: 0 });
  const limited = async (role: 'viewer'): Promise<OzAPI> =>
    clientOf(service.url, await makeKey(service, role), { maxRetries: 0 });
  const conflict = async (): Promise<unknown> => {
    const headers = { 'Idempotency-Key': randomUUID() };
    await admin().agent.run({ prompt: 'one' }, { headers });
    return admin().agent.run({ prompt: 'another' }, { headers });
  };
  it.each<Case>([
    [
      400,
      BadRequestError,
      'invalid_request',
      'a member of a wrong type',
      async () => admin().agent.run({ prompt: 5 as unknown as string }),
    ],
    [
      400,
      BadRequestError,
      'invalid_request',
      'a filter of a wrong type',
      async () => admin().agent.runs.list({ limit: 1000 }),
    ],
    [
      401,
      AuthenticationError,
      'authentication_required',
      'an unknown key',
      async () => clientOf(service.url, `mw_${'A'.repeat(43)}`, { maxRetries: 0 }).agent.runs.list(),
    ],
    [
      403,
      PermissionDeniedError,
      'not_authorized',
      'a key that may only look',
      async () => (await limited('viewer')).agent.run({ prompt: 'x' }),
    ],
    [
      404,
      NotFoundError,
      'resource_not_found',
      'a run that does not exist',
      async () => admin().agent.runs.retrieve(NOBODYS_RUN),
    ],
    [
      501,
      InternalServerError,
      'operation_not_supported',
      'what this service does not do',
      async () => admin().post(`/factory/${NOBODYS_RUN}/tasks`, { body: {} }),
    ],
    [
      501,
      InternalServerError,
      'operation_not_supported',
      'a change to what it does not have',
      async () => admin().patch(`/factory/${NOBODYS_RUN}/tasks/${NOBODYS_RUN}`, { body: {} }),
    ],
    [409, ConflictError, 'conflict', 'an idempotency key that belongs to another request', conflict],
    [
      422,
      UnprocessableEntityError,
      'operation_not_supported',
      'a member that is not supported here',
      async () => admin().post('/agent/run', { body: { prompt: 'x', on_behalf_of: 'somebody' } }),
    ],
  ])('%i is %p (%s): %s', async (status, type, code, _why, call) => {
    const refusal = await refusalOf(call());
    expect(refusal).toBeInstanceOf(type);
    expect(refusal).toMatchObject({
      status,
      error: { status, error: code, detail: expect.any(String), trace_id: expect.any(String) },
    });
    expect((refusal.error as { trace_id: string }).trace_id).toBe(refusal.headers?.get('x-request-id'));
  });

  it('500 is an InternalServerError that tells nothing of the fault', async () => {
    const broken = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    try {
      await broken.service.database.run(function* () {
        yield* change('DROP VIEW every_run');
      });
      const refusal = await refusalOf(
        clientOf(broken.url, broken.adminKey, { maxRetries: 0 }).agent.runs.retrieve(NOBODYS_RUN),
      );
      expect(refusal).toBeInstanceOf(InternalServerError);
      expect(refusal).toMatchObject({ status: 500, error: { error: 'internal_error', retryable: true } });
      expect(JSON.stringify(refusal.error)).not.toMatch(/every_run|no such table|sqlite|select/i);
    } finally {
      await broken.stop();
    }
  });
});

describe('the client tries again', () => {
  it('after 429, when Retry-After says so', async () => {
    let clockMs = Date.now();
    const busy = await bootService({
      environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_API_RATE: '60' },
      nowMs: () => clockMs,
    });
    const counted = await startRecordingProxy(busy.url);
    try {
      for (let asked = 0; asked < 60; asked += 1) await busy.api('GET', '/agent/runs?limit=1');
      const refusal = await refusalOf(clientOf(busy.url, busy.adminKey, { maxRetries: 0 }).agent.runs.list());
      expect(refusal).toBeInstanceOf(RateLimitError);
      expect(refusal.error).toMatchObject({ error: 'resource_unavailable', retryable: true });
      expect(Number(refusal.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);

      const listed = clientOf(counted.url, busy.adminKey).agent.runs.list();
      const first = counted.nextAnswer();
      expect((await first).status).toBe(429);
      clockMs += 60_000;
      expect((await listed).runs).toEqual([]);
      const [refused, answered] = counted.recorded();
      expect([refused?.status, answered?.status]).toEqual([429, 200]);
      // It waited for as long as it was told: a timer may be a millisecond early.
      expect((answered?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(
        Number(refusal.headers?.get('retry-after')) * 1000 - 5,
      );
    } finally {
      await counted.close();
      await busy.stop();
    }
  });

  it('after a conflict that passes', async () => {
    const client = clientOf(proxy.url, service.adminKey);
    const { run_id: runId } = await client.agent.run({ prompt: 'x' });
    const headers = { 'Idempotency-Key': randomUUID() };
    await client.agent.run({ prompt: 'one' }, { headers });
    const lasting = await fetch(`${service.url}/api/v1/agent/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', ...headers },
      body: '{"prompt": "another"}',
    });
    const {
      headers: { 'x-should-retry': _advice, ...rest },
      body,
    } = await cannedFrom(lasting);
    proxy.recorded();
    proxy.answerNext({
      status: 409,
      headers: { ...rest, 'retry-after': '1' },
      body: body.replace('"retryable":false', '"retryable":true'),
    });
    expect((await client.agent.runs.retrieve(runId)).run_id).toBe(runId);
    expect(proxy.recorded().map(({ status }) => status)).toEqual([409, 200]);
  });

  it('never after a conflict that stays', async () => {
    const client = clientOf(proxy.url, service.adminKey, { maxRetries: 5 });
    const headers = { 'Idempotency-Key': randomUUID() };
    await client.agent.run({ prompt: 'one' }, { headers });
    proxy.recorded();
    const refusal = await refusalOf(client.agent.run({ prompt: 'another' }, { headers }));
    expect(refusal).toBeInstanceOf(ConflictError);
    expect(refusal.headers?.get('x-should-retry')).toBe('false');
    expect(refusal.error).toMatchObject({ retryable: false });
    expect(proxy.recorded().map(({ status }) => status)).toEqual([409]);
  });
});
