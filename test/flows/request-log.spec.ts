/** The log of the API: one line a request that says who did what and how it went, and never what was in it. */
import { makeKey } from '../support/services/api-keys.ts';
import { connectRaw, requestHead } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const MARKER = 'hidden-word-of-the-request';

let mill: TestService;
let operator: string;

beforeAll(async () => {
  mill = await bootService({
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1' },
  });
  operator = await makeKey(mill, 'operator');
});

afterAll(() => mill.stop());

type Line = Record<string, unknown>;
const lines = (service = mill): Line[] =>
  service.logged.map((line) => JSON.parse(line) as Line).filter(({ message }) => message === 'request');

/** The line of one request, by an ID of its own. */
let unique = 0;
async function logged(
  path: string,
  options: RequestInit & { headers?: Record<string, string> } = {},
): Promise<{ line: Line; answer: Response }> {
  const id = `request-${(unique += 1)}`;
  const answer = await fetch(`${mill.url}${path}`, {
    ...options,
    headers: { authorization: `Bearer ${operator}`, ...options.headers, 'x-request-id': id },
  });
  await answer.arrayBuffer();
  return { answer, line: await eventually('the line', () => lines().find((line) => line['request_id'] === id)) };
}

describe('a line', () => {
  it('says all that is known of a request', async () => {
    const body = JSON.stringify({ prompt: 'x' });
    const { line } = await logged('/api/v1/agent/runs', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'test/1.0', 'x-forwarded-for': '198.51.100.7' },
    });
    expect(line).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'info',
      message: 'request',
      request_id: line['request_id'],
      method: 'POST',
      route: '/api/v1/agent/runs',
      status: 200,
      duration_ms: expect.any(Number),
      principal_uid: expect.stringMatching(/^user_/),
      key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      role: 'operator',
      client_address: '198.51.100.7',
      request_bytes: body.length,
      response_bytes: expect.any(Number),
      user_agent: 'test/1.0',
    });
    expect(line['response_bytes']).toBeGreaterThan(100);
  });

  it('names the route and the things that it is about', async () => {
    const { run_id: runId } = (await mill.api('POST', '/agent/runs', { prompt: 'x' })).body as { run_id: string };
    expect((await logged(`/api/v1/agent/runs/${runId}?x=1`)).line).toMatchObject({
      route: '/api/v1/agent/runs/:runId',
      run_id: runId,
      status: 200,
    });
    const uid = `fac_${'0'.repeat(26)}`;
    expect((await logged(`/api/v1/factory/${uid}`)).line).toMatchObject({
      factory_uid: uid,
      status: 404,
      error: 'resource_not_found',
    });
  });

  it('says how a request was refused, by whom nobody knows', async () => {
    const { line } = await logged('/api/v1/agent/runs', { headers: { authorization: 'Bearer nothing' } });
    expect(line).toMatchObject({ status: 401, error: 'authentication_required', route: '/api/v1/agent/runs' });
    expect(line).not.toHaveProperty('principal_uid');
  });

  it.each<{ why: string; path: string; options?: RequestInit & { headers?: Record<string, string> } }>([
    { why: 'a query', path: `/api/v1/agent/runs?name=${MARKER}` },
    {
      why: 'a body',
      path: '/api/v1/agent/runs',
      options: {
        method: 'POST',
        body: `{"prompt": "${MARKER}", "title": 5}`,
        headers: { 'content-type': 'application/json' },
      },
    },
    {
      why: 'a broken body',
      path: '/api/v1/agent/runs',
      options: { method: 'POST', body: `{"prompt": "${MARKER}`, headers: { 'content-type': 'application/json' } },
    },
    { why: 'a path below the base', path: `/api/v1/${MARKER}` },
    { why: 'a parameter that is no identifier', path: `/api/v1/agent/runs/${MARKER}` },
    { why: 'a path that cannot be decoded', path: `/api/v1/%zz${MARKER}` },
    { why: 'a mistyped ingress URL', path: `/webhook/w/wh_x/${MARKER}` },
    { why: 'a wrong key', path: '/api/v1/agent/runs', options: { headers: { authorization: `Bearer mw_${MARKER}` } } },
    {
      why: 'an idempotency key',
      path: '/api/v1/agent/runs',
      options: {
        method: 'POST',
        body: '{"prompt": "x"}',
        headers: { 'content-type': 'application/json', 'idempotency-key': MARKER },
      },
    },
    {
      why: 'a cookie or any other header',
      path: '/api/v1/agent/runs',
      options: { headers: { cookie: MARKER, referer: `http://x/${MARKER}`, accept: `text/${MARKER}` } },
    },
  ])('never holds $why', async ({ path, options }) => {
    const { answer } = await logged(path, options);
    expect(answer.status).toBeGreaterThanOrEqual(200);
    expect(mill.logged.join('\n')).not.toContain(MARKER);
  });

  it('cannot be broken by what a client calls itself', async () => {
    const { line } = await logged('/api/v1/agent/runs', {
      headers: { 'user-agent': `a"b\\c\u00e9${'x'.repeat(500)}` },
    });
    expect(String(line['user_agent'])).toHaveLength(120);
    for (const text of mill.logged) expect(text.slice(0, -1)).not.toContain('\n');
  });

  it('is written for what never reached a route', async () => {
    const before = lines().length;
    const connection = await connectRaw(mill.url);
    connection.send('GET /api/v1/agent/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    expect((await connection.answer()).status).toBe(421);
    connection.destroy();
    await eventually('the line', () =>
      lines()
        .slice(before)
        .find(({ status }) => status === 421),
    );
  });

  it('is written for a client that went away', async () => {
    const before = lines().length;
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        target: '/api/v1/agent/runs',
        headers: [
          ['Authorization', `Bearer ${operator}`],
          ['Content-Type', 'application/json'],
          ['Expect', '100-continue'],
        ],
        declared: 100,
      }),
    );
    await eventually('it has come', () => connection.pending().includes('100 Continue') || undefined);
    connection.socket.resetAndDestroy();
    const line = await eventually('the line', () =>
      lines()
        .slice(before)
        .find(({ method }) => method === 'POST'),
    );
    expect(line).toMatchObject({ status: 499, aborted: true });
  });
});

it('probes and deliveries write none', async () => {
  const before = lines().length;
  await fetch(`${mill.url}/healthz`);
  await fetch(`${mill.url}/readyz`);
  await fetch(`${mill.url}/webhooks/w/wh_${'0'.repeat(26)}`, { method: 'POST', body: '{}' });
  await logged('/api/v1/agent/runs');
  expect(lines().length).toBe(before + 1);
});

it('a quiet log holds faults only', async () => {
  const quiet = await bootService({ environment: { MILLWRIGHT_LOG_LEVEL: 'error', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  try {
    expect((await quiet.api('GET', '/agent/runs')).status).toBe(200);
    await quiet.service.database.source.query('DROP TABLE run');
    expect((await quiet.api('GET', '/agent/runs')).status).toBe(500);
    await eventually('the fault', () => quiet.logged.length > 0);
    expect(quiet.logged.map((line) => (JSON.parse(line) as Line)['level'])).toEqual(['error']);
  } finally {
    await quiet.stop();
  }
});
