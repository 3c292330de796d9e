/**
 * Browsers that sign in: what they get, what their requests have to prove, how a session ends, and that nothing of it
 * is written down. contract §2, §4.
 */
import { randomBytes } from 'node:crypto';
import { OPERATIONS, type Operation } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver, runIn } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange } from '../support/network/raw-http.ts';
import { ENDED, SHELL, startedRun } from '../support/runs/runs.ts';
import { bootService, freePort, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { askToSignIn, cookieOf, signIn, type SignedIn } from '../support/services/sessions.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const HOUR_MS = 3_600_000;
const NOWHERE = {
  fac: 'fac_00000000000000000000000000',
  uuid: '00000000-0000-7000-8000-000000000000',
  name: 'nothing-is-called-so',
};
let service: TestService;
let folder: FactoryFolder;
let ours: string;
let theirs: string;
/** How far the service's clock is ahead. */
let aheadMs = 0;
/** What it shows while it stands still. */
let stoppedAtMs: number | undefined;

beforeAll(async () => {
  service = await bootService({
    environment: {
      ...SHELL,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_API_RATE: '0',
      MILLWRIGHT_API_AUTH_FAILURES: '0',
    },
    nowMs: () => stoppedAtMs ?? Date.now() + aheadMs,
  });
  await service.secret('hook-token', TOKEN);
  folder = await factoryFolder({ webhooks: { orders: { secretName: 'hook-token' } }, automations: {} });
  ours = await service.factory('ours', folder.source);
  theirs = await service.factory('theirs', { kind: 'directory', path: '/nowhere/b' });
});

afterEach(() => {
  aheadMs = 0;
  stoppedAtMs = undefined;
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const withCookie = (
  cookie: string,
  path = '/session',
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> => fetch(`${service.url}/api/v1${path}`, { method, headers: { cookie, ...headers } });

async function problemOf(answer: Response): Promise<{ status: number; error: unknown; detail: string }> {
  const { error, detail } = (await answer.json()) as { error: unknown; detail: string };
  return { status: answer.status, error, detail };
}

describe('signing in', () => {
  it('answers who it is, and a cookie that no script reads and no other site sends', async () => {
    const answer = await askToSignIn(service, { api_key: service.adminKey });
    expect(answer.status).toBe(200);
    const current = (await service.api('GET', '/api-keys/current')).body;
    expect(answer.body).toEqual({
      key: { ...current, last_used_at: null },
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: expect.any(String),
    });
    expect(Date.parse(String(answer.body['expires_at'])) - Date.now()).toBeGreaterThan(11.9 * HOUR_MS);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^mw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { csrf, cookie } = await signIn(service);
    expect(cookie).not.toContain(csrf);
  });

  it('over https gives a cookie that is this host’s alone, and reads no other', async () => {
    const port = String(await freePort());
    const secure = await bootService({
      environment: {
        MILLWRIGHT_PORT: port,
        MILLWRIGHT_PUBLIC_URL: 'https://mill.example/below',
        MILLWRIGHT_RUN_CONCURRENCY: '0',
      },
    });
    try {
      const url = `http://127.0.0.1:${port}`;
      const ask = (method: string, headers: [string, string][], body = '', host = 'mill.example') =>
        exchange(url, { method, target: '/api/v1/session', host, headers, body });
      const json: [string, string] = ['Content-Type', 'application/json'];
      const key = JSON.stringify({ api_key: secure.adminKey });
      const given = await ask(
        'POST',
        [json, ['Origin', 'https://mill.example'], ['Sec-Fetch-Site', 'same-origin']],
        key,
      );
      expect(given.headers.get('set-cookie')).toMatch(
        /^__Host-mw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=43200$/,
      );
      // Answers of the API, of the page, and refusals keep browsers to https; over http no answer says it.
      const page = await exchange(url, { method: 'GET', target: '/', host: 'mill.example' });
      const elsewhere = await ask('GET', [], '', 'evil.example');
      for (const { headers } of [given, page, elsewhere])
        expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
      expect((await fetch(`${service.url}/api/v1/session`)).headers.get('strict-transport-security')).toBeNull();
      const cookie = (given.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      expect((await ask('GET', [['Cookie', cookie]])).status).toBe(200);
      expect((await ask('GET', [['Cookie', cookie.replace('__Host-', '')]])).status).toBe(401);
      for (const [origin, host, status] of [
        ['http://mill.example', undefined, 403],
        ['https://mill.example:444', undefined, 403],
        ['https://mill.example', 'mill.example:443', 200],
        ['https://MILL.example', undefined, 200],
      ] as const) {
        expect({ origin, status: (await ask('POST', [json, ['Origin', origin]], key, host)).status }).toEqual({
          origin,
          status,
        });
      }
    } finally {
      await secure.stop();
    }
  });

  it.each<[string, () => Promise<string> | string]>([
    ['no such key', () => `mw_${'A'.repeat(43)}`],
    ['no key of ours', () => 'hunter2'],
    ['a key with a blank', () => `${service.adminKey} `],
    ['a header’s value', () => `Bearer ${service.adminKey}`],
    ['a revoked key', () => makeKey(service, 'admin', { revokedAtMs: 1 })],
    ['a key that has run out', () => makeKey(service, 'admin', { expiresAtMs: 1 })],
  ])('with %s is 401, and sets nothing', async (_what, key) => {
    const answer = await askToSignIn(service, { api_key: await key() });
    expect({ status: answer.status, error: answer.body['error'], cookie: answer.headers.get('set-cookie') }).toEqual({
      status: 401,
      error: 'authentication_required',
      cookie: null,
    });
    expect(answer.body['detail']).not.toContain('session');
  });

  it.each<[unknown, string[]]>([
    [{}, ['/api_key']],
    [{ api_key: '' }, ['/api_key']],
    [{ api_key: 5 }, ['/api_key']],
    [{ api_key: ['mw_'] }, ['/api_key']],
    [{ api_key: 'x'.repeat(301) }, ['/api_key']],
    [{ api_key: 'a\u0000' }, ['/api_key']],
    [[], ['']],
    ['mw_x', ['']],
    [null, ['']],
  ])('with %j is 400 and names what is wrong', async (body, pointers) => {
    const answer = await askToSignIn(service, body);
    expect({
      status: answer.status,
      pointers: (answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer.replace(/^\/$/, '')),
    }).toEqual({ status: 400, pointers });
  });

  it('takes JSON only, which no form of another site sends, and no large body', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
      const answer = await fetch(`${service.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: JSON.stringify({ api_key: service.adminKey }),
      });
      expect({ type, status: answer.status, cookie: answer.headers.get('set-cookie') }).toEqual({
        type,
        status: 415,
        cookie: null,
      });
    }
    expect((await askToSignIn(service, { api_key: service.adminKey, more: 'x'.repeat(20_000) })).status).toBe(413);
  });

  it.each<[Record<string, string>, number]>([
    [{}, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'nonsense' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: '' }, 403],
    [{ origin: 'file://' }, 403],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, 403],
  ])('from %j is %i', async (headers, status) => {
    const answer = await askToSignIn(service, { api_key: service.adminKey }, headers);
    expect({ status: answer.status, isSet: answer.headers.get('set-cookie') !== null }).toEqual({
      status,
      isSet: status === 200,
    });
  });

  it('is fine from the page under the name that it was opened by, and not from another port', async () => {
    const { port } = new URL(service.url);
    const target = { method: 'POST', target: '/api/v1/session', body: JSON.stringify({ api_key: service.adminKey }) };
    const from = async (origin: string, host?: string): Promise<number> =>
      (
        await exchange(service.url, {
          ...target,
          host,
          headers: [
            ['Content-Type', 'application/json'],
            ['Origin', origin],
          ],
        })
      ).status;
    expect(await from(service.url)).toBe(200);
    expect(await from(`http://localhost:${port}`, `localhost:${port}`)).toBe(200);
    expect(await from(`http://localhost:${port}`)).toBe(403);
    expect(await from('http://127.0.0.1:1')).toBe(403);
    expect(await from(`https://127.0.0.1:${port}`)).toBe(403);
  });

  it(
    'twenty times a minute is what a key may do, however many requests it may make: more is 429, and no entry of ' +
      'the audit trail',
    async () => {
      const made = (await service.api('POST', '/api-keys', { name: 'signs in', role: 'viewer' })).body;
      const enter = (key: unknown = made['key']): Promise<ApiAnswer> => askToSignIn(service, { api_key: key });
      const entries = async (): Promise<number> =>
        (
          (await service.api('GET', `/audit?subject=${String(made['id'])}&action=session.create&limit=100`)).body[
            'entries'
          ] as unknown[]
        ).length;
      stoppedAtMs = Date.now();
      for (let count = 0; count < 20; count += 1)
        expect({ count, status: (await enter()).status }).toEqual({ count, status: 200 });
      const over = await enter();
      expect({
        status: over.status,
        error: over.body['error'],
        after: over.headers.get('retry-after'),
        cookie: over.headers.get('set-cookie'),
      }).toEqual({ status: 429, error: 'resource_unavailable', after: '3', cookie: null });
      expect(await entries()).toBe(20);
      expect((await enter(await makeKey(service, 'viewer'))).status).toBe(200);
      stoppedAtMs += 3_000;
      expect([(await enter()).status, (await enter()).status]).toEqual([200, 429]);
    },
  );

  it('adopts no cookie that the browser brought', async () => {
    const planted = `mw_session=${randomBytes(32).toString('base64url')}`;
    const known = await signIn(service);
    for (const brought of [planted, known.cookie]) {
      const answer = await askToSignIn(service, { api_key: service.adminKey }, { cookie: brought });
      expect(answer.status).toBe(200);
      expect(cookieOf(answer)).not.toBe(brought);
    }
    expect((await withCookie(planted)).status).toBe(401);
  });
});

describe('a request with a session', () => {
  let page: SignedIn;
  beforeAll(async () => {
    page = await signIn(service);
  });

  it('is answered like one with its key: role, factories, rates', async () => {
    const viewer = await signIn(service, await makeKey(service, 'viewer'));
    expect((await viewer.api('GET', '/agent/runs')).status).toBe(200);
    expect(await viewer.api('POST', '/agent/runs', { prompt: 'x' })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('needs the role operator') },
    });
    const limited = await signIn(service, await makeKey(service, 'manager', { factories: [ours] }));
    expect((await limited.api('GET', '/factory')).body['factories']).toMatchObject([{ uid: ours }]);
    expect((await limited.api('GET', `/factory/${theirs}`)).status).toBe(404);
    expect((await limited.api('POST', `/factory/${ours}/suspend`)).status).toBe(200);
    expect((await limited.api('POST', `/factory/${ours}/resume`)).status).toBe(200);
  });

  it('looks at its session, for a page that was loaded again', async () => {
    const again = await page.api('GET', '/session', undefined, { 'x-csrf-token': '' });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ csrf_token: page.csrf, key: { role: 'admin' }, expires_at: expect.any(String) });
    expect(again.headers.get('set-cookie')).toBeNull();
    for (const method of ['GET', 'DELETE'])
      expect(await service.api(method, '/session')).toMatchObject({
        status: 404,
        body: { detail: 'the session was not found' },
      });
  });

  it.each<[string, Record<string, string> | (() => Promise<Record<string, string>>), string]>([
    ['no token', { 'x-csrf-token': '' }, 'does not belong'],
    ['the token of another session', async () => ({ 'x-csrf-token': (await signIn(service)).csrf }), 'does not belong'],
    ['a token that is longer', () => Promise.resolve({ 'x-csrf-token': `${page.csrf}A` }), 'does not belong'],
    [
      'the cookie’s token',
      () => Promise.resolve({ 'x-csrf-token': page.cookie.split('=')[1] ?? '' }),
      'does not belong',
    ],
    ['an endless token', { 'x-csrf-token': 'A'.repeat(5_000) }, 'does not belong'],
    ['another origin', { origin: 'https://evil.example' }, 'another site'],
    ['no origin of its own', { origin: 'null' }, 'another site'],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 'another site'],
    ['a neighbour of the site', { 'sec-fetch-site': 'same-site' }, 'another site'],
  ])('changes nothing with %s', async (_what, headers, detail) => {
    const more = typeof headers === 'function' ? await headers() : headers;
    const answer = await page.api('PUT', '/secrets/forged', { value: 'long-enough-value' }, more);
    expect({ status: answer.status, error: answer.body['error'], detail: answer.body['detail'] }).toEqual({
      status: 403,
      error: 'not_authorized',
      detail: expect.stringContaining(detail),
    });
    expect((await service.api('GET', '/secrets/forged')).status).toBe(404);
  });

  it('changes nothing without the header at all, and is told which one', async () => {
    const answer = await withCookie(page.cookie, '/agent/runs', {}, 'POST');
    expect(await problemOf(answer)).toEqual({
      status: 403,
      error: 'not_authorized',
      detail: expect.stringContaining('X-CSRF-Token is missing'),
    });
  });

  it('that is forged is refused before its body is read', async () => {
    const answer = await exchange(service.url, {
      target: '/api/v1/agent/runs',
      headers: [
        ['Cookie', page.cookie],
        ['Content-Type', 'application/json'],
        ['Expect', '100-continue'],
      ],
      declared: 1_000,
    });
    expect({ status: answer.status, interim: answer.interim, connection: answer.headers.get('connection') }).toEqual({
      status: 403,
      interim: [],
      connection: 'close',
    });
  });

  it('of our page changes what its key may change', async () => {
    const answer = await page.api('PUT', '/secrets/mine', { value: 'long-enough-value' }, { origin: service.url });
    expect(answer.status).toBe(200);
    const [entry] = (await service.api('GET', '/audit?subject=mine')).body['entries'] as Record<string, unknown>[];
    expect(entry).toMatchObject({
      action: 'secret.create',
      principal: { uid: 'user_admin' },
      key_id: expect.any(String),
    });
  });

  it('and an Authorization header is one with that header, good or bad', async () => {
    const viewer = await makeKey(service, 'viewer');
    expect(
      (await withCookie(page.cookie, '/agent/runs', { authorization: `Bearer ${service.adminKey}` }, 'POST')).status,
    ).toBe(400); // no body, and no token needed
    expect((await withCookie(page.cookie, '/secrets', { authorization: `Bearer ${viewer}` })).status).toBe(403);
    expect((await withCookie('mw_session=nonsense', '/agent/runs', { authorization: `Bearer ${viewer}` })).status).toBe(
      200,
    );
    for (const bad of ['', 'Bearer', `Bearer mw_${'A'.repeat(43)}`, 'Basic bXc6bXc=', page.cookie]) {
      const answer = await withCookie(page.cookie, '/agent/runs', { authorization: bad, 'x-csrf-token': page.csrf });
      expect({ bad, ...(await problemOf(answer)) }).toMatchObject({
        bad,
        status: 401,
        detail: expect.stringContaining(bad.startsWith('Bearer mw') ? 'not known or' : 'send an API key'),
      });
    }
  });

  it.each<[string, (cookie: string) => string, number]>([
    ['beside others', (cookie) => `theme=dark; ${cookie}; mw_sessions=x`, 200],
    ['without blanks between', (cookie) => `a=b;${cookie};c`, 200],
    ['among ten thousand characters', (cookie) => `big=${'x'.repeat(10_000)}; ${cookie}`, 200],
    ['twice', (cookie) => `${cookie}; ${cookie}`, 401],
    ['and another of its name', (cookie) => `mw_session=x; ${cookie}`, 401],
    [
      'five hundred times',
      (cookie) =>
        Array.from({ length: 500 }, () => 'mw_session=')
          .concat(cookie)
          .join('; '),
      401,
    ],
    ['in quotes', (cookie) => cookie.replace('=', '="').concat('"'), 401],
    ['cut off', (cookie) => cookie.slice(0, -1), 401],
    ['with more behind it', (cookie) => `${cookie}A`, 401],
    ['of ten thousand characters', (cookie) => cookie + 'A'.repeat(10_000), 401],
    ['with blanks before its value', (cookie) => cookie.replace('=', '= '), 401],
    ['in another case', (cookie) => cookie.replace('mw_session', 'MW_SESSION'), 401],
    ['under a name that only looks like ours', (cookie) => `\u00a0${cookie}`, 401],
    ['under the name of https', (cookie) => `__Host-${cookie}`, 401],
    ['empty', () => 'mw_session=', 401],
  ])('whose cookie comes %s', async (_how, header, status) => {
    const { status: found, body } = await exchange(service.url, {
      method: 'GET',
      target: '/api/v1/session',
      headers: [['Cookie', header(page.cookie)]],
    });
    expect(found).toBe(status);
    expect(body.includes(page.csrf)).toBe(status === 200);
  });

  it('tells a page whether its session has ended or nobody has signed in', async () => {
    const ended = await withCookie(`mw_session=${randomBytes(32).toString('base64url')}`);
    expect(ended.headers.get('www-authenticate')).toBe('Bearer');
    expect(ended.headers.get('set-cookie')).toBeNull(); // the browser may have got a new one meanwhile
    expect(await problemOf(ended)).toEqual({
      status: 401,
      error: 'authentication_required',
      detail: 'the session has ended: sign in again',
    });
    expect(await problemOf(await withCookie('theme=dark'))).toEqual({
      status: 401,
      error: 'authentication_required',
      detail: expect.stringContaining('send an API key'),
    });
  });

  it('starts runs as the web page, whatever it says of itself', async () => {
    const sourceOf = async (made: ApiAnswer): Promise<unknown> =>
      (await service.api('GET', `/agent/runs/${String(made.body['run_id'])}`)).body['source'];
    for (const more of [undefined, { 'x-millwright-client': 'cli/1' }])
      expect(await sourceOf(await page.api('POST', '/agent/runs', { prompt: 'true' }, more))).toBe('WEB_APP');
    expect(await sourceOf(await page.api('POST', `/factory/${ours}/runs`, { prompt: 'true' }))).toBe('WEB_APP');
    expect(await sourceOf(await service.api('POST', '/agent/runs', { prompt: 'true' }))).toBe('API');
  });

  it('gets what it did again by its idempotency key', async () => {
    const [first, second] = [
      await page.api('POST', '/agent/runs', { prompt: 'true' }, { 'idempotency-key': 'once' }),
      await page.api('POST', '/agent/runs', { prompt: 'true' }, { 'idempotency-key': 'once' }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('every operation', () => {
  const guarded = OPERATIONS.flatMap(({ operations }) => operations).filter(({ role }) => role !== undefined);
  const call = (cookie: string, { method, path }: Operation, headers: Record<string, string>): Promise<Response> => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      path.startsWith(`/factory/{${name}}`)
        ? NOWHERE.fac
        : name === 'name' || name === 'document'
          ? NOWHERE.name
          : NOWHERE.uuid,
    );
    return withCookie(cookie, filled, headers, method.toUpperCase());
  };

  let cookie: string;
  beforeAll(async () => {
    ({ cookie } = await signIn(service, await makeKey(service, 'admin')));
  });

  it.each(guarded.filter(({ method }) => method !== 'get').map((operation) => [operation.id, operation] as const))(
    '%s: a session proves that our page asks',
    async (_id, operation) => {
      expect(await problemOf(await call(cookie, operation, {}))).toMatchObject({
        status: 403,
        detail: expect.stringContaining('X-CSRF-Token'),
      });
    },
  );

  it.each(guarded.filter(({ role }) => role !== 'viewer').map((operation) => [operation.id, operation] as const))(
    '%s: a session has no more than the role of its key',
    async (_id, operation) => {
      const viewer = await signIn(service, await makeKey(service, 'viewer'));
      expect(await problemOf(await call(viewer.cookie, operation, { 'x-csrf-token': viewer.csrf }))).toMatchObject({
        status: 403,
        detail: expect.stringContaining('needs the role'),
      });
    },
  );
});

describe('a session ends', () => {
  const isOpen = async ({ cookie }: SignedIn): Promise<boolean> => (await withCookie(cookie)).status === 200;

  it('with signing out: its cookie is taken back, and worth nothing to whoever has copied it', async () => {
    const key = await makeKey(service, 'viewer');
    const [one, other] = [await signIn(service, key), await signIn(service, key)];
    expect((await one.api('DELETE', '/session', undefined, { 'x-csrf-token': '' })).status).toBe(403);
    const out = await one.api('DELETE', '/session');
    expect({ status: out.status, cookie: out.headers.get('set-cookie') }).toEqual({
      status: 204,
      cookie: 'mw_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    });
    expect([await isOpen(one), await isOpen(other)]).toEqual([false, true]);
    expect(await one.api('POST', '/agent/runs', { prompt: 'x' })).toMatchObject({
      status: 401,
      body: { detail: 'the session has ended: sign in again' },
    });
    expect((await one.api('DELETE', '/session')).status).toBe(401);
    expect((await service.api('GET', '/api-keys/current', undefined, key)).status).toBe(200); // the key goes on
  });

  it('with its key: revoked', async () => {
    const made = (await service.api('POST', '/api-keys', { name: 'a key', role: 'manager' })).body;
    const page = await signIn(service, String(made['key']));
    expect(await isOpen(page)).toBe(true);
    await service.api('DELETE', `/api-keys/${String(made['id'])}`);
    expect(await isOpen(page)).toBe(false);
    expect((await page.api('DELETE', '/session')).status).toBe(401);
  });

  it('with its key: run out, and says so beforehand', async () => {
    const expiresAtMs = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS;
    const page = await signIn(service, await makeKey(service, 'viewer', { expiresAtMs }));
    expect(Date.parse(String((await page.api('GET', '/session')).body['expires_at']))).toBe(expiresAtMs);
    aheadMs = 1.1 * HOUR_MS;
    expect(await isOpen(page)).toBe(false);
  });

  it('twelve hours after it began, used or not', async () => {
    const page = await signIn(service);
    for (const hours of [4, 8, 11.9]) {
      aheadMs = hours * HOUR_MS;
      expect({ hours, isOpen: await isOpen(page) }).toEqual({ hours, isOpen: true });
    }
    aheadMs = 12.1 * HOUR_MS;
    expect(await problemOf(await withCookie(page.cookie))).toMatchObject({
      status: 401,
      detail: 'the session has ended: sign in again',
    });
  });

  it('when twenty others of its key have begun since', async () => {
    const key = await makeKey(service, 'viewer');
    const pages: SignedIn[] = [];
    for (let count = 0; count < 21; count += 1) {
      aheadMs = count * 3_000;
      pages.push(await signIn(service, key));
    }
    expect(await Promise.all(pages.map(isOpen))).toEqual([false, ...Array.from({ length: 20 }, () => true)]);
  });

  it('and with it the events that it follows', async () => {
    const runId = await startedRun(service, 'sleep 60');
    const page = await signIn(service);
    const stream = await withCookie(page.cookie, `/agent/runs/${runId}/events`, { accept: 'text/event-stream' });
    expect(stream.status).toBe(200);
    await page.api('DELETE', '/session');
    await stream.text(); // it ends
    await service.api('POST', `/agent/runs/${runId}/cancel`);
  });
});

describe('failures', () => {
  it(
    'spend the budget of their client, at signing in and with cookies that are worth nothing; a valid key gets in ' +
      'all the same',
    async () => {
      const atMs = Date.now(); // no budget fills up again meanwhile
      const strict = await bootService({
        nowMs: () => atMs,
        environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_API_AUTH_FAILURES: '4', MILLWRIGHT_API_RATE: '20' },
      });
      try {
        const bad = (): Promise<ApiAnswer> => askToSignIn(strict, { api_key: `mw_${'A'.repeat(43)}` });
        const badCookie = (): Promise<Response> =>
          fetch(`${strict.url}/api/v1/session`, { headers: { cookie: 'mw_session=x' } });
        expect([
          (await bad()).status,
          (await badCookie()).status,
          (await bad()).status,
          (await badCookie()).status,
        ]).toEqual([401, 401, 401, 401]);
        const over = await bad();
        expect({
          status: over.status,
          after: over.headers.get('retry-after'),
          retry: over.headers.get('x-should-retry'),
        }).toEqual({ status: 429, after: expect.stringMatching(/^\d+$/), retry: 'false' });
        expect((await badCookie()).status).toBe(429);
        const page = await signIn(strict);
        const { headers } = await page.api('GET', '/session');
        // signing in took one
        expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['20', '18']);
        let last = 200;
        for (let left = 18; left >= 0; left -= 1) last = (await page.api('GET', '/session')).status;
        expect(last).toBe(429);
        expect((await askToSignIn(strict, { api_key: strict.adminKey })).status).toBe(429);
      } finally {
        await strict.stop();
      }
    },
  );
});

describe('stored bytes', () => {
  it('are downloads for a browser that is signed in, and no pages', async () => {
    const { cookie } = await signIn(service);
    await deliver(service.ingressUrl('ours', 'orders'), TOKEN, { text: '<script>alert(1)</script>' });
    const [delivery] = (
      await service.api('GET', `/factory/${ours}/webhooks/${service.webhookUid('ours', 'orders')}/deliveries`)
    ).body['deliveries'] as { payload_url: string }[];
    const runId = await startedRun(service, 'cd "$MILLWRIGHT_ARTIFACTS"; echo "<script>alert(1)</script>" >page.html');
    const [artifact] = (await runIn(service, runId, ...ENDED))['artifacts'] as { data: { download_url: string } }[];
    for (const url of [delivery?.payload_url, artifact?.data.download_url]) {
      // As a browser that follows a link asks.
      const answer = await fetch(String(url), {
        headers: {
          cookie,
          accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
          'sec-fetch-site': 'same-origin',
        },
      });
      expect(
        Object.fromEntries(
          [
            'content-type',
            'content-disposition',
            'content-security-policy',
            'x-content-type-options',
            'cache-control',
          ].map((name) => [name, answer.headers.get(name)]),
        ),
      ).toEqual({
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(/^attachment; /),
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(await answer.text()).toContain('<script>');
    }
  });
});

describe('nothing of a session', () => {
  it('is in the log, in the audit trail or in the database, but a digest', async () => {
    const key = await makeKey(service, 'admin');
    const page = await signIn(service, key);
    await askToSignIn(service, { api_key: `${key}x` });
    await withCookie(`${page.cookie}; ${page.cookie}`);
    await page.api('PUT', '/secrets/logged', { value: 'long-enough-value' }, { 'x-csrf-token': 'wrong' });
    const { id: keyId } = (await page.api('GET', '/session')).body['key'] as { id: string };
    await page.api('DELETE', '/session');
    const trail = (await service.api('GET', `/audit?subject=${keyId}`)).body['entries'] as Record<string, unknown>[];
    expect(trail.map(({ action, details }) => ({ action, details }))).toEqual([
      { action: 'session.delete', details: {} },
      { action: 'session.create', details: {} },
    ]);
    expect(trail[1]).toMatchObject({ key_id: keyId, principal: { display_name: 'the admin' }, address: '127.0.0.1' });

    const { source } = service.service.database;
    const stored = JSON.stringify(
      [
        await source.query('SELECT * FROM audit_entry'),
        await source.query('SELECT * FROM browser_session'),
        await source.query('SELECT * FROM idempotency'),
      ],
      (_, value: unknown) => (Buffer.isBuffer(value) ? value.toString('latin1') : value),
    );
    const secrets = [key, page.csrf, page.cookie.split('=')[1] ?? ''];
    for (const secret of secrets)
      expect({ isLogged: service.logged.join('').includes(secret), isStored: stored.includes(secret) }).toEqual({
        isLogged: false,
        isStored: false,
      });
    const lines = service.logged.filter((line) => line.includes(keyId));
    expect(lines.some((line) => line.includes('"route":"/api/v1/session"') && line.includes('"method":"POST"'))).toBe(
      true,
    );
  });
});
