/** Keys that tokens of build servers are exchanged for, by a real service and an issuer of ours. contract §2.4. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import type { CliIo } from '../command.ts';
import { connectLasting } from './lasting-connection.ts';
import { sendJson, startTokenIssuer, type TokenIssuer } from '../../../test/support/services/token-issuer.ts';

let service: TestService;
let issuer: TokenIssuer;
/** What hands out tokens to jobs of GitHub, and what it was asked. */
let actions: Server;
let asked: IncomingMessage[];
let audienceOf: (audience: string | null) => unknown;
let folder: string;

beforeAll(async () => {
  issuer = await startTokenIssuer('');
  service = await bootService({
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_OIDC_PRIVATE_HOSTS: new URL(issuer.url).host },
  });
  actions = createServer((request, response) => {
    asked.push(request);
    const audience = new URL(request.url ?? '', 'http://localhost').searchParams.get('audience');
    void issuer.token({ aud: audienceOf(audience) }).then((value) => sendJson(response, { count: 1, value }));
  });
  await new Promise<void>((resolve) => actions.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  actions.closeAllConnections();
  await new Promise((resolve) => actions.close(resolve));
  await service.stop();
  await issuer.stop();
});

beforeEach(() => {
  [asked, audienceOf] = [[], (audience) => audience];
  folder = mkdtempSync(join(tmpdir(), 'exchanged-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const inActions = (): Record<string, string> => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(actions.address() as AddressInfo).port}/token?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
});

function run(argv: readonly string[], environment: Record<string, string> = {}): Promise<Call> {
  const home = { MILLWRIGHT_CONFIG: join(folder, 'config.json'), MILLWRIGHT_DATA_DIR: join(folder, 'none') };
  return call(argv, { cwd: folder, environment: { MILLWRIGHT_SERVER: service.url, ...home, ...environment } });
}

const asAdmin = (...argv: string[]): Promise<Call> => run(argv, { MILLWRIGHT_API_KEY: service.adminKey });

/** Makes a federated credential of this issuer with these claims. */
function makeCredential(name: string, issuerName: string, ...claims: string[]): Promise<Call> {
  const rule = ['--issuer', issuerName, '--audience', service.url, '--role', 'viewer'];
  return asAdmin('federation', 'create', name, ...rule, ...claims.flatMap((claim) => ['--claim', claim]));
}

describe('federated credentials', () => {
  it('are made, listed, changed and deleted by name', async () => {
    const made = await makeCredential('ci', issuer.url, 'repository=acme/other', 'repository=acme/factory');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
    expect((await asAdmin('federation', 'list')).out).toContain('repository=acme/other|acme/factory');
    expect(await asAdmin('federation', 'update', 'ci')).toMatchObject({ code: 64 });
    expect((await asAdmin('federation', 'update', 'ci', '--role', 'operator')).err).toContain('changed: ci, operator');
    expect((await asAdmin('federation', 'delete', 'ci')).code).toBe(0);
    expect((await asAdmin('federation', 'delete', 'ci')).code).toBe(5);
    expect((await asAdmin('federation', 'list', '-o', 'json')).out).toContain('"federated_credentials": []');
  });

  it('of all of GitHub are refused', async () => {
    const { code, err } = await makeCredential('all', 'github', 'ref=refs/heads/main');
    expect([code, err]).toEqual([1, expect.stringContaining('signs tokens for everybody')]);
  });
});

describe('a job without a key', () => {
  beforeAll(async () => {
    await makeCredential('job', issuer.url, 'repository=acme/factory');
  });

  it('of GitHub asks for a token for this service, and uses a key of it', async () => {
    const { code, out } = await run(['keys', 'current'], inActions());
    expect([code, out]).toEqual([0, expect.stringContaining('viewer of all factories')]);
    expect(asked.map(({ url }) => url)).toEqual([
      `/token?api-version=2.0&audience=${encodeURIComponent(new URL(service.url).origin)}`,
    ]);
    expect(asked[0]?.headers.authorization).toBe('Bearer of-the-runner');
  });

  it('with a token in MILLWRIGHT_ID_TOKEN uses a key of it, once, or for ten minutes after a login', async () => {
    const environment = { MILLWRIGHT_ID_TOKEN: await issuer.token({ aud: service.url }) };
    expect(await run(['login', 'here', '--oidc', '--server', service.url], environment)).toMatchObject({ code: 0 });
    for (let time = 0; time < 2; time += 1) expect((await run(['keys', 'current'], environment)).code).toBe(0);
    const again = await run(['keys', 'current'], { ...environment, MILLWRIGHT_CONFIG: join(folder, 'other.json') });
    expect(again.code).toBe(6);
  });

  it('uses the key that it is given rather than a token', async () => {
    const { out } = await run(['keys', 'current'], { ...inActions(), MILLWRIGHT_API_KEY: service.adminKey });
    expect(out).toContain('admin of all factories');
    expect(asked).toEqual([]);
  });

  it('asks for a plan, and for what files refer to, and waits by a key of a token', async () => {
    await service.factory('main', { kind: 'directory', path: '/nowhere' });
    for (const argv of [
      ['plan', folder],
      ['wait', 'main', '--revision', 'abcdef0', '--timeout', '1'],
      ['validate', folder, '--server', service.url],
    ]) {
      asked = [];
      const { err } = await run(argv, inActions());
      expect([argv[0], asked.length, err]).toEqual([argv[0], 1, expect.not.stringContaining('API key is needed')]);
    }
  });

  it('waits longer than its key lasts, by another token', async () => {
    const exchanged: string[] = [];
    const seen: (string | undefined)[] = [];
    const short = createServer((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url?.endsWith('/token-exchange') !== true)
        return sendJson(response, { factories: [], page_info: { has_next_page: false } });
      exchanged.push(`mw_${String(exchanged.length).repeat(43)}`);
      sendJson(response, { access_token: exchanged.at(-1), expires_in: 60 });
    });
    await new Promise<void>((resolve) => short.listen(0, '127.0.0.1', resolve));
    const server = `http://127.0.0.1:${(short.address() as AddressInfo).port}`;
    try {
      for (const [environment, keys] of [
        [inActions(), 3],
        [{ MILLWRIGHT_ID_TOKEN: await issuer.token({}) }, 1],
      ] as const) {
        exchanged.splice(0);
        seen.splice(0);
        const connected = await connectLasting({ server }, { cwd: folder, environment } as unknown as CliIo);
        for (let call = 0; call < 2; call += 1) await (await connected()).factories.list();
        expect(exchanged).toHaveLength(keys);
        expect(seen.at(-1)).toBe(`Bearer ${exchanged.at(-1)}`);
      }
    } finally {
      short.closeAllConnections();
      await new Promise((resolve) => short.close(resolve));
    }
  });

  it('learns whose token was refused, and nothing of it is printed', async () => {
    audienceOf = () => 'https://other.example';
    const { code, out, err } = await run(['keys', 'current'], inActions());
    expect([code, out]).toEqual([6, '']);
    expect(err).toContain('does not exchange the token of GitHub Actions');
    expect(err).toContain('aud: "https://other.example"');
    expect(err).not.toMatch(/ey[A-Za-z0-9_-]{20}/);
  });

  it('with something else than a token says so, without its text', async () => {
    const { code, err } = await run(['keys', 'current'], { MILLWRIGHT_ID_TOKEN: 'hunter2' });
    expect([code, err]).toEqual([6, expect.stringContaining('MILLWRIGHT_ID_TOKEN is no signed token')]);
    expect(err).not.toContain('hunter2');
    expect(await run(['login', 'x', '--oidc', '--server', service.url])).toMatchObject({
      code: 64,
      err: expect.stringContaining('there is no token here'),
    });
  });
});
