/** What a client is made of: address, key, headers, options; and that nobody sees its key. */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Millwright, MillwrightError, VERSION, type ClientOptions, type Logger } from '../src/index.ts';
import { World, type Step } from './wire-world.ts';

const KEY = `mw_${'s3cret'.repeat(5)}`;
const OK = { status: 200, json: {} } satisfies Step;

function clientIn(world: World, options: ClientOptions = {}): Millwright {
  return new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: KEY, fetch: world.fetch, logLevel: 'off', ...options },
    world.clock,
  );
}

async function headersOf(
  options: ClientOptions,
  call: (client: Millwright) => PromiseLike<unknown>,
): Promise<Record<string, string>> {
  const world = new World([OK]);
  await call(clientIn(world, options));
  return world.sent[0]?.headers ?? {};
}

function refusalOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (error instanceof MillwrightError) return error.message;
  }
  return 'none';
}

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('MILLWRIGHT_')) delete process.env[name];
});

it('bears the version of its package', () => {
  expect(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).toMatchObject({
    version: VERSION,
  });
});

describe('address', () => {
  it.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/api/v1'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/api/v1'],
    ['https://example.org/mill//', 'https://example.org/mill/api/v1'],
    ['https://example.org/api/v1', 'https://example.org/api/v1'],
    ['https://example.org/mill/api/v1/', 'https://example.org/mill/api/v1'],
    ['http://[::1]:80', 'http://[::1]/api/v1'],
  ])('%s', (baseURL, expected) => {
    expect(new Millwright({ baseURL, apiKey: KEY, logLevel: 'off' }).baseURL).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'nowhere',
    '127.0.0.1:8080',
    '/api',
    'ftp://example.org',
    'http://',
    'http://user@example.org',
    'http://u:p4ss@example.org',
    'http://example.org?q=1',
    'http://example.org?',
    'http://example.org#',
    'file:///etc',
    'http:/example.org',
    'http:example.org',
    'http:///example.org',
    'http:\\\\example.org',
    'http://example.org\\a',
    'http://exam ple.org',
    'http://example.org/a\tb',
    'http://exam\nple.org',
    ' http://example.org',
    'http://example.org\n',
    'http://example.org\u00a0',
    'http://example.org:0',
    'http://example.org:65536',
  ])('%j is refused by the name of its source', (baseURL) => {
    const words = refusalOf(() => new Millwright({ baseURL, apiKey: KEY }));
    expect(words).toMatch(/^baseURL must /);
    expect(words).not.toContain('p4ss');
    process.env['MILLWRIGHT_BASE_URL'] = baseURL;
    if (baseURL.trim() === '') expect(new Millwright({ apiKey: KEY }).baseURL).toBe('http://127.0.0.1:8080/api/v1');
    else expect(refusalOf(() => new Millwright({ apiKey: KEY }))).toMatch(/^MILLWRIGHT_BASE_URL must /);
  });

  it.each([
    [null, 'the options must be an object'],
    ['http://127.0.0.1', 'the options must be an object'],
    [{ baseURL: 5 }, 'baseURL must be text'],
    [{ baseURL: new URL('http://127.0.0.1') }, 'baseURL must be text'],
    [{ apiKey: 5 }, 'apiKey must be text'],
    [{ apiKey: KEY, fetch: 'fetch' }, 'fetch must be a function'],
    [{ apiKey: KEY, timeout: '5' }, 'timeout must be a number of milliseconds above 0, or null for no limit'],
  ])('options that are none are refused: %j', (options, words) => {
    expect(refusalOf(() => new Millwright(options as never))).toBe(words);
  });

  it('without encryption it warns, once, unless it stays on this machine', () => {
    const warned: string[] = [];
    const logger = { warn: (words: string) => warned.push(words) } as unknown as Logger;
    const client = new Millwright({ baseURL: 'http://mill.example.org', apiKey: KEY, logger });
    client.withOptions({ timeout: 1 });
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'mill.localhost'])
      client.withOptions({ baseURL: `http://${host}` });
    client.withOptions({ baseURL: 'https://mill.example.org' });
    expect(warned).toEqual(['millwright: the API key is sent to mill.example.org without encryption; use https']);
  });
});

describe('key', () => {
  it('comes from the option, else from the environment', async () => {
    process.env['MILLWRIGHT_API_KEY'] = 'from-the-environment';
    expect(await headersOf({ apiKey: undefined }, (client) => client.get('/x'))).toMatchObject({
      authorization: 'Bearer from-the-environment',
    });
    expect(await headersOf({}, (client) => client.get('/x'))).toMatchObject({ authorization: `Bearer ${KEY}` });
  });

  it.each([undefined, '', '  '])('none (%j): both ways are said', (apiKey) => {
    expect(refusalOf(() => new Millwright({ apiKey }))).toBe(
      'an API key is needed: give the option apiKey, or set MILLWRIGHT_API_KEY',
    );
  });

  it.each(['line\n', 'line\r\n'])('%j: one final line end is not part of it', async (apiKey) => {
    expect(await headersOf({ apiKey }, (client) => client.get('/x'))).toMatchObject({ authorization: 'Bearer line' });
    process.env['MILLWRIGHT_API_KEY'] = apiKey;
    expect(await headersOf({ apiKey: undefined }, (client) => client.get('/x'))).toMatchObject({
      authorization: 'Bearer line',
    });
  });

  it.each(['with space', 'line\n\n', 'line\r', ' line', 'ümlaut', '\u0000'.repeat(4)])(
    '%j is refused and not repeated',
    (apiKey) => {
      expect(refusalOf(() => new Millwright({ apiKey }))).toBe(
        'apiKey must hold visible ASCII characters only, without spaces or line ends',
      );
      if (apiKey.includes('\0')) return;
      process.env['MILLWRIGHT_API_KEY'] = apiKey;
      expect(refusalOf(() => new Millwright())).toMatch(/^MILLWRIGHT_API_KEY must hold/);
    },
  );

  it('is not to be seen in whatever is printed of a client, of what it answers, or of its errors', async () => {
    const world = new World([
      { status: 401, json: { error: 'authentication_required', detail: 'no' } },
      { fault: 'refuse' },
      { status: 200, text: '<' },
    ]);
    const client = clientIn(world, { maxRetries: 0 });
    const failures = [];
    for (let round = 0; round < 3; round += 1)
      failures.push(await client.agent.runs.list().catch((error: unknown) => error));
    for (const thing of [
      client,
      client.agent.runs,
      client.agent.runs.events('x'),
      client.withOptions({}),
      ...failures,
    ]) {
      expect(inspect(thing, { depth: 20, showHidden: true })).not.toContain('s3cret');
      expect(JSON.stringify(thing)).not.toContain('s3cret');
      expect([thing].join()).not.toContain('s3cret');
    }
  });
});

describe('headers', () => {
  it('what is sent without being told', async () => {
    expect(await headersOf({}, (client) => client.get('/x'))).toEqual({
      authorization: `Bearer ${KEY}`,
      accept: 'application/json',
      'x-millwright-client': `typescript/${VERSION}`,
    });
    const posted = await headersOf({}, (client) => client.post('/x', { body: 1 }));
    expect(posted).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^mwc-/),
    });
    expect(await headersOf({}, (client) => client.put('/x', { body: 1 }))).not.toHaveProperty('idempotency-key');
    expect(await headersOf({}, (client) => client.post('/x'))).not.toHaveProperty('content-type');
  });

  it('of the environment go before none, and are read once', async () => {
    process.env['MILLWRIGHT_CUSTOM_HEADERS'] = 'X-A: from: here\n\nX-B:b\r\n';
    const heard = await headersOf({ defaultHeaders: { 'x-b': 'said' } }, (client) => {
      process.env['MILLWRIGHT_CUSTOM_HEADERS'] = 'X-A: later';
      return client.copy({ maxRetries: 0 }).get('/x');
    });
    expect(heard).toMatchObject({ 'x-a': 'from: here', 'x-b': 'said' });
  });

  it.each(['secret', ': secret', 'X-A: a\nsecret', 'X A: secret', 'X-A: …'])(
    '%j is none of the environment',
    (text) => {
      process.env['MILLWRIGHT_CUSTOM_HEADERS'] = text;
      const said = refusalOf(() => new Millwright({ apiKey: KEY }));
      expect(said).toContain('MILLWRIGHT_CUSTOM_HEADERS');
      expect(said).not.toContain('secret');
    },
  );

  it('those of the call go before those of the client, and null takes one away', async () => {
    const defaultHeaders = {
      'X-Millwright-Client': null,
      'X-Team': 'a',
      ACCEPT: 'text/plain',
      'Idempotency-Key': null,
    };
    const sent = await headersOf({ defaultHeaders }, (client) =>
      client.post('/x', { headers: { 'x-team': 'b', accept: null, 'X-More': undefined } }),
    );
    expect(sent).toEqual({ authorization: `Bearer ${KEY}`, 'x-team': 'b' });
    expect(
      await headersOf({ defaultHeaders }, (client) => client.post('/x', { idempotencyKey: 'mine' })),
    ).toMatchObject({ 'idempotency-key': 'mine' });
  });

  it.each<Record<string, string>>([
    { 'bad name': 'x' },
    { '': 'x' },
    { 'x-a': 'line\nbreak-s3cret' },
    { 'x-a': '日本' },
    { 'x-a': 7 as never },
  ])('%j is refused without its value', async (given) => {
    const words = refusalOf(() => clientIn(new World([]), { defaultHeaders: given }));
    expect(words).toMatch(/^defaultHeaders/);
    expect(words).not.toContain('s3cret');
    await expect(clientIn(new World([])).get('/x', { headers: given })).rejects.toThrow(/^headers/);
  });
});

describe('options', () => {
  it('a changed copy keeps what it is not told, and leaves the first as it was', async () => {
    const world = new World([OK, OK]);
    const first = clientIn(world, { defaultHeaders: { 'x-a': '1' } });
    await first.withOptions({ apiKey: 'other-key-of-somebody', baseURL: undefined }).get('/x');
    await first.get('/x');
    expect(world.sent.map(({ headers, url }) => [headers['authorization'], headers['x-a'], url.origin])).toEqual([
      ['Bearer other-key-of-somebody', '1', 'http://127.0.0.1:9'],
      [`Bearer ${KEY}`, '1', 'http://127.0.0.1:9'],
    ]);
  });

  it('a changed copy keeps address, key and log level, whatever the environment says by then', async () => {
    const warned: string[] = [];
    const logger = {
      warn: (words: string) => warned.push(words),
      info: (words: string) => warned.push(words),
    } as unknown as Logger;
    Object.assign(process.env, {
      MILLWRIGHT_BASE_URL: 'http://127.0.0.1:9/first',
      MILLWRIGHT_API_KEY: 'first-key',
      MILLWRIGHT_LOG: 'Info',
    });
    const world = new World([OK, OK, OK]);
    const first = new Millwright({ fetch: world.fetch, logger }, world.clock);
    Object.assign(process.env, { MILLWRIGHT_BASE_URL: 'http://127.0.0.1:9/other', MILLWRIGHT_LOG: 'loud' });
    await first.withOptions({ timeout: 1 }).get('/x');
    delete process.env['MILLWRIGHT_API_KEY'];
    await first.withOptions({}).withOptions({ maxRetries: 0 }).get('/x');
    await first.withOptions({ apiKey: null as never, baseURL: null as never, logLevel: undefined }).get('/x');
    expect(world.sent.map(({ url, headers }) => [url.pathname, headers['authorization']])).toEqual(
      Array.from({ length: 3 }, () => ['/first/api/v1/x', 'Bearer first-key']),
    );
    expect(warned).toEqual(Array.from({ length: 3 }, () => 'millwright: GET /x: 200 (0 ms, attempt 1)'));
  });

  it.each<[ClientOptions, string]>([
    [{ timeout: 0 }, 'timeout'],
    [{ timeout: -1 }, 'timeout'],
    [{ timeout: Number.NaN }, 'timeout'],
    [{ totalTimeout: '5' as never }, 'totalTimeout'],
    [{ maxRetries: -1 }, 'maxRetries'],
    [{ maxRetries: 1.5 }, 'maxRetries'],
    [{ logLevel: 'loud' as never }, 'logLevel'],
  ])('%j is refused by its name', async (options, name) => {
    expect(refusalOf(() => clientIn(new World([]), options))).toMatch(new RegExp(`^${name} must be`));
    if (name !== 'logLevel')
      await expect(clientIn(new World([])).get('/x', options)).rejects.toThrow(new RegExp(`^${name} must be`));
  });

  it('the global fetch is looked up when it is needed', async () => {
    const client = new Millwright({ apiKey: KEY });
    const before = globalThis.fetch;
    globalThis.fetch = () => Promise.resolve(Response.json({ answered: true }));
    try {
      expect(await client.get('/x')).toEqual({ answered: true });
    } finally {
      globalThis.fetch = before;
    }
  });

  it('a fetch is called with nothing as its this, as browsers want it', async () => {
    function fetch(this: unknown): Promise<Response> {
      return Promise.resolve(Response.json(this === undefined));
    }
    expect(await new Millwright({ apiKey: KEY, fetch }).get('/x')).toBe(true);
  });
});

describe('undocumented calls', () => {
  it('send what they are told, and answer what comes', async () => {
    const world = new World([
      { status: 200, json: { a: 1 } },
      { status: 204 },
      { status: 200, text: 'words', headers: { 'content-type': 'text/plain' } },
      OK,
      OK,
    ]);
    const client = clientIn(world);
    expect(await client.get('/new/thing', { query: { a: [1, true], b: undefined, m: { k: 'v w' } } })).toEqual({
      a: 1,
    });
    expect(await client.delete('/new/thing')).toBeUndefined();
    expect(await client.put('/new/thing', { body: [1] })).toBe('words');
    await client.patch('/new/thing', { body: { a: 1 }, extraBody: { b: 2 } });
    await client.post('/new/thing', { extraBody: { b: 2 } });
    expect(world.sent.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'PUT', 'PATCH', 'POST']);
    expect(decodeURIComponent(world.sent[0]?.url.href ?? '')).toBe(
      'http://127.0.0.1:9/api/v1/new/thing?a=1&a=true&m[k]=v w',
    );
    expect(world.sent.slice(2).map(({ body }) => Buffer.from(body ?? []).toString())).toEqual([
      '[1]',
      '{"a":1,"b":2}',
      '{"b":2}',
    ]);
  });

  it.each([
    '',
    'x',
    'http://other.example/',
    '/a?b=1',
    '/a#b',
    '/../secrets',
    '/a/..',
    '/a/%2E%2e/b',
    '/./a',
    '/a\\b',
    '/a b',
  ])('the path %j is refused', async (path) => {
    await expect(clientIn(new World([])).get(path)).rejects.toThrow('the path must begin with "/"');
  });

  it.each<[unknown, Record<string, unknown> | undefined]>([
    [10n, undefined],
    [() => 1, undefined],
    [[1], { a: 1 }],
    ['text', { a: 1 }],
  ])('a body that is none (%#) is refused', async (body, extraBody) => {
    await expect(clientIn(new World([])).post('/x', { body, extraBody })).rejects.toBeInstanceOf(MillwrightError);
  });

  it('half a character is refused wherever it stands', async () => {
    const client = clientIn(new World([]));
    await expect(client.agent.runs.retrieve('\ud800')).rejects.toThrow('run_id holds half a character');
    await expect(client.get('/x', { query: { q: '\ud800' } })).rejects.toThrow('q holds half a character');
    await expect(client.get('/x', { query: { since: new Date(Number.NaN) } })).rejects.toThrow('since is no date');
  });
});
