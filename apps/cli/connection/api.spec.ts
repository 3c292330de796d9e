/** How verbs reach a server: which key goes where, and what every bad answer becomes. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APITimeoutError } from '#client';
import { freePort } from '../../../test/support/network/ports.ts';
import { exchange, unreachable } from './request.ts';
import { call, type CallOptions } from '../../../test/support/services/recorded-io.ts';
import { version } from '../version.ts';

const KEY = `mw_${'k'.repeat(43)}`;

let server: Server;
let url: string;
let folder: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let requests: { url: string | undefined; headers: IncomingMessage['headers'] }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-'));
  requests = [];
  answer = respond(200, 'application/json', '{"secrets": [], "page_info": {"has_next_page": false}}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function respond(status: number, type: string, body: string, headers: Record<string, string> = {}) {
  return (_: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(body);
}

function problem(status: number, members: object, headers: Record<string, string> = {}) {
  return respond(
    status,
    'application/problem+json; charset=utf-8',
    JSON.stringify({ title: 'A title', ...members }),
    headers,
  );
}

function list(options: CallOptions & { argv?: string[] } = {}) {
  const { argv = [], environment = {}, ...rest } = options;
  return call(['secrets', 'list', ...argv], {
    cwd: folder,
    environment: { MILLWRIGHT_SERVER: url, ...environment },
    ...rest,
  });
}

describe('the key', () => {
  it.each<[options: { argv?: string[]; environment?: Record<string, string> }, why: string]>([
    [{ environment: { MILLWRIGHT_API_KEY: KEY } }, 'from the environment'],
    [{ environment: { MILLWRIGHT_API_KEY: `${KEY}\n` } }, 'with the line end of a careless script'],
    [{ argv: ['--key-file', 'the-key'] }, 'from a file'],
    [
      { argv: ['--key-file', 'the-key'], environment: { MILLWRIGHT_API_KEY: `mw_${'x'.repeat(43)}` } },
      'the file wins over the environment',
    ],
    [{ environment: { MILLWRIGHT_DATA_DIR: 'data' } }, 'from the data folder on this machine'],
    [{ environment: { MILLWRIGHT_DATA_DIR: 'data', MILLWRIGHT_API_KEY: '' } }, 'an empty variable is an unset one'],
  ])('is sent as the only credential: %j (%s)', async ({ argv, environment }) => {
    writeFileSync(join(folder, 'the-key'), `${KEY}\n`);
    writeFileSync(join(folder, 'admin-key'), `${KEY}\n`);
    const where = environment?.['MILLWRIGHT_DATA_DIR'] === undefined ? {} : { MILLWRIGHT_DATA_DIR: folder };
    const result = await list({ argv, environment: { ...environment, ...where } });
    expect(result).toMatchObject({ code: 0, err: 'there are no secrets\n' });
    expect(requests).toEqual([
      {
        url: '/api/v1/secrets?limit=500',
        headers: expect.objectContaining({ authorization: `Bearer ${KEY}`, 'x-millwright-client': `cli/${version()}` }),
      },
    ]);
    expect(result.out + result.err).not.toContain(KEY);
  });

  it.each<
    [options: { argv?: string[]; environment?: Record<string, string> }, message: string, why: string, exit?: number]
  >([
    [{}, 'an API key is needed: set MILLWRIGHT_API_KEY or give --key-file FILE; there is no ', 'none anywhere', 6],
    [
      { environment: { MILLWRIGHT_SERVER: 'https://mw.example.com', MILLWRIGHT_DATA_DIR: '.' } },
      'an API key is needed: set MILLWRIGHT_API_KEY or give --key-file FILE\n',
      'the admin key never leaves this machine',
      6,
    ],
    [
      { environment: { MILLWRIGHT_API_KEY: 'hunter2\r\nx: y' } },
      'MILLWRIGHT_API_KEY holds no API key',
      'something else, which is not repeated',
      6,
    ],
    [{ argv: ['--key-file', 'other'] }, 'other holds no API key', 'a file with something else', 6],
    [{ argv: ['--key-file', 'not-there'] }, 'there is no file ', 'no such file'],
    [{ argv: [`--key=${KEY}`] }, 'there is no option --key', 'a key in the arguments'],
    [{ argv: [KEY] }, 'takes no arguments', 'a key in the arguments'],
  ])('is missing: %j', async (options, message, _why, exit = 64) => {
    writeFileSync(join(folder, 'other'), 'hunter2');
    if (options.environment?.['MILLWRIGHT_DATA_DIR'] !== undefined) writeFileSync(join(folder, 'admin-key'), KEY);
    const { code, out, err } = await list(options);
    expect({ code, out, requests }).toEqual({ code: exit, out: '', requests: [] });
    expect(err).toContain(message);
    expect(err).not.toMatch(/hunter2|kkkk/);
  });

  it('in a file that may not be read is no missing key', async () => {
    writeFileSync(join(folder, 'the-key'), KEY);
    chmodSync(join(folder, 'the-key'), 0);
    const { code, err } = await list({ argv: ['--key-file', 'the-key'] });
    // The administrator of the machine may read it all the same.
    expect([code, err.includes('EACCES')]).toEqual(process.getuid?.() === 0 ? [0, false] : [64, true]);
  });
});

describe('the address', () => {
  it.each<[server: string, message: string]>([
    ['127.0.0.1:8080', 'must be an address that starts with http'],
    ['ftp://127.0.0.1', 'must be an address that starts with http'],
    ['http://user:hunter2@127.0.0.1', 'must hold no user or password'],
    ['http://127.0.0.1/?key=hunter2', 'must hold no query'],
    ['http://mw.example.com', 'must be https'],
  ])('%s is refused', async (server, message) => {
    const { code, out, err } = await list({ argv: ['--server', server], environment: { MILLWRIGHT_API_KEY: KEY } });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(`--server ${message}`);
    expect(err).not.toContain('hunter2');
  });

  it('may have a path, and --server wins over MILLWRIGHT_SERVER', async () => {
    await list({
      argv: ['--server', `${url}/mw/`],
      environment: { MILLWRIGHT_API_KEY: KEY, MILLWRIGHT_SERVER: 'http://127.0.0.1:9' },
    });
    expect(requests.map((request) => request.url)).toEqual(['/mw/api/v1/secrets?limit=500']);
  });

  it.each([
    ['', 'as it is'],
    ['/api/v1', 'with what the libraries may have at its end'],
  ])('is MILLWRIGHT_BASE_URL%s where MILLWRIGHT_SERVER is not set (%s)', async (end) => {
    await list({
      environment: { MILLWRIGHT_API_KEY: KEY, MILLWRIGHT_SERVER: '', MILLWRIGHT_BASE_URL: `${url}${end}` },
    });
    await list({ environment: { MILLWRIGHT_API_KEY: KEY, MILLWRIGHT_BASE_URL: 'http://127.0.0.1:9' } });
    expect(requests.map((request) => request.url)).toEqual(['/api/v1/secrets?limit=500', '/api/v1/secrets?limit=500']);
  });
});

describe('a bad answer', () => {
  it.each<[answer: ReturnType<typeof respond>, code: number, lines: string[], why: string]>([
    [
      problem(401, { detail: 'send an API key' }),
      6,
      [
        'the server does not know the API key in MILLWRIGHT_API_KEY',
        '  set MILLWRIGHT_API_KEY to a key of that server, or give --key-file FILE',
      ],
      'a wrong key',
    ],
    [problem(403, { detail: 'this needs the role admin' }), 6, ['this needs the role admin'], 'not enough of a key'],
    [problem(404, { detail: 'not found' }), 5, ['not found'], 'no such thing'],
    [problem(421, { detail: 'not here' }), 64, ['not here'], 'an address of another server'],
    [
      problem(400, {
        detail: '2 members are invalid',
        errors: [
          { pointer: '/a', message: 'm1' },
          { pointer: '', message: 'm2' },
        ],
      }),
      1,
      ['2 members are invalid', '  /a: m1', '  m2'],
      'each member',
    ],
    [problem(400, { detail: 'm1', errors: [{ pointer: '/a', message: 'm1' }] }), 1, ['m1'], 'nothing is said twice'],
    [problem(409, { detail: 'taken' }), 1, ['taken'], 'a conflict'],
    [problem(422, {}), 1, ['A title'], 'no detail'],
    [problem(429, { detail: 'slow down' }, { 'retry-after': '7' }), 3, ['slow down', '  try again in 7 s'], 'later'],
    [
      problem(503, { detail: 'away', trace_id: 't-1' }, { 'retry-after': '5' }),
      3,
      ['away', '  try again in 5 s', '  trace id t-1'],
      'an outage',
    ],
    [
      problem(400, { detail: 'a\u001b[2J\u202eb', errors: [{ pointer: '/x\u0007', message: '::error' }] }),
      1,
      ['a\\u{1b}[2J\\u{202e}b', '  /x\\u{7}: ::error'],
      'nothing steers the terminal',
    ],
  ])('%# becomes words and an exit code (%#)', async (given, code, lines) => {
    answer = given;
    const result = await list({ environment: { MILLWRIGHT_API_KEY: KEY } });
    expect({ ...result, err: result.err.split('\n') }).toEqual({
      code,
      out: '',
      err: [`millwright secrets list: ${lines[0] ?? ''}`, ...lines.slice(1), ''],
    });
  });

  it.each([['--format=json'], ['-ojson'], ['--format', 'json'], ['-o', 'yaml']])(
    'is one line of JSON behind %s %s',
    async (...argv) => {
      const members = { detail: 'no \u202esuch\nsecret', error: 'resource_not_found', trace_id: 't-1' };
      answer = problem(404, members, { 'retry-after': '7' });
      const { code, out, err } = await list({ argv, environment: { MILLWRIGHT_API_KEY: KEY } });
      expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 5, out: '', lines: 2 });
      expect(err).toMatch(/^[\x20-\x7e]+\n$/);
      expect(JSON.parse(err)).toEqual({
        error: {
          command: 'millwright secrets list',
          kind: 'not-found',
          exit_code: 5,
          message: 'no \u202esuch\nsecret',
          details: ['try again in 7 s'],
          status: 404,
          code: 'resource_not_found',
          trace_id: 't-1',
        },
      });
    },
  );

  it.each([
    [['list', '-o', 'json', '--nope'], 'usage', 64, 'there is no option --nope'],
    [['-o', 'json'], 'usage', 64, 'say one of set, list, grant, delete'],
    [['list', '-o', 'json', '--server', 'x'], 'usage', 64, '--server must be an address'],
    [['list', '-o', 'json'], 'not-allowed', 6, 'an API key is needed'],
    [['list', '-o', 'xml', '-o', 'json', '--limit=1'], 'usage', 64, 'there is no option --limit'],
  ])('%j fails as JSON, too', async (argv, kind, exit, message) => {
    const { code, out, err } = await call(['secrets', ...argv], { cwd: folder });
    expect({ code, out }).toEqual({ code: exit, out: '' });
    expect(JSON.parse(err)).toMatchObject({
      error: { kind, exit_code: exit, message: expect.stringContaining(message) },
    });
  });

  it.each<[answer: ReturnType<typeof respond>, message: string, why: string]>([
    [
      respond(404, 'text/html', '<h1>hunter2</h1>'),
      'answers 404, but not as a Millwright service does; check --server',
      'another server',
    ],
    [
      respond(200, 'text/html', '<h1>hunter2</h1>'),
      'answers 200, but not as a Millwright service does',
      'a login page',
    ],
    [
      respond(302, 'text/html', '', { location: 'http://127.0.0.1:9/hunter2' }),
      'answers with a redirect',
      'the key does not follow',
    ],
    [(request) => void request.socket.destroy(), 'cannot be reached: the connection was cut', 'cut off'],
  ])('%# is a matter of the network', async (given, message) => {
    answer = given;
    const { code, out, err } = await list({ environment: { MILLWRIGHT_API_KEY: KEY } });
    expect({ code, out, count: requests.length }).toEqual({ code: 3, out: '', count: 1 });
    expect(err).toContain(`${url} ${message}`);
    expect(err).not.toContain('hunter2');
  });

  it('nobody listens: one line and 3', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const { code, out, err } = await list({ argv: ['--server', nobody], environment: { MILLWRIGHT_API_KEY: KEY } });
    expect({ code, out, err }).toEqual({
      code: 3,
      out: '',
      err: `millwright secrets list: ${nobody} cannot be reached: connection refused; is the service running there?\n`,
    });
  });

  it('no answer, or a certificate that is none: in words that help', () => {
    const words = (cause: unknown): string => unreachable(new URL('https://mill.example/x'), cause, 30_000).message;
    expect(words(new APITimeoutError('mill.example', 'timeout', 30_000))).toBe(
      'https://mill.example cannot be reached: no answer within 30 s',
    );
    const unproven = new TypeError('fetch failed', {
      cause: Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    });
    expect(words(unproven)).toBe(
      'https://mill.example cannot be reached: its certificate or TLS is not accepted ' +
        '(DEPTH_ZERO_SELF_SIGNED_CERT); NODE_EXTRA_CA_CERTS=FILE adds an authority',
    );
    const failed = (code: string): TypeError =>
      new TypeError('fetch failed', { cause: Object.assign(new Error('words'), { code }) });
    for (const code of ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
      expect(words(failed(code))).toBe(
        'https://mill.example cannot be reached: it does not speak TLS; is it http:// there?',
      );
    expect(words(failed('HPE_INVALID_CONSTANT'))).toBe(
      'https://mill.example cannot be reached: what answers there does not speak HTTP',
    );
    expect(words(new TypeError('fetch failed', { cause: new Error('bad port') }))).toContain(
      'no HTTP client connects to that port',
    );
  });

  it('no answer: given up', async () => {
    answer = () => undefined;
    const asked = exchange(new URL(url), { method: 'GET', headers: {} }, 50);
    await expect(asked).rejects.toThrow(`${url} cannot be reached: no answer within 0.05 s`);
    answer = (_, response) => void response.writeHead(200).write('begun');
    await expect(exchange(new URL(url), { method: 'GET', headers: {} }, 50)).rejects.toThrow('no answer within');
  });
});
