/**
 * Every way in which a request of the API can be refused: problem+json with a trace, in our words, and nothing of it
 * repeated. contract §3.10 (Errors).
 */
import { createConnection } from 'node:net';
import { ERROR_CODES, kebabCode, type ErrorCode } from '../../apps/server/http/error-codes.ts';
import { makeKey } from '../support/services/api-keys.ts';
import {
  chunk,
  connectRaw,
  exchange,
  LAST_CHUNK,
  requestHead,
  type HeaderLines,
  type RawAnswer,
  type RawRequest,
} from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const MARKER = 'hidden-word-of-the-request';
const MIB = 1_048_576;

let mill: TestService;
let viewer: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  viewer = await makeKey(mill, 'viewer');
});

afterAll(() => mill.stop());

const bearer = (key = mill.adminKey): HeaderLines => [['Authorization', `Bearer ${key}`]];
const asJson = (): HeaderLines => [...bearer(), ['Content-Type', 'application/json']];
const send = (request: RawRequest): Promise<RawAnswer> =>
  exchange(mill.url, { method: 'GET', headers: bearer(), ...request });
const post = (body: string | Uint8Array, headers: HeaderLines = asJson()): Promise<RawAnswer> =>
  send({ method: 'POST', target: '/api/v1/agent/runs', headers, body });

interface Expected {
  status: number;
  code?: ErrorCode;
  retryable?: boolean;
}

/** A whole problem that agrees with itself, and repeats nothing. */
function expectProblem(
  answer: RawAnswer,
  { status, code = 'invalid_request', retryable = false }: Expected,
): Record<string, unknown> {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    status,
    'application/problem+json; charset=utf-8',
  ]);
  const problem = JSON.parse(answer.body) as Record<string, unknown>;
  expect(problem).toEqual({
    ...problem,
    type: `${mill.url}/errors/${kebabCode(code)}`,
    title: ERROR_CODES[code].title,
    status,
    error: code,
    detail: expect.any(String),
    instance: expect.any(String),
    retryable,
    trace_id: answer.headers.get('x-request-id'),
    errors: expect.any(Array),
  });
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(answer.body).not.toContain(MARKER);
  expect(answer.body).not.toMatch(/fastify|node_modules|nestjs|\bat \//i);
  const isRetried = status === 408 || status === 409 || status === 429 || status >= 500;
  expect(answer.headers.get('x-should-retry')).toBe(isRetried && !retryable ? 'false' : undefined);
  if (status === 429 || status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  return problem;
}

it.each([
  { target: '/api/v1/%61gent/runs', why: 'a letter' },
  { target: '/api/v1/agent%2Fruns', why: 'a slash, which makes no segment' },
  { target: '/%61pi/v1/agent/runs', why: 'a letter of the base' },
  { target: '/api/v1/api%2Dkeys', why: 'a hyphen' },
  { target: '/api/v1/agent/runs/%30%31', why: 'digits of an ID' },
  { target: '/%68ealthz', why: 'a letter of a probe' },
  { target: '/%6detrics', why: 'a letter of the figures' },
  { target: '/%61ssets/index.js', why: 'a letter of the page' },
])('$target is not found: $why is encoded', async ({ target }) => {
  expectProblem(await send({ target }), { status: 404, code: 'resource_not_found' });
});

it('what is encoded in a query is read', async () => {
  expect((await send({ target: '/api/v1/agent/runs?%6cimit=%31' })).status).toBe(200);
});

describe('a path and a method', () => {
  it.each<{ why: string; method: string; target: string; key?: string | null; expected: Expected; allow?: string }>([
    {
      why: 'no route below the base',
      method: 'GET',
      target: `/api/v1/nothing?q=${MARKER}`,
      expected: { status: 404, code: 'resource_not_found' },
    },
    { why: 'the base itself', method: 'GET', target: '/api/v1', expected: { status: 404, code: 'resource_not_found' } },
    {
      why: 'no route below the base, without a key',
      method: 'GET',
      target: '/api/v1/nothing',
      key: null,
      expected: { status: 401, code: 'authentication_required' },
    },
    {
      why: 'a wrong method below the base, without a key',
      method: 'DELETE',
      target: '/api/v1/agent/runs',
      key: null,
      expected: { status: 401, code: 'authentication_required' },
    },
    {
      why: 'no route outside the base, with or without a key',
      method: 'GET',
      target: `/${MARKER}`,
      key: null,
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'a name that begins like the base',
      method: 'GET',
      target: '/api/v11',
      key: null,
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'a mistyped ingress URL: nothing of it is repeated',
      method: 'POST',
      target: `/webhook/w/wh_x/${MARKER}`,
      key: null,
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'a collection',
      method: 'DELETE',
      target: '/api/v1/agent/runs',
      expected: { status: 405 },
      allow: 'GET, HEAD, POST',
    },
    {
      why: 'a thing',
      method: 'POST',
      target: '/api/v1/agent/runs/x?limit=1',
      expected: { status: 405 },
      allow: 'GET, HEAD',
    },
    {
      why: 'an action',
      method: 'GET',
      target: '/api/v1/agent/runs/x/cancel',
      expected: { status: 405 },
      allow: 'POST',
    },
    {
      why: 'a path with an escape that it does not need',
      method: 'PUT',
      target: '/api/v1/agent/run%73',
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'OPTIONS: there is no CORS',
      method: 'OPTIONS',
      target: '/api/v1/agent/runs',
      expected: { status: 405 },
      allow: 'GET, HEAD, POST',
    },
    {
      why: 'a method of WebDAV',
      method: 'PROPFIND',
      target: '/api/v1/agent/runs',
      expected: { status: 405 },
      allow: 'GET, HEAD, POST',
    },
    { why: 'a probe', method: 'POST', target: '/healthz', key: null, expected: { status: 405 }, allow: 'GET, HEAD' },
    {
      why: 'a parameter that is empty',
      method: 'GET',
      target: '/api/v1/agent/runs/',
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'a parameter that is as long as a head may be',
      method: 'GET',
      target: `/api/v1/agent/runs/${'x'.repeat(9_000)}`,
      expected: { status: 404, code: 'resource_not_found' },
    },
    {
      why: 'an escape that is none',
      method: 'GET',
      target: `/api/v1/agent/runs/%zz${MARKER}`,
      expected: { status: 400 },
    },
    { why: 'an escape that is cut off', method: 'GET', target: '/api/v1/agent/runs/%4', expected: { status: 400 } },
    { why: 'bytes that are no UTF-8', method: 'GET', target: '/api/v1/agent/runs/%ff', expected: { status: 400 } },
  ])('$why', async ({ method, target, key, expected, allow }) => {
    const answer = await send({ method, target, headers: key === null ? [] : bearer(key) });
    expectProblem(answer, expected);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('HEAD is answered like GET, without a body', async () => {
    const [head, get] = [
      await send({ method: 'HEAD', target: '/api/v1/agent/runs' }),
      await send({ target: '/api/v1/agent/runs' }),
    ];
    expect([head.status, head.body]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    expect((await send({ method: 'HEAD', target: '/api/v1/agent/runs/x' })).status).toBe(404);
    expect((await send({ method: 'HEAD', target: '/api/v1/secrets', headers: bearer(viewer) })).status).toBe(403);
    expect((await send({ method: 'HEAD', target: '/api/v1/secrets', headers: [] })).status).toBe(401);
  });

  it('HEAD of what never ends, ends, and leaves nothing open', async () => {
    const { run_id: runId } = (await mill.api('POST', '/agent/runs', { prompt: 'x' })).body as { run_id: string };
    for (let count = 0; count < 40; count += 1) {
      const answer = await send({
        method: 'HEAD',
        target: `/api/v1/agent/runs/${runId}/events`,
        headers: [...bearer(), ['Accept', 'text/event-stream']],
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
  });

  it('a target in absolute form, as proxies send it, is the same request', async () => {
    expect((await send({ target: `${mill.url}/api/v1/agent/runs?limit=1` })).status).toBe(200);
    expectProblem(await send({ target: `${mill.url}/api/v1/agent/runs`, headers: [] }), {
      status: 401,
      code: 'authentication_required',
    });
    expectProblem(await send({ target: 'http://evil.example/api/v1/agent/runs' }), { status: 421 });
  });

  it('TRACE repeats nothing', async () => {
    const answer = await send({
      method: 'TRACE',
      target: '/api/v1/agent/runs',
      headers: [...bearer(), ['X-Marker', MARKER]],
    });
    expect(answer.status).toBe(405);
    expect(answer.body).not.toContain(MARKER);
  });
});

describe('an Accept header', () => {
  it.each<{ why: string; accept: string; status: number }>([
    { why: 'of everything', accept: '*/*', status: 200 },
    { why: 'of a browser', accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', status: 200 },
    { why: 'of the published client', accept: 'application/json', status: 200 },
    { why: 'of no type that we have', accept: 'text/csv, image/*', status: 406 },
    { why: 'that rules ours out', accept: 'application/json;q=0', status: 406 },
  ])('$why: $status', async ({ accept, status }) => {
    const answer = await send({
      method: 'POST',
      target: '/api/v1/agent/runs/x/cancel',
      headers: [...bearer(), ['Accept', accept]],
    });
    if (status === 406) expect(expectProblem(answer, { status })).toMatchObject({ errors: [{ pointer: 'Accept' }] });
    else expectProblem(answer, { status: 404, code: 'resource_not_found' });
  });
});

describe('a body', () => {
  it.each<{ why: string; body: string | Uint8Array; type?: string | null; expected: Expected; detail?: string }>([
    { why: 'is missing', body: '', expected: { status: 400 } },
    { why: 'is missing and has no type', body: '', type: null, expected: { status: 400 } },
    {
      why: 'breaks off',
      body: `{"prompt": "${MARKER}`,
      expected: { status: 400 },
      detail: 'the body is not valid JSON: line 1, column 39',
    },
    {
      why: 'has a comma too many',
      body: `{\n  "prompt": "${MARKER}",\n}`,
      expected: { status: 400 },
      detail: 'the body is not valid JSON: line 3, column 1',
    },
    {
      why: 'begins with a byte order mark',
      body: '\ufeff{"prompt": "x"}',
      expected: { status: 400 },
      detail: 'the body is not valid JSON: line 1, column 1',
    },
    {
      why: 'is no UTF-8',
      body: new Uint8Array([0x22, 0xff, 0x22]),
      expected: { status: 400 },
      detail: 'the body is not UTF-8',
    },
    {
      why: 'is nested too deeply',
      body: `{"prompt": "x", "y": ${'['.repeat(70)}${']'.repeat(70)}}`,
      expected: { status: 400 },
    },
    { why: 'is nested so deeply that no stack would do', body: '['.repeat(900_000), expected: { status: 400 } },
    { why: 'is a form', body: 'prompt=x', type: 'application/x-www-form-urlencoded', expected: { status: 415 } },
    { why: 'has no type', body: '{"prompt": "x"}', type: null, expected: { status: 415 } },
    { why: 'has a type that is none', body: '{"prompt": "x"}', type: 'json', expected: { status: 415 } },
    {
      why: 'is larger than 1 MiB without attachments',
      body: JSON.stringify({ prompt: 'x'.repeat(MIB) }),
      expected: { status: 413 },
    },
    {
      why: 'is larger than 8 MiB',
      body: JSON.stringify({
        prompt: 'x',
        attachments: [{ file_name: 'a', mime_type: 'text/plain', data: 'eA=='.repeat(3 * MIB) }],
      }),
      expected: { status: 413 },
    },
  ])('$why', async ({ body, type = 'application/json', expected, detail }) => {
    const problem = expectProblem(
      await post(body, [...bearer(), ...(type === null ? [] : [['Content-Type', type] as const])]),
      expected,
    );
    if (detail !== undefined) expect(problem['detail']).toBe(detail);
  });

  it('of a key that may not do a thing is not read: a viewer need not send it', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        target: '/api/v1/agent/runs',
        headers: [...bearer(viewer), ['Content-Type', 'application/json']],
        declared: 8 * MIB,
      }),
    );
    const answer = await connection.answer();
    expectProblem(answer, { status: 403, code: 'not_authorized' });
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
    connection.destroy();
  });

  it('is asked for only when it is wanted', async () => {
    const head = (key: string): string =>
      requestHead(mill.url, {
        target: '/api/v1/agent/runs',
        headers: [...bearer(key), ['Content-Type', 'application/json'], ['Expect', '100-continue']],
        declared: 15,
      });
    const refused = await connectRaw(mill.url);
    refused.send(head(`mw_${'x'.repeat(43)}`));
    expect(await refused.answer()).toMatchObject({ status: 401, interim: [] });
    refused.destroy();

    const wanted = await connectRaw(mill.url);
    wanted.send(head(mill.adminKey));
    await new Promise<void>((resolve) => wanted.socket.once('data', () => resolve()));
    expect(wanted.pending()).toMatch(/^HTTP\/1\.1 100 /);
    wanted.send('{"prompt": "x"}');
    expect(await wanted.answer()).toMatchObject({ status: 200, interim: [100] });
    wanted.destroy();
  });

  it('that stops being HTTP in its middle is 400, and nothing is made of it', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        target: '/api/v1/agent/runs',
        headers: [...asJson(), ['Transfer-Encoding', 'chunked']],
      }) +
        chunk('{"prompt":') +
        `zz${MARKER}\r\n`,
    );
    expectProblem(await connection.answer(), { status: 400 });
    await connection.closed;
    connection.destroy();
  });

  it('of a GET is not waited for', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        method: 'GET',
        target: '/api/v1/agent/runs?limit=1',
        headers: bearer(),
        declared: 100 * MIB,
      }),
    );
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await connection.closed;
    connection.destroy();
  });

  it('may come in chunks', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        target: '/api/v1/agent/runs',
        headers: [...asJson(), ['Transfer-Encoding', 'chunked']],
      }) +
        chunk('{"prompt"') +
        chunk(': "x"}') +
        LAST_CHUNK,
    );
    expect((await connection.answer()).status).toBe(200);
    connection.destroy();
  });
});

describe('what is hardly a request', () => {
  const host = (): string => new URL(mill.url).host;
  it.each<{ why: string; bytes: () => string; status: number }>([
    {
      why: 'headers beyond bounds',
      bytes: () => `GET /api/v1/agent/runs HTTP/1.1\r\nHost: ${host()}\r\nX: ${MARKER.repeat(2_000)}\r\n\r\n`,
      status: 431,
    },
    {
      why: 'a target beyond bounds',
      bytes: () => `GET /api/v1/${'x'.repeat(40_000)} HTTP/1.1\r\nHost: ${host()}\r\n\r\n`,
      status: 431,
    },
    {
      why: 'a header that is none',
      bytes: () => `GET /api/v1/agent/runs HTTP/1.1\r\nHost: ${host()}\r\n${MARKER}\r\n\r\n`,
      status: 400,
    },
    {
      why: 'a method that HTTP does not know',
      bytes: () => `SPELL /api/v1/${MARKER} HTTP/1.1\r\nHost: ${host()}\r\n\r\n`,
      status: 400,
    },
    { why: 'no Host', bytes: () => 'GET /api/v1/agent/runs HTTP/1.1\r\n\r\n', status: 400 },
    {
      why: 'two Hosts',
      bytes: () => `GET /api/v1/agent/runs HTTP/1.1\r\nHost: ${host()}\r\nHost: ${host()}\r\n\r\n`,
      status: 400,
    },
    {
      why: 'a Host that is not ours',
      bytes: () => `GET /api/v1/${MARKER} HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
      status: 421,
    },
    {
      why: 'a Host that is not ours, outside the base',
      bytes: () => 'GET /docs HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      status: 421,
    },
  ])('$why: $status', async ({ bytes, status }) => {
    const connection = await connectRaw(mill.url);
    connection.send(bytes());
    expectProblem(await connection.answer(), { status });
    await connection.closed;
    connection.destroy();
  });

  it('a connection that is closed in its middle leaves the service as it was', async () => {
    for (let count = 0; count < 20; count += 1) {
      await new Promise<void>((resolve) => {
        const socket = createConnection(Number(new URL(mill.url).port), '127.0.0.1', () => {
          socket.write(
            `${requestHead(mill.url, { target: '/api/v1/agent/runs', headers: asJson(), declared: 1_000 })}{"prompt`,
            () => socket.destroy(),
          );
        });
        socket.once('close', () => resolve());
      });
    }
    expect((await mill.api('GET', '/agent/runs')).status).toBe(200);
  });
});

describe('every answer', () => {
  it.each<{ why: string; target: string; headers?: () => HeaderLines }>([
    { why: 'a success', target: '/api/v1/agent/runs' },
    { why: 'a refusal', target: '/api/v1/agent/runs/x' },
    { why: 'without a key', target: '/api/v1/agent/runs', headers: () => [] },
    { why: 'a path that cannot be decoded', target: '/api/v1/%zz' },
    { why: 'no route', target: '/nothing' },
  ])('$why: has an ID and is neither guessed at nor kept', async ({ target, headers = bearer }) => {
    const answer = await send({ target, headers: headers() });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect([answer.headers.get('x-content-type-options'), answer.headers.get('cache-control')]).toEqual([
      'nosniff',
      'no-store',
    ]);
  });

  it.each<{ id: string; taken: boolean }>([
    { id: 'client-1.2_3', taken: true },
    { id: 'x'.repeat(64), taken: true },
    { id: 'x'.repeat(65), taken: false },
    { id: 'a b', taken: false },
    { id: '<script>', taken: false },
    { id: 'a"b', taken: false },
    { id: 'a,b', taken: false },
    { id: 'caf\u00e9', taken: false },
  ])('takes the ID of its request where that is harmless: $id $taken', async ({ id, taken }) => {
    const answer = await send({ target: '/api/v1/nothing', headers: [...bearer(), ['X-Request-Id', id]] });
    const problem = expectProblem(answer, { status: 404, code: 'resource_not_found' });
    expect(problem['trace_id'] === id).toBe(taken);
  });
});

describe('a fault', () => {
  it('is 500 with nothing of itself, and one line in the log under its trace', async () => {
    const broken = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    try {
      await broken.service.database.source.query('DROP TABLE audit_entry');
      const answer = await broken.api('POST', '/agent/runs', { prompt: 'x' });
      expect([answer.status, answer.body['error'], answer.body['retryable']]).toEqual([500, 'internal_error', true]);
      expect(JSON.stringify(answer.body)).not.toMatch(/audit|SQL|sqlite|table/i);
      const lines = broken.logged
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['trace_id'] === answer.body['trace_id']);
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'error',
          message: 'request failed',
          method: 'POST',
          route: '/api/v1/agent/runs',
        }),
      ]);
    } finally {
      await broken.stop();
    }
  });

  it('of the database is 503 with Retry-After, and readiness says so to who showed a key before', async () => {
    const broken = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const ready = async (key?: string): Promise<[number, unknown, string | null]> => {
      const answer = await fetch(`${broken.url}/readyz`, {
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      });
      return [answer.status, await answer.json(), answer.headers.get('retry-after')];
    };
    try {
      expect(await ready()).toEqual([200, { status: 'ready' }, null]);
      expect(await ready(`mw_${'x'.repeat(43)}`)).toEqual([200, { status: 'ready' }, null]);
      const itself = {
        version: expect.stringMatching(/^\d+\.\d+\.\d+\//),
        roles: ['api', 'ingress', 'sync', 'worker', 'dashboard'],
      };
      const means = {
        ...itself,
        sandbox: expect.objectContaining({ missing: expect.any(Array) }),
        agents: expect.arrayContaining([{ id: 'opencode', installed: expect.any(Boolean) }]),
      };
      expect(await ready(broken.adminKey)).toEqual([
        200,
        {
          status: 'ready',
          reasons: [],
          ...means,
          processes: [{ ...itself, name: expect.any(String), host: expect.any(String), seen_at: expect.any(String) }],
        },
        null,
      ]);
      (
        broken.service.database.source.driver as unknown as { databaseConnection: { close(): void } }
      ).databaseConnection.close();
      expect(await ready()).toEqual([503, { status: 'not ready' }, '5']);
      expect(await ready(`mw_${'x'.repeat(43)}`)).toEqual([503, { status: 'not ready' }, '5']);
      expect(await ready(broken.adminKey)).toEqual([
        503,
        { status: 'not ready', reasons: ['database'], ...means },
        '5',
      ]);
    } finally {
      await broken.stop().catch(() => undefined);
    }
  });

  it('a low disk is a reason, and no reason to be taken out of service', async () => {
    const low = await bootService({
      environment: { MILLWRIGHT_DISK_RESERVE_MB: '1000000', MILLWRIGHT_RUN_CONCURRENCY: '0' },
    });
    try {
      const answer = await fetch(`${low.url}/readyz`, { headers: { authorization: `Bearer ${low.adminKey}` } });
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ status: 'ready', reasons: ['disk_low'] }),
      ]);
    } finally {
      await low.stop();
    }
  });
});

describe('the pages that problems name', () => {
  it.each((Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => ({ code })))(
    '$code is explained to people and terminals, without a key',
    async ({ code }) => {
      const page = async (accept: string): Promise<Response> =>
        fetch(`${mill.url}/errors/${kebabCode(code)}`, { headers: { accept } });
      const html = await page('text/html,application/xhtml+xml,*/*;q=0.8');
      expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(html.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await html.text()).toContain(ERROR_CODES[code].meaning);
      const text = await page('*/*');
      expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await text.text()).toContain(ERROR_CODES[code].title);
    },
  );

  it('there are no others', async () => {
    for (const name of ['nothing', 'invalid_request', '__proto__', 'constructor', '%3Cscript%3E']) {
      const answer = await send({ target: `/errors/${name}`, headers: [] });
      expectProblem(answer, { status: 404, code: 'resource_not_found' });
      expect(answer.body).not.toContain('script');
    }
  });
});
