/**
 * Calls of models as the programs of a run send them: what is let through, with which key and to whom, what is refused,
 * and what is counted.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  request as startRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ModelApi, ModelRoute, ModelUsage } from '#agents';
import { hostPatternOfUrl } from '#isolation';
import { openEgressProxy, type OpenEgressProxy } from './egress-proxy.ts';

const KEY = 'sk-the-real-key-0123456789';
const PLACEHOLDER = 'mw-placeholder-of-this-run';

interface Asked {
  method?: string;
  url?: string;
  headers: IncomingHttpHeaders;
  body: string;
}
interface Heard {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

let base: string;
let egress: OpenEgressProxy;
let provider: Server;
let asked: Asked[];
let used: ModelUsage[];
let models: Set<string>;
let events: string[];
let refusal: string | undefined;
let connections: number;
let reply: (request: IncomingMessage, response: ServerResponse) => void;

const json = (body: unknown) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const USAGE = { input_tokens: 3, output_tokens: 4 };

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-broker-'));
  [asked, used, models, events, refusal, connections] = [[], [], new Set(), [], undefined, 0];
  reply = json({ usage: USAGE });
  provider = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      asked.push({ method: request.method, url: request.url, headers: request.headers, body });
      reply(request, response);
    });
  }).listen(0, '127.0.0.1');
  provider.on('connection', () => (connections += 1));
  await once(provider, 'listening');
});
afterEach(async () => {
  await egress.close();
  provider.closeAllConnections();
  provider.close();
  await rm(base, { recursive: true, force: true });
});

const origin = (): string => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

async function open(apis: ModelApi[] = ['anthropic'], more: Partial<ModelRoute> = {}): Promise<void> {
  const route: ModelRoute = {
    id: 'm',
    apis,
    baseUrl: origin(),
    keys: [{ placeholder: PLACEHOLDER, value: KEY }],
    models: ['m-1', 'small-*'],
    isTrusted: true,
    ...more,
  };
  const hosts = [hostPatternOfUrl(origin())].filter((pattern) => pattern !== undefined);
  egress = await openEgressProxy({
    rules: { policy: { kind: 'none' }, named: [] },
    folder: base,
    epoch: 1,
    onEvent: (text) => void events.push(text),
    broker: {
      rules: { policy: { kind: 'allow', hosts }, named: hosts },
      hosts: [],
      mcp: [],
      models: {
        routes: [route],
        onUsage: (usage, _route, name) => void (used.push(usage), models.add(name)),
        refusal: () => refusal,
      },
    },
  });
}

interface Wanted {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

const CALL = '{"model":"m-1","messages":[]}';

function begin({ method = 'POST', path = '/models/m/v1/messages', headers = {}, body = CALL }: Wanted = {}) {
  const request = startRequest({
    socketPath: egress.socket,
    method,
    path,
    headers: { 'x-api-key': PLACEHOLDER, 'content-type': 'application/json', ...headers },
  });
  // Of a connection that is closed behind the answer.
  request.on('error', () => undefined);
  request.end(method === 'GET' ? undefined : body);
  return request;
}

async function ask(wanted: Wanted = {}): Promise<Heard> {
  const request = begin(wanted);
  const closed = new Promise<void>((resolve) => request.on('close', () => resolve()));
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const bytes of answer as AsyncIterable<Buffer>) body += bytes.toString();
  await closed; // also what it has sent is over
  return { status: answer.statusCode ?? 0, headers: answer.headers, body };
}

describe('a call', () => {
  it.each<{ apis: ModelApi[]; path: string; headers: Record<string, string>; sent: Record<string, string> }>([
    { apis: ['anthropic'], path: '/v1/messages?beta=true', headers: {}, sent: { 'x-api-key': KEY } },
    {
      apis: ['openai'],
      path: '/chat/completions',
      headers: { 'x-api-key': '', authorization: `Bearer ${PLACEHOLDER}` },
      sent: { authorization: `Bearer ${KEY}` },
    },
    {
      apis: ['gemini'],
      path: '/v1beta/models/m-1:generateContent',
      headers: { 'x-api-key': '', 'x-goog-api-key': PLACEHOLDER },
      sent: { 'x-goog-api-key': KEY },
    },
  ])('of $apis gets the key where its placeholder stands', async ({ apis, path, headers, sent }) => {
    await open(apis);
    expect(await ask({ path: `/models/m${path}`, headers })).toMatchObject({ status: 200 });
    expect(asked).toMatchObject([{ method: 'POST', url: path, headers: sent, body: CALL }]);
    expect(JSON.stringify(asked)).not.toContain(PLACEHOLDER);
  });

  it('of gemini has its key in the query where its placeholder stands there', async () => {
    await open(['gemini']);
    const path = `/models/m/v1beta/models/m-1:streamGenerateContent?alt=sse&key=${PLACEHOLDER}`;
    expect(await ask({ path, headers: { 'x-api-key': '' } })).toMatchObject({ status: 200 });
    expect(asked[0]?.url).toBe(`/v1beta/models/m-1:streamGenerateContent?alt=sse&key=${KEY}`);
  });

  it('reaches an endpoint that wants no key without one', async () => {
    await open(['openai'], { keys: [{ placeholder: PLACEHOLDER }] });
    await ask({
      path: '/models/m/chat/completions',
      headers: { 'x-api-key': '', authorization: `Bearer ${PLACEHOLDER}` },
    });
    expect(asked).toMatchObject([{ url: '/chat/completions' }]);
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(asked[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('is passed on without what belongs to its connection or its machine, and what the run adds', async () => {
    await open();
    await ask({
      headers: {
        connection: 'x-private',
        'x-private': 'no',
        cookie: 'a=b',
        authorization: 'Bearer of-somebody-else',
        'accept-encoding': 'gzip',
        'x-forwarded-for': '1.2.3.4',
        'x-http-method-override': 'GET',
        'x-original-url': '/v1/files',
        'x-goog-fieldmask': 'candidates',
        'anthropic-version': '2023-06-01',
      },
    });
    const [{ headers } = { headers: {} }] = asked;
    expect(headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'accept-encoding': 'identity' });
    const dropped = ['x-private', 'cookie', 'authorization', 'x-forwarded-for'];
    for (const name of [...dropped, 'x-http-method-override', 'x-original-url', 'x-goog-fieldmask'])
      expect(headers).not.toHaveProperty(name);
  });

  it('uses a connection again, and tries once more where it was closed meanwhile', async () => {
    await open();
    await ask();
    await ask();
    expect(connections).toBe(1);
    provider.closeAllConnections();
    expect(await ask()).toMatchObject({ status: 200 });
    expect(asked).toHaveLength(3);
  });
});

describe('what is refused before anything is sent:', () => {
  it.each<Wanted & { why: string; status: number }>([
    { why: 'a key that is none', headers: { 'x-api-key': 'sk-other' }, status: 401 },
    { why: 'no key', headers: { 'x-api-key': '' }, status: 401 },
    { why: 'a key that begins like it', headers: { 'x-api-key': PLACEHOLDER.slice(0, -1) }, status: 401 },
    { why: 'another endpoint', path: '/models/m/v1/files', status: 400 },
    { why: 'a path with dots', path: '/models/m/v1/messages/../files', status: 400 },
    { why: 'an escaped path', path: '/models/m/v1/%6dessages', status: 400 },
    { why: 'another method', method: 'PUT', status: 400 },
    { why: 'an odd query', path: '/models/m/v1/messages?x=%0d%0a<>', status: 400 },
    { why: 'an answer in another format', path: '/models/m/v1/messages?alt=proto', status: 400 },
    { why: 'the same said twice', path: '/models/m/v1/messages?alt=sse&alt=proto', status: 400 },
    { why: 'the same in its other spelling', path: '/models/m/v1/messages?%24alt=proto', status: 400 },
    { why: 'a part of an answer', path: '/models/m/v1/messages?fields=content', status: 400 },
    { why: 'an unknown address', path: '/models/other/v1/messages', status: 404 },
    { why: 'another model', body: '{"model":"m-2"}', status: 400 },
    { why: 'a model said twice', body: '{"model":"m-1","model":"m-2"}', status: 400 },
    { why: 'a body that is no JSON', body: 'model=m-1', status: 400 },
    { why: 'a compressed body', headers: { 'content-encoding': 'gzip' }, status: 400 },
    { why: 'another type', headers: { 'content-type': 'text/plain' }, status: 400 },
    { why: 'another charset', headers: { 'content-type': 'application/json; charset=utf-16' }, status: 400 },
  ])('$why', async ({ why: _why, status, ...wanted }) => {
    await open();
    const heard = await ask(wanted);
    expect(heard.status).toBe(status);
    expect((JSON.parse(heard.body) as { error: { message: string } }).error.message).toMatch(/\w+ \w+/);
    expect(asked).toEqual([]);
    // An agent that asks for a socket first expects its answer.
    expect(events).toHaveLength(heard.status === 426 ? 0 : 1);
  });

  it('a web socket, which clients try first: no line of the log', async () => {
    await open();
    const heard = await ask({ method: 'GET', headers: { connection: 'upgrade', upgrade: 'websocket' } });
    expect(heard.status).toBe(426);
    expect([asked, events]).toEqual([[], []]);
  });

  it('a model in the path of gemini', async () => {
    await open(['gemini']);
    const headers = { 'x-api-key': '', 'x-goog-api-key': PLACEHOLDER };
    const path = (model: string): string => `/models/m/v1beta/models/${model}:generateContent`;
    expect((await ask({ path: path('m-2'), headers })).status).toBe(400);
    expect((await ask({ path: path('m-1'), headers, body: '{"model":"m-2"}' })).status).toBe(400);
    expect((await ask({ path: path('small-9'), headers, body: '{}' })).status).toBe(200);
    expect(asked).toHaveLength(1);
  });

  it('any call when the run has used what it may, in words', async () => {
    await open();
    refusal = 'the run has used 10 tokens and its automation allows 10';
    const heard = await ask();
    expect(heard).toMatchObject({ status: 400, body: expect.stringContaining('its automation allows 10') });
    expect(asked).toEqual([]);
  });

  it('a body that is larger than any context', async () => {
    await open();
    const body = `{"model":"m-1","x":"${'x'.repeat(33 * 1_024 ** 2)}"}`;
    expect((await ask({ body })).status).toBe(413);
    expect(asked).toEqual([]);
  }, 30_000);

  it('an endpoint that the operator’s rules do not name', async () => {
    await open(['anthropic'], { baseUrl: 'http://169.254.169.254' });
    expect(await ask()).toMatchObject({ status: 400, body: expect.stringContaining('egress denied') });
  });
});

describe('an answer', () => {
  it('comes piece by piece as it is made', async () => {
    await open();
    let more = (): void => undefined;
    reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"first":1}\n\n');
      more = () => void response.end('data: {"usage":{"output_tokens":5}}\n\n');
    };
    const [answer] = (await once(begin(), 'response')) as [IncomingMessage];
    const [piece] = (await once(answer, 'data')) as [Buffer];
    expect(piece.toString()).toBe('data: {"first":1}\n\n');
    more();
    await once(answer.resume(), 'end');
    expect(used).toEqual([{ inputTokens: 0, cachedTokens: 0, outputTokens: 5 }]);
  });

  it('counts what it says as soon as it says it, and nothing twice', async () => {
    await open();
    reply = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(
          [{ message: { usage: { input_tokens: 9, output_tokens: 1 } } }, { usage: { output_tokens: 6 } }]
            .map((event) => `data: ${JSON.stringify(event)}\n\n`)
            .join(''),
        );
    await ask();
    const sum = (name: keyof ModelUsage): number => used.reduce((total, usage) => total + usage[name], 0);
    expect([sum('inputTokens'), sum('outputTokens')]).toEqual([9, 6]);
  });

  it('of a stream that would not tell its use tells it to the service, and not to the run', async () => {
    await open(['openai']);
    reply = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"choices":[{}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n');
    const headers = { 'x-api-key': '', authorization: `Bearer ${PLACEHOLDER}` };
    const heard = await ask({ path: '/models/m/chat/completions', headers, body: '{"model":"m-1","stream":true}' });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      model: 'm-1',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(heard.body).toBe('data: {"choices":[{}]}\n\n');
    expect(used).toEqual([{ inputTokens: 3, cachedTokens: 0, outputTokens: 4 }]);
    expect([...models]).toEqual(['m-1']);
  });

  it('is counted to its end when the run does not wait for it', async () => {
    await open();
    let finish = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      reply = (_request, response) => {
        finish = () => json({ usage: USAGE })(_request, response);
        resolve();
      };
    });
    const request = begin();
    request.on('error', () => undefined);
    await arrived;
    request.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    finish();
    while (used.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(used).toEqual([{ inputTokens: 3, cachedTokens: 0, outputTokens: 4 }]);
  });

  it('that repeats the key does so without it, in whatever form', async () => {
    await open();
    reply = (_request, response) => {
      response.writeHead(401, { 'x-echo': KEY, 'set-cookie': 'a=b', 'content-type': 'application/json' });
      response.write(`{"error":{"message":"no such key: ${KEY.slice(0, 9)}`);
      setTimeout(
        () => response.end(`${KEY.slice(9)}, ${Buffer.from(KEY).toString('base64')}, ${encodeURIComponent(KEY)}"}}`),
        20,
      );
    };
    const heard = await ask();
    expect(heard.status).toBe(401);
    expect(JSON.stringify(heard)).not.toContain(KEY.slice(3));
    expect(heard.body).toContain('no such key: [redacted], [redacted]');
    expect(heard.headers).not.toHaveProperty('set-cookie');
    expect(used).toEqual([]);
  });

  it.each([
    { encoding: 'gzip', encode: gzipSync },
    { encoding: 'X-GZIP', encode: gzipSync },
    { encoding: 'deflate', encode: deflateSync },
    { encoding: 'br', encode: brotliCompressSync },
  ])('that nobody asked to be compressed ($encoding) is read, counted, and without the key', async (more) => {
    await open();
    const body = JSON.stringify({ said: KEY, usage: USAGE });
    reply = (_request, response) =>
      void response.writeHead(200, { 'content-encoding': more.encoding }).end(more.encode(body));
    const heard = await ask();
    expect(heard).toMatchObject({ status: 200, body: JSON.stringify({ said: '[redacted]', usage: USAGE }) });
    expect(heard.headers).not.toHaveProperty('content-encoding');
    expect(used).toEqual([{ inputTokens: 3, cachedTokens: 0, outputTokens: 4 }]);
  });

  it.each(['zstd', 'gzip, br', 'constructor'])(
    'in an encoding that nobody here reads (%s) is none',
    async (encoding) => {
      await open();
      reply = (_request, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(KEY);
      const heard = await ask();
      expect(heard.status).toBe(502);
      expect(heard.body).not.toContain(KEY);
    },
  );

  it('whose compression is broken breaks off', async () => {
    await open();
    reply = (_request, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(9_999)).subarray(0, 20));
    await expect(ask()).rejects.toThrow('aborted');
    reply = json({ usage: USAGE });
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('passes bytes that are no text unchanged', async () => {
    await open();
    const bytes = Buffer.from(Array.from({ length: 1_024 }, (_, index) => index % 256));
    reply = (_request, response) => void response.writeHead(200, { 'content-type': 'x/y' }).end(bytes);
    const [answer] = (await once(begin(), 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  it('that breaks off breaks off for the run', async () => {
    await open();
    reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('of an endpoint that is away says so', async () => {
    await open(['anthropic']);
    provider.closeAllConnections();
    provider.close();
    expect(await ask()).toMatchObject({ status: 502, body: expect.stringContaining('does not answer') });
  });
});

it('where a run has the machine’s network, the broker is at a port, and nothing else is', async () => {
  await open();
  await egress.close();
  const hosts = [hostPatternOfUrl(origin())].filter((pattern) => pattern !== undefined);
  egress = await openEgressProxy({
    rules: { policy: { kind: 'open' }, named: hosts },
    folder: base,
    epoch: 2,
    onEvent: () => undefined,
    isBrokerOnly: true,
    broker: {
      rules: { policy: { kind: 'allow', hosts }, named: hosts },
      hosts: [],
      mcp: [],
      models: {
        routes: [
          {
            id: 'm',
            apis: ['anthropic'],
            baseUrl: origin(),
            keys: [{ placeholder: PLACEHOLDER, value: KEY }],
            models: ['m-1'],
            isTrusted: true,
          },
        ],
        onUsage: (usage) => void used.push(usage),
        refusal: () => undefined,
      },
    },
  });
  const at = `http://127.0.0.1:${egress.port}`;
  const call = (key: string) =>
    fetch(`${at}/models/m/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: CALL,
    });
  expect((await call(PLACEHOLDER)).status).toBe(200);
  expect((await call('somebody-else')).status).toBe(401);
  expect((await fetch(`${at}/`)).status).toBe(404);
  const proxied = startRequest({ port: egress.port, path: `${origin()}/`, headers: { host: 'x' } });
  proxied.end();
  const [answer] = (await once(proxied, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(404);
  const tunnel = startRequest({ port: egress.port, method: 'CONNECT', path: origin().slice(7) });
  tunnel.end();
  await expect(once(tunnel, 'connect')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(asked).toHaveLength(1);
});
