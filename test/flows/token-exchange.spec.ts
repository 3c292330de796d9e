/** Tokens of a build server for keys that last ten minutes, over HTTP. contract §2.4. */
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { FederatedCredentialStore } from '../support/services/built-service.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/services/token-issuer.ts';

const AUDIENCE = 'https://millwright.example';
const MINUTE_MS = 60_000;
let nowMs = Date.now();
let service: TestService;
let issuer: TokenIssuer;
let credential: string;
let address = 0;

beforeAll(async () => {
  issuer = await startTokenIssuer(AUDIENCE, () => nowMs);
  service = await bootService({
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
      MILLWRIGHT_OIDC_PRIVATE_HOSTS: new URL(issuer.url).host,
    },
    nowMs: () => nowMs,
  });
  credential = String((await create()).body['id']);
});

afterAll(async () => {
  await service.stop();
  await issuer.stop();
});

const create = (more: Record<string, unknown> = {}): Promise<ApiAnswer> =>
  service.api('POST', '/federated-credentials', {
    name: 'factory repository',
    issuer: issuer.url,
    audience: AUDIENCE,
    claims: { repository: ['acme/factory', 'acme/other'] },
    role: 'viewer',
    ...more,
  });

/** Each from an address of its own, so that no budget is spent. */
async function exchange(token: string, from = `192.0.2.${(address = (address % 250) + 1)}`): Promise<ApiAnswer> {
  const answer = await fetch(`${service.url}/api/v1/token-exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as ApiAnswer['body'] };
}

const current = (key: unknown): Promise<ApiAnswer> => service.api('GET', '/api-keys/current', undefined, String(key));
const lastRule = (): unknown =>
  service.logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .findLast(({ message }) => message === 'token exchange refused')?.['rule'];

describe('a federated credential', () => {
  it('is shown as it was made, and its making is written down', async () => {
    const shown = await service.api('GET', `/federated-credentials/${credential}`);
    expect(shown.body).toMatchObject({
      issuer: issuer.url,
      audience: AUDIENCE,
      claims: { repository: ['acme/factory', 'acme/other'] },
      role: 'viewer',
      factories: null,
      principal: { type: 'service_account', display_name: 'factory repository' },
    });
    const { body } = await service.api('GET', `/audit?subject=${credential}`);
    expect(body['entries']).toMatchObject([
      { action: 'federated_credential.create', details: { claims: ['repository=acme/factory|acme/other'] } },
    ]);
  });

  it.each([
    ['an admin', { role: 'admin' }, '/role'],
    ['no claim', { claims: {} }, '/claims'],
    ['a claim with a place of its own', { claims: { aud: ['x'] } }, '/claims/aud'],
    ['everybody on GitHub', githubOf({ ref: ['refs/heads/main'] }), '/claims'],
    ['plain http', { issuer: 'http://ci.example' }, '/issuer'],
    ['another spelling', { issuer: 'https://CI.example' }, '/issuer'],
    ['no such factory', { factories: ['fac_00000000000000000000000000'] }, '/factories/0'],
  ])('is refused for %s', async (_what, more, pointer) => {
    const { status, body } = await create(more);
    expect([status, (body['errors'] as { pointer: string }[]).map((error) => error.pointer)]).toEqual([400, [pointer]]);
  });

  it('is for admins alone', async () => {
    const { body } = await exchange(await issuer.token());
    const answers = await Promise.all([
      service.api('GET', '/federated-credentials', undefined, String(body['access_token'])),
      service.api('DELETE', `/federated-credentials/${credential}`, undefined, String(body['access_token'])),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });
});

function githubOf(claims: object): Record<string, unknown> {
  return { issuer: 'https://token.actions.githubusercontent.com', claims };
}

describe('a token', () => {
  it('is exchanged for a key of the role, for ten minutes, that no cache keeps', async () => {
    const { status, headers, body } = await exchange(await issuer.token());
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^mw_[A-Za-z0-9_-]{43}$/),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 600,
        scope: 'viewer',
        api_key_id: expect.any(String),
        federated_credential_id: credential,
      },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await current(body['access_token'])).body).toMatchObject({
      name: 'repo:acme/factory:ref:refs/heads/main',
      role: 'viewer',
      principal: { display_name: 'factory repository' },
      federated_credential_id: credential,
    });
    const audit = await service.api('GET', `/audit?subject=${String(body['api_key_id'])}`);
    expect(audit.body['entries']).toMatchObject([
      { action: 'api_key.exchange', details: { subject: 'repo:acme/factory:ref:refs/heads/main', issuer: issuer.url } },
    ]);
  });

  it('is exchanged once, also when two ask at once', async () => {
    const token = await issuer.token();
    const answers = await Promise.all([1, 2, 3].map(() => exchange(token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    expect(lastRule()).toBe('replayed');
  });

  it('that several federated credentials are for names one of them', async () => {
    const second = String((await create({ name: 'second', claims: { repository: ['acme/other'] } })).body['id']);
    const token = await issuer.token({ repository: 'acme/other' });
    expect([(await exchange(token)).status, lastRule()]).toEqual([401, 'ambiguous']);
    expect((await service.api('DELETE', `/federated-credentials/${second}`)).status).toBe(204);
    expect((await exchange(token)).status).toBe(200);
  });

  it('is refused with the same words whatever is wrong, and none of it is in the log', async () => {
    const [wrongAudience, forged] = [await issuer.token({ aud: 'https://other.example' }), 'a.b.c'];
    const [one, two] = [await exchange(wrongAudience), await exchange(forged)];
    expect([one.status, two.status]).toEqual([401, 401]);
    expect(one.body['detail']).toBe(two.body['detail']);
    const log = service.logged.join('');
    for (const part of wrongAudience.split('.')) expect(log).not.toContain(part);
  });
});

describe('a key of a token', () => {
  const made = async (): Promise<Record<string, unknown>> => (await exchange(await issuer.token())).body;

  it('ends after ten minutes, and vanishes then', async () => {
    const { access_token: key, api_key_id: id } = await made();
    nowMs += 10 * MINUTE_MS - 1;
    expect((await current(key)).status).toBe(200);
    nowMs += 1;
    expect((await current(key)).status).toBe(401);
    await service.service.app.get(FederatedCredentialStore).prune();
    expect((await service.api('GET', `/api-keys/${String(id)}`)).status).toBe(404);
  });

  it('is neither prolonged nor rotated', async () => {
    const { api_key_id: id } = await made();
    const answers = await Promise.all([
      service.api('PATCH', `/api-keys/${String(id)}`, { expires_at: null }),
      service.api('POST', `/api-keys/${String(id)}/rotate`, {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
    expect((await service.api('DELETE', `/api-keys/${String(id)}`)).status).toBe(204);
  });

  it('ends when its federated credential changes in more than its name, and when that is deleted', async () => {
    const { body } = await create({ name: 'of a day', claims: { repository: ['acme/day'] } });
    const path = `/federated-credentials/${String(body['id'])}`;
    const key = async (): Promise<unknown> =>
      (await exchange(await issuer.token({ repository: 'acme/day' }))).body['access_token'];
    const first = await key();
    expect((await service.api('PATCH', path, { name: 'of a week' })).status).toBe(200);
    expect((await current(first)).status).toBe(200);
    expect((await service.api('PATCH', path, { role: 'operator' })).status).toBe(200);
    expect((await current(first)).status).toBe(401);
    const second = await key();
    expect((await current(second)).body['role']).toBe('operator');
    expect((await service.api('DELETE', path)).status).toBe(204);
    expect((await current(second)).status).toBe(401);
    expect((await service.api('GET', path)).status).toBe(404);
  });
});

it('an address may exchange sixty tokens a minute', async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 61; at += 1) statuses.push((await exchange('a.b.c', '198.51.100.9')).status);
  expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 401));
  expect(statuses[60]).toBe(429);
  expect((await exchange(await issuer.token(), '198.51.100.10')).status).toBe(200);
});
