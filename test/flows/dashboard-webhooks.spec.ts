/**
 * Webhooks of a factory that is managed over the API: made, delivered to, rotated, switched, deleted. spec: Webhook
 * management; contract §2, §4, §5.8 (Transaction).
 */
import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let mill: TestService;
let factory: string;
let manager: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  factory = await dashboardFactory('shop');
  manager = await makeKey(mill, 'manager', { factories: [factory] });
});

afterAll(() => mill.stop());

async function dashboardFactory(slug: string): Promise<string> {
  const answer = await mill.api('POST', '/factory', { slug, source: { kind: 'dashboard' } });
  expect(answer).toMatchObject({ status: 200, body: { definitions_managed: false, source: { kind: 'dashboard' } } });
  return String(answer.body['uid']);
}

interface Hook {
  uid: string;
  slug: string;
  name: string;
  ingress_url: string;
  secret_name: string;
  secret_set: boolean;
  enabled: boolean;
  version: number;
  revision: string;
  file: null;
  secret?: string;
  url?: string;
  rotated?: { uid: string; name: string; ingress_url: string; url?: string }[];
}

const path = (uid = ''): string => `/factory/${factory}/webhooks${uid === '' ? '' : `/${uid}`}`;
const create = (body: object, key = manager): Promise<ApiAnswer> => mill.api('POST', path(), body, key);
const patch = (uid: string, body: object): Promise<ApiAnswer> => mill.api('PATCH', path(uid), body, manager);
const rotate = (uid: string, body?: object, key = manager): Promise<ApiAnswer> =>
  mill.api('POST', `${path(uid)}/rotate`, body, key);
const remove = (uid: string): Promise<ApiAnswer> => mill.api('DELETE', path(uid), undefined, manager);
const errorsOf = ({ body }: ApiAnswer): { pointer: string; message: string }[] =>
  body['errors'] as { pointer: string; message: string }[];

async function made(body: object): Promise<Hook> {
  const answer = await create(body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as unknown as Hook;
}

let unique = 0;
async function send(
  url: string,
  headers: Record<string, string> = {},
  body = `{"n": ${(unique += 1)}}`,
): Promise<number> {
  return (await fetch(url, { method: 'POST', headers, body })).status;
}
const bearer = (secret: string | undefined): Record<string, string> => ({ authorization: `Bearer ${secret ?? ''}` });
const github = (secret: string, body: string): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

async function runsOf(
  webhookUid: string,
): Promise<{ title: string; prompt: string; agent_config: { name?: string }; metadata: Record<string, string> }[]> {
  return (await mill.api('GET', `/agent/runs?webhook_uid=${webhookUid}`)).body['runs'] as never;
}

async function automationOn(...uids: string[]): Promise<void> {
  const answer = await mill.api(
    'POST',
    `/factory/${factory}/automations`,
    { name: 'Act', triggers: [{ provider: 'webhook', webhook_uids: uids }], prompt: 'Act on it.' },
    manager,
  );
  expect(answer).toMatchObject({ status: 200 });
}

describe('a new webhook', () => {
  it('of the default mode has a bearer token that is shown once and starts a run', async () => {
    const hook = await made({ name: 'Orders (EU)', description: 'From the shop.' });
    expect(hook).toMatchObject({
      slug: 'orders-eu',
      name: 'Orders (EU)',
      description: 'From the shop.',
      auth_mode: 'token',
      signature_scheme: null,
      secret_name: 'orders-eu-webhook',
      secret_set: true,
      enabled: true,
      version: 1,
      file: null,
      ingress_url: `${mill.url}/webhooks/w/${hook.uid}`,
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      uid: mill.webhookUid('shop', 'orders-eu'),
      revision: expect.stringMatching(/^dashboard@\d+$/),
    });
    expect(hook.url).toBeUndefined();
    await automationOn(hook.uid);
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(202);
    expect(await send(hook.ingress_url, bearer(`${hook.secret}x`))).toBe(401);
    const [run] = await runsOf(hook.uid);
    expect([run?.title, run?.agent_config.name]).toEqual(['Act · Act on it.', 'Act']);
    expect(run?.prompt).toContain('Webhook: "Orders (EU)"');
    expect(run?.metadata['definition_revision']).toMatch(/^dashboard@\d+$/);
    const looked = await mill.api('GET', path(hook.uid));
    expect(looked.headers.get('etag')).toBe('"1"');
    expect(looked.body).toMatchObject({
      last_delivery_at: expect.any(String),
      used_by_automations: [{ slug: 'act', name: 'Act', enabled: true }],
    });
    expect(Object.keys(looked.body)).not.toContain('secret');
  });

  it('with a URL token has its full URL in that answer only', async () => {
    const hook = await made({ name: 'in-url', auth_mode: 'url_token', delivery_id_header: 'X-Event-Id' });
    expect(hook.url).toBe(hook.ingress_url.replace('{token}', hook.secret ?? ''));
    expect(hook).toMatchObject({
      ingress_url: `${mill.url}/webhooks/w/${hook.uid}/{token}`,
      delivery_id_header: 'x-event-id',
    });
    const answer = await fetch(hook.url ?? '', { method: 'POST', headers: { 'x-event-id': 'evt-1' }, body: '{}' });
    expect([answer.status, await answer.json()]).toEqual([202, { delivery_id: 'evt-1' }]);
    expect(await send(hook.ingress_url)).toBe(401);
    expect((await mill.api('GET', path(hook.uid))).body['ingress_url']).toBe(hook.ingress_url);
  });

  it('may accept each signed body once, until somebody says otherwise; a mode without signatures may not', async () => {
    const hook = await made({
      name: 'Captured',
      auth_mode: 'signature',
      signature_scheme: 'github',
      secret: 'signing-secret-of-once',
      replay_protection: 'body',
    });
    expect(hook).toMatchObject({ enabled: true, replay_protection: 'body' });
    const body = '{"once": true}';
    const outcomes = async (...ids: string[]): Promise<unknown[]> => {
      for (const id of ids)
        await send(hook.ingress_url, { ...github('signing-secret-of-once', body), 'x-github-delivery': id }, body);
      const { deliveries } = (await mill.api('GET', `${path(hook.uid)}/deliveries`)).body;
      return (deliveries as { outcome: string }[]).map(({ outcome }) => outcome);
    };
    expect(await outcomes('1', '2')).toEqual(['Duplicate', 'Accepted']);
    const change = (patch: unknown): Promise<ApiAnswer> => mill.api('PATCH', path(hook.uid), patch, manager);
    expect((await change({ replay_protection: null })).body).toMatchObject({ replay_protection: null });
    expect(await outcomes('3')).toEqual(['Accepted', 'Duplicate', 'Accepted']);
    expect((await change({ replay_protection: 'body' })).body).toMatchObject({ replay_protection: 'body' });
    for (const refused of [{ replay_protection: 'id' }, { replay_protection: 'body', auth_mode: 'token' }])
      expect(await change(refused)).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/replay_protection' }] },
      });
    const answer = await mill.api(
      'POST',
      `/factory/${factory}/webhooks`,
      { name: 'x', replay_protection: 'body' },
      manager,
    );
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/replay_protection' }] } });
    expect((await change({ auth_mode: 'token' })).body).toMatchObject({
      signature_scheme: null,
      replay_protection: null,
    });
    await remove(hook.uid);
  });

  it('for Standard Webhooks has a secret that its own library takes', async () => {
    const hook = await made({ name: 'standard', auth_mode: 'signature', signature_scheme: 'standard_webhooks' });
    expect(hook).toMatchObject({ enabled: true, secret: expect.stringMatching(/^whsec_/) });
    const now = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new StandardWebhook(hook.secret ?? '').sign('msg_1', now, '{"a":1}'),
    };
    expect(await send(hook.ingress_url, headers, '{"a":1}')).toBe(202);
    expect(await send(hook.ingress_url, { ...headers, 'webhook-id': 'msg_2' }, '{"a":1}')).toBe(401);
  });

  it('for a provider takes the provider’s secret and does not repeat it', async () => {
    const secret = 'whsec_of-the-provider';
    const hook = await made({ name: 'Payments', auth_mode: 'signature', signature_scheme: 'stripe', secret });
    expect(hook).toMatchObject({ enabled: true, secret_set: true });
    expect([hook.secret, JSON.stringify(hook).includes(secret)]).toEqual([undefined, false]);
    const header = Stripe.webhooks.generateTestHeaderString({ payload: '{"id":"evt_1"}', secret });
    expect(await send(hook.ingress_url, { 'stripe-signature': header }, '{"id":"evt_1"}')).toBe(202);
  });

  it('for a provider without its secret waits disabled until it is finished', async () => {
    const hook = await made({ name: 'Hub', auth_mode: 'signature', signature_scheme: 'github' });
    expect(hook).toMatchObject({ enabled: false, secret_set: false, secret_name: 'hub-webhook' });
    expect([hook.secret, await send(hook.ingress_url)]).toEqual([undefined, 404]);
    expect(await patch(hook.uid, { enabled: true })).toMatchObject({
      status: 409,
      body: { error: 'conflict', retryable: false, rule: 'secret-unset', errors: [{ pointer: '/enabled' }] },
    });
    const rotated = await rotate(hook.uid, { secret: 'now it is known' });
    expect(rotated).toMatchObject({ status: 200, body: { enabled: false, secret_set: true } });
    expect(rotated.body['secret']).toBeUndefined();
    expect(await patch(hook.uid, { enabled: true })).toMatchObject({ status: 200, body: { enabled: true } });
    expect(await send(hook.ingress_url, github('now it is known', '{"h":1}'), '{"h":1}')).toBe(202);
  });

  it('may be finished by setting the secret as well', async () => {
    const hook = await made({ name: 'Hub later', auth_mode: 'signature', signature_scheme: 'github' });
    expect(
      (await mill.api('PUT', `/factory/${factory}/secrets/${hook.secret_name}`, { value: 'set by its name' }, manager))
        .status,
    ).toBe(200);
    expect(await patch(hook.uid, { enabled: true })).toMatchObject({
      status: 200,
      body: { enabled: true, secret_set: true },
    });
    expect(await send(hook.ingress_url, github('set by its name', '{"l":1}'), '{"l":1}')).toBe(202);
  });

  it('reuses a secret that exists, and does not show it', async () => {
    await mill.secret('team-token', 'the-token-of-the-team');
    const hook = await made({ name: 'Reusing', auth_mode: 'url_token', secret_name: 'team-token' });
    expect([hook.secret, hook.url, hook.secret_set]).toEqual([undefined, undefined, true]);
    expect(await send(hook.ingress_url.replace('{token}', 'the-token-of-the-team'))).toBe(202);
    const own = await made({ name: 'Named', secret_name: 'my-own-name' });
    expect(own.secret).toMatch(/^[\w-]{43}$/);
    const sharing = await made({ name: 'Sharing', secret_name: 'my-own-name' });
    expect(sharing.secret).toBeUndefined();
    expect(await send(sharing.ingress_url, bearer(own.secret))).toBe(202);
    for (const { uid } of [hook, own, sharing]) await remove(uid);
  });

  it.each<{ why: string; body: object; status: number; pointers?: string[]; message: RegExp }>([
    { why: 'no name', body: {}, status: 400, pointers: ['/name'], message: /name/ },
    { why: 'a name of two lines', body: { name: 'a\nb' }, status: 400, pointers: ['/name'], message: /one line/ },
    { why: 'a name that nobody sees', body: { name: ' ' }, status: 400, pointers: ['/name'], message: /visible/ },
    {
      why: 'an unknown mode',
      body: { name: 'x', auth_mode: 'basic' },
      status: 400,
      pointers: ['/auth_mode'],
      message: /token, url_token, signature/,
    },
    {
      why: 'no scheme',
      body: { name: 'x', auth_mode: 'signature' },
      status: 400,
      pointers: ['/signature_scheme'],
      message: /scheme/i,
    },
    {
      why: 'a scheme for nothing',
      body: { name: 'x', signature_scheme: 'github' },
      status: 400,
      pointers: ['/signature_scheme'],
      message: /signature/,
    },
    {
      why: 'an unknown scheme',
      body: { name: 'x', auth_mode: 'signature', signature_scheme: 'gitub', secret: 'long enough' },
      status: 400,
      pointers: ['/signature_scheme'],
      message: /did you mean "github"/,
    },
    {
      why: 'a scheme that is not served',
      body: { name: 'x', auth_mode: 'signature', signature_scheme: 'slack', secret: 'long enough' },
      status: 400,
      pointers: ['/signature_scheme'],
      message: /handshake/,
    },
    {
      why: 'a header of credentials',
      body: { name: 'x', delivery_id_header: 'Authorization' },
      status: 400,
      pointers: ['/delivery_id_header'],
      message: /^delivery_id_header .*credential/,
    },
    {
      why: 'a header that is none',
      body: { name: 'x', delivery_id_header: 'a b' },
      status: 400,
      pointers: ['/delivery_id_header'],
      message: /header/,
    },
    {
      why: 'a secret that cannot be a token',
      body: { name: 'x', secret: 'Marker 4711 has spaces' },
      status: 400,
      pointers: ['/secret'],
      message: /16 to 512/,
    },
    {
      why: 'a secret that cannot be in a URL',
      body: { name: 'x', auth_mode: 'url_token', secret: 'Marker/4711/of-length' },
      status: 400,
      pointers: ['/secret'],
      message: /URL/,
    },
    {
      why: 'a secret that is no whsec_',
      body: { name: 'x', auth_mode: 'signature', signature_scheme: 'standard_webhooks', secret: 'Marker-4711' },
      status: 400,
      pointers: ['/secret'],
      message: /whsec_/,
    },
    {
      why: 'several at once',
      body: {
        name: 'x',
        auth_mode: 'signature',
        signature_scheme: 'slack',
        secret: 'Mark',
        delivery_id_header: 'Cookie',
      },
      status: 400,
      pointers: ['/delivery_id_header', '/secret', '/signature_scheme'],
      message: /./,
    },
    {
      why: 'a value for a secret that exists',
      body: { name: 'x', secret_name: 'existing', secret: 'Marker-4711-of-length' },
      status: 409,
      message: /exists: leave out secret/,
    },
    {
      why: 'an existing secret that does not fit',
      body: { name: 'x', auth_mode: 'url_token', secret_name: 'existing' },
      status: 400,
      pointers: ['/secret_name'],
      message: /^secret_name "existing".*URL-safe/,
    },
    {
      why: 'enabled on a secret without a value',
      body: { name: 'x', secret_name: 'declared', enabled: true },
      status: 409,
      message: /no value yet/,
    },
    {
      why: 'a secret that the factory keeps for its runs',
      body: { name: 'x', secret_name: 'RUN_ONLY' },
      status: 409,
      message: /not granted for webhooks/,
    },
  ])('is refused: $why', async ({ body, status, pointers, message }) => {
    await mill.secret('existing', 'not/url-safe/of-length');
    await mill.api('PUT', `/factory/${factory}/secrets/declared`, {}, manager);
    await mill.api(
      'PUT',
      `/factory/${factory}/secrets/RUN_ONLY`,
      { value: 'a value of a run', grants: { uses: ['run'] } },
      manager,
    );
    const before = await mill.api('GET', path());
    const secretsBefore = (await mill.api('GET', `/factory/${factory}/secrets?limit=500`, undefined, manager)).body;
    const answer = await create(body);
    expect(answer.status).toBe(status);
    if (pointers !== undefined)
      expect([...new Set(errorsOf(answer).map(({ pointer }) => pointer))].toSorted()).toEqual(pointers);
    expect([String(answer.body['detail']), ...errorsOf(answer).map((error) => error.message)].join('\n')).toMatch(
      message,
    );
    expect(JSON.stringify(answer.body)).not.toMatch(/Marker|Mark\b/);
    expect((await mill.api('GET', path())).body).toEqual(before.body);
    expect((await mill.api('GET', `/factory/${factory}/secrets?limit=500`, undefined, manager)).body).toEqual(
      secretsBefore,
    ); // nothing half-done
  });

  it('does not tell a secret that is not granted from one that is not there', async () => {
    await mill.api('PUT', '/secrets/not-ours', { value: 'for-other-factories-only', grants: { factories: [] } });
    const hook = await made({ name: 'Same name', secret_name: 'not-ours' });
    expect(hook.secret).toMatch(/^[\w-]{43}$/);
    expect([
      await send(hook.ingress_url, bearer('for-other-factories-only')),
      await send(hook.ingress_url, bearer(hook.secret)),
    ]).toEqual([401, 202]);
    await remove(hook.uid);
  });

  it('gets a slug of its own, and another secret, beside one of the same name', async () => {
    const [first, second] = [await made({ name: 'Twin' }), await made({ name: 'Twin' })];
    expect([first.slug, second.slug, first.secret_name, second.secret_name]).toEqual([
      'twin',
      'twin-2',
      'twin-webhook',
      'twin-2-webhook',
    ]);
    expect(await send(second.ingress_url, bearer(first.secret))).toBe(401);
    for (const { uid } of [first, second]) await remove(uid);
  });
});

describe('a webhook that is there', () => {
  it('is 404 while it is disabled, and keeps its history', async () => {
    const hook = await made({ name: 'Switched' });
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(202);
    expect(await patch(hook.uid, { enabled: false })).toMatchObject({
      status: 200,
      body: { enabled: false, version: 2, last_delivery_at: expect.any(String) },
    });
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(404);
    expect(await patch(hook.uid, { enabled: true })).toMatchObject({
      status: 200,
      body: { enabled: true, version: 3 },
    });
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(202);
    await remove(hook.uid);
  });

  it('is renamed without a new URL, and changed member by member', async () => {
    const hook = await made({ name: 'Before', description: 'x', delivery_id_header: 'X-One' });
    const after = await patch(hook.uid, { name: 'After', description: null, delivery_id_header: 'X-Two' });
    expect(after).toMatchObject({
      status: 200,
      body: {
        uid: hook.uid,
        slug: 'before',
        name: 'After',
        description: null,
        delivery_id_header: 'x-two',
        ingress_url: hook.ingress_url,
        version: 2,
      },
    });
    expect(after.headers.get('etag')).toBe('"2"');
    expect(await patch(hook.uid, { delivery_id_header: null })).toMatchObject({
      status: 200,
      body: { delivery_id_header: null, name: 'After' },
    });
    // nothing asked, nothing changed
    expect(await patch(hook.uid, {})).toMatchObject({ status: 200, body: { version: 3 } });
    expect(await patch(hook.uid, { enabled: true, name: 'After' })).toMatchObject({
      status: 200,
      body: { version: 3 },
    });
    await remove(hook.uid);
  });

  it('may change its mode where its secret fits', async () => {
    const hook = await made({ name: 'Moving' });
    expect(await patch(hook.uid, { auth_mode: 'url_token' })).toMatchObject({
      status: 200,
      body: { auth_mode: 'url_token', ingress_url: `${hook.ingress_url}/{token}` },
    });
    expect([
      await send(hook.ingress_url, bearer(hook.secret)),
      await send(`${hook.ingress_url}/${hook.secret}`),
    ]).toEqual([401, 202]);
    const refused = await patch(hook.uid, { auth_mode: 'signature', signature_scheme: 'standard_webhooks' });
    expect([refused.status, errorsOf(refused)]).toEqual([
      400,
      [expect.objectContaining({ pointer: '/secret_name', message: expect.stringContaining('whsec_') })],
    ]);
    expect(await patch(hook.uid, { auth_mode: 'signature', signature_scheme: 'github' })).toMatchObject({
      status: 200,
      body: { signature_scheme: 'github' },
    });
    expect(await patch(hook.uid, { auth_mode: 'token' })).toMatchObject({
      status: 200,
      body: { auth_mode: 'token', signature_scheme: null },
    });
    await remove(hook.uid);
  });

  it('can be disabled although its secret is gone, and is mended by a rotation', async () => {
    const hook = await made({ name: 'Orphan' });
    expect(
      (await mill.api('DELETE', `/factory/${factory}/secrets/${hook.secret_name}?force=true`, undefined, manager))
        .status,
    ).toBe(204);
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(401);
    expect(await patch(hook.uid, { name: 'Orphaned' })).toMatchObject({ status: 200, body: { secret_set: false } });
    expect(await patch(hook.uid, { enabled: false })).toMatchObject({ status: 200, body: { enabled: false } });
    const again = await patch(hook.uid, { enabled: true });
    expect([again.status, errorsOf(again)]).toEqual([400, [expect.objectContaining({ pointer: '/secret_name' })]]);
    const rotated = (await rotate(hook.uid)).body as unknown as Hook;
    expect(await patch(hook.uid, { enabled: true })).toMatchObject({ status: 200 });
    expect(await send(hook.ingress_url, bearer(rotated.secret))).toBe(202);
    await remove(hook.uid);
  });

  it('is changed only in the state that If-Match names', async () => {
    const hook = await made({ name: 'Versions' });
    const conditionally = async (method: string, target: string, ifMatch: string, body?: object): Promise<number> => {
      const answer = await fetch(`${mill.url}/api/v1${target}`, {
        method,
        headers: {
          authorization: `Bearer ${manager}`,
          'if-match': ifMatch,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body && JSON.stringify(body),
      });
      if (answer.status === 409)
        expect([answer.headers.get('x-should-retry'), await answer.json()]).toEqual([
          'false',
          expect.objectContaining({ error: 'conflict', retryable: false, version: 2 }),
        ]);
      return answer.status;
    };
    expect(await conditionally('PATCH', path(hook.uid), '"1"', { name: 'Second' })).toBe(200);
    expect(await conditionally('PATCH', path(hook.uid), '"1"', { name: 'Third' })).toBe(409);
    expect(await conditionally('POST', `${path(hook.uid)}/rotate`, '"1"', {})).toBe(409);
    expect(await conditionally('DELETE', path(hook.uid), '"1"')).toBe(409);
    expect(await conditionally('DELETE', path(hook.uid), 'nonsense')).toBe(400);
    expect(await conditionally('DELETE', path(hook.uid), 'W/"2"')).toBe(204);
  });

  it('is 404 when it is deleted; made again it has the same URL and another secret', async () => {
    const hook = await made({ name: 'Phoenix', delivery_id_header: 'X-Id' });
    expect(await send(hook.ingress_url, { ...bearer(hook.secret), 'x-id': 'first' })).toBe(202);
    expect(await remove(hook.uid)).toMatchObject({ status: 204 });
    expect([
      await send(hook.ingress_url, bearer(hook.secret)),
      (await mill.api('GET', path(hook.uid))).status,
      (await remove(hook.uid)).status,
      (await patch(hook.uid, { enabled: true })).status,
      (await rotate(hook.uid)).status,
    ]).toEqual([404, 404, 404, 404, 404]);
    const again = await made({ name: 'Phoenix', delivery_id_header: 'X-Id' });
    expect(again).toMatchObject({ uid: hook.uid, ingress_url: hook.ingress_url, version: 2 });
    expect([
      await send(hook.ingress_url, { ...bearer(hook.secret), 'x-id': 'second' }),
      await send(hook.ingress_url, { ...bearer(again.secret), 'x-id': 'first' }),
    ]).toEqual([401, 202]);
    const log = (await mill.api('GET', `${path(hook.uid)}/deliveries`)).body['deliveries'] as {
      outcome: string;
      delivery_id: string;
    }[];
    expect(log[0]).toMatchObject({ outcome: 'Duplicate', delivery_id: 'first' }); // what was accepted once stays so
    await remove(hook.uid);
  });
});

describe('a rotation', () => {
  it('makes the old secret worthless at once and shows the new one', async () => {
    const hook = await made({ name: 'Rotating', auth_mode: 'url_token' });
    const answer = await rotate(hook.uid);
    const rotated = answer.body as unknown as Hook;
    expect([answer.status, answer.headers.get('cache-control'), rotated.secret === hook.secret]).toEqual([
      200,
      'no-store',
      false,
    ]);
    expect(rotated).toMatchObject({
      url: hook.ingress_url.replace('{token}', rotated.secret ?? ''),
      rotated: [{ uid: hook.uid, name: 'Rotating', ingress_url: hook.ingress_url, url: rotated.url }],
    });
    expect([await send(hook.url ?? ''), await send(rotated.url ?? '')]).toEqual([401, 202]);
    const secret = await mill.api('GET', `/factory/${factory}/secrets/${hook.secret_name}`, undefined, manager);
    expect(secret.body).toMatchObject({ version: 2, set: true });
    await remove(hook.uid);
  });

  it('is refused to whoever saw the webhook before another rotation, also of a secret that it shares', async () => {
    const [one, two] = [
      await made({ name: 'Seen', secret_name: 'seen' }),
      await made({ name: 'Seen too', secret_name: 'seen' }),
    ];
    const rotateSeen = (uid: string, version: number): Promise<Response> =>
      fetch(`${mill.url}/api/v1${path(uid)}/rotate`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${manager}`,
          'if-match': `"${version}"`,
          'content-type': 'application/json',
        },
        body: '{}',
      });
    const [first, second, third] = [
      await rotateSeen(one.uid, 1),
      await rotateSeen(one.uid, 1),
      await rotateSeen(two.uid, 1),
    ];
    expect([first.status, second.status, third.status]).toEqual([200, 409, 409]);
    const shown = (await first.json()) as Hook;
    expect(shown.version).toBe(2);
    expect([
      await send(one.ingress_url, bearer(shown.secret)),
      await send(two.ingress_url, bearer(shown.secret)),
    ]).toEqual([202, 202]);
    for (const { uid } of [one, two]) await remove(uid);
  });

  it('moves every webhook that shares the secret in one step', async () => {
    const [one, two] = [
      await made({ name: 'One', secret_name: 'shared' }),
      await made({ name: 'Two', secret_name: 'shared', auth_mode: 'url_token' }),
    ];
    const other = await made({ name: 'Alone' });
    const rotated = (await rotate(one.uid)).body as unknown as Hook;
    expect(rotated.rotated?.map(({ uid }) => uid).toSorted()).toEqual([one.uid, two.uid].toSorted());
    expect(rotated.rotated?.find(({ uid }) => uid === two.uid)).toMatchObject({
      name: 'Two',
      ingress_url: two.ingress_url,
      url: two.ingress_url.replace('{token}', rotated.secret ?? ''),
    });
    expect([
      await send(one.ingress_url, bearer(one.secret)),
      await send(two.ingress_url.replace('{token}', one.secret ?? '')),
    ]).toEqual([401, 401]);
    expect([
      await send(one.ingress_url, bearer(rotated.secret)),
      await send(two.ingress_url.replace('{token}', rotated.secret ?? '')),
      await send(other.ingress_url, bearer(other.secret)),
    ]).toEqual([202, 202, 202]);
    for (const { uid } of [one, two, other]) await remove(uid);
  });

  it.each<{ why: string; hook: object; body: object | undefined; status: number; message: RegExp }>([
    {
      why: 'a provider’s scheme without the provider’s secret',
      hook: { auth_mode: 'signature', signature_scheme: 'github', secret: 'of the provider' },
      body: undefined,
      status: 400,
      message: /required/,
    },
    {
      why: 'a secret that is too short',
      hook: { auth_mode: 'signature', signature_scheme: 'github', secret: 'of the provider' },
      body: { secret: 'Marker' },
      status: 400,
      message: /at least 8/,
    },
    {
      why: 'a token that somebody chose',
      hook: {},
      body: { secret: 'Marker-4711-of-length' },
      status: 422,
      message: /generated/,
    },
    {
      why: 'a URL token that somebody chose',
      hook: { auth_mode: 'url_token' },
      body: { secret: 'Marker-4711-of-length' },
      status: 422,
      message: /generated/,
    },
    { why: 'a body of another shape', hook: {}, body: { secret: 1 }, status: 400, message: /string/ },
  ])('is refused and changes nothing: $why', async ({ hook: more, body, status, message }) => {
    const hook = await made({ name: 'Refusing', ...more });
    const answer = await rotate(hook.uid, body);
    expect([answer.status, errorsOf(answer)]).toEqual([
      status,
      [expect.objectContaining({ pointer: '/secret', message: expect.stringMatching(message) })],
    ]);
    expect(JSON.stringify(answer.body)).not.toContain('Marker');
    expect(
      (await mill.api('GET', `/factory/${factory}/secrets/${hook.secret_name}`, undefined, manager)).body,
    ).toMatchObject({ version: 1 });
    await remove(hook.uid);
  });

  it('takes a sender’s own Standard Webhooks secret too', async () => {
    const hook = await made({ name: 'Svix', auth_mode: 'signature', signature_scheme: 'standard_webhooks' });
    const secret = `whsec_${Buffer.from('a key of the sender, 24+ bytes').toString('base64')}`;
    const rotated = await rotate(hook.uid, { secret });
    expect([rotated.status, rotated.body['secret'], JSON.stringify(rotated.body).includes(secret)]).toEqual([
      200,
      undefined,
      false,
    ]);
    expect((await rotate(hook.uid)).body['secret']).toMatch(/^whsec_/);
    await remove(hook.uid);
  });

  it('of a team secret is an admin’s, and nobody’s where another factory uses it too', async () => {
    await mill.secret('of-the-team', 'the-first-team-token');
    const hook = await made({ name: 'Team', secret_name: 'of-the-team' });
    const refused = await rotate(hook.uid);
    expect(refused).toMatchObject({
      status: 403,
      body: { error: 'not_authorized', detail: expect.stringContaining('PUT /secrets/of-the-team') },
    });
    expect((await rotate(hook.uid, undefined, await makeKey(mill, 'admin', { factories: [factory] }))).status).toBe(
      403,
    );
    const rotated = await rotate(hook.uid, undefined, mill.adminKey);
    expect(rotated.status).toBe(200);
    expect(await send(hook.ingress_url, bearer(String(rotated.body['secret'])))).toBe(202);
    const elsewhere = await dashboardFactory('elsewhere');
    expect(
      (await mill.api('POST', `/factory/${elsewhere}/webhooks`, { name: 'there', secret_name: 'of-the-team' })).status,
    ).toBe(200);
    const shared = await rotate(hook.uid, undefined, mill.adminKey);
    expect(shared).toMatchObject({
      status: 409,
      body: { retryable: false, detail: expect.stringContaining('another factory') },
    });
    expect(JSON.stringify(shared.body)).not.toContain(elsewhere);
    await remove(hook.uid);
  });

  it('of a secret that webhooks of different kinds share is refused', async () => {
    const standard = await made({
      name: 'Std',
      auth_mode: 'signature',
      signature_scheme: 'standard_webhooks',
      secret_name: 'mixed',
      secret: `whsec_${Buffer.from('012345678901234567890123456789').toString('base64')}`,
    });
    const hub = await made({ name: 'Mixed', auth_mode: 'signature', signature_scheme: 'github', secret_name: 'mixed' });
    expect(await rotate(hub.uid, { secret: 'only good for github' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/secret', message: expect.stringContaining('webhook std cannot use it') }] },
    });
    const both = (await rotate(standard.uid)).body as unknown as Hook;
    expect(both.rotated).toHaveLength(2);
    expect(await send(hub.ingress_url, github(both.secret ?? '', '{"m":1}'), '{"m":1}')).toBe(202);
    for (const { uid } of [standard, hub]) await remove(uid);
  });
});

describe('twenty webhooks', () => {
  it('are the limit, however they come; deleted ones do not count', async () => {
    const full = await dashboardFactory('full');
    const key = await makeKey(mill, 'manager', { factories: [full] });
    const one = (name: string, more: object = {}): Promise<ApiAnswer> =>
      mill.api('POST', `/factory/${full}/webhooks`, { name, ...more }, key);
    for (let n = 1; n <= 19; n += 1) expect((await one(`hook ${n}`, { enabled: n % 2 === 0 })).status).toBe(200);
    const racing = await Promise.all([one('twentieth'), one('twenty-first'), one('twenty-second')]);
    expect(racing.map(({ status }) => status).toSorted()).toEqual([200, 422, 422]);
    const refused = racing.find(({ status }) => status === 422);
    expect(refused?.body).toMatchObject({
      error: 'operation_not_supported',
      retryable: false,
      detail: expect.stringContaining('20 webhooks'),
    });
    expect((await mill.api('GET', `/factory/${full}/webhooks`)).body['webhooks']).toHaveLength(20);
    const secrets = (await mill.api('GET', `/factory/${full}/secrets?limit=100`, undefined, key)).body[
      'secrets'
    ] as unknown[];
    expect(secrets).toHaveLength(20); // none of a webhook that was refused
    expect(
      (await mill.api('DELETE', `/factory/${full}/webhooks/${mill.webhookUid('full', 'hook-1')}`, undefined, key))
        .status,
    ).toBe(204);
    expect((await one('again')).status).toBe(200);
    expect((await one('and again')).status).toBe(422);
  });
});

describe('who may do it', () => {
  it('managers of the factory; to others there is nothing', async () => {
    const hook = await made({ name: 'Guarded' });
    const foreign = await makeKey(mill, 'manager', { factories: [await dashboardFactory('foreign')] });
    const viewer = await makeKey(mill, 'viewer', { factories: [factory] });
    const operator = await makeKey(mill, 'operator', { factories: [factory] });
    const requests: [method: string, target: string, body?: object][] = [
      ['POST', path(), { name: 'x' }],
      ['PATCH', path(hook.uid), { enabled: false }],
      ['POST', `${path(hook.uid)}/rotate`],
      ['DELETE', path(hook.uid)],
    ];
    for (const [method, target, body] of requests) {
      expect([
        method,
        target,
        (await mill.api(method, target, body, viewer)).status,
        (await mill.api(method, target, body, operator)).status,
      ]).toEqual([method, target, 403, 403]);
      const [theirs, nobodys] = [
        await mill.api(method, target, body, foreign),
        await mill.api(method, target.replace(factory, `fac_${'0'.repeat(26)}`), body, foreign),
      ];
      expect(theirs.status).toBe(404);
      expect({ ...theirs.body, instance: '', trace_id: '' }).toEqual({ ...nobodys.body, instance: '', trace_id: '' });
    }
    expect((await mill.api('GET', path(hook.uid), undefined, viewer)).status).toBe(200);
    expect((await mill.api('GET', path(), undefined, foreign)).status).toBe(404);
    const otherFactory = await dashboardFactory('other');
    expect((await mill.api('GET', `/factory/${otherFactory}/webhooks/${hook.uid}`)).status).toBe(404);
    expect((await mill.api('PATCH', `/factory/${otherFactory}/webhooks/${hook.uid}`, { enabled: false })).status).toBe(
      404,
    );
    expect(await send(hook.ingress_url, bearer(hook.secret))).toBe(202);
    await remove(hook.uid);
  });
});

describe('an idempotency key', () => {
  it('makes one webhook of two requests, and does not show its secret twice', async () => {
    const ask = (): Promise<Response> =>
      fetch(`${mill.url}/api/v1${path()}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${manager}`, 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({ name: 'Once' }),
      });
    const first = await ask();
    const hook = (await first.json()) as Hook;
    const second = await ask();
    const text = await second.text();
    expect([first.status, second.status, second.headers.get('x-should-retry')]).toEqual([200, 409, 'false']);
    expect([text.includes(hook.uid), text.includes(hook.secret ?? '')]).toEqual([true, false]);
    expect(
      ((await mill.api('GET', path())).body['webhooks'] as Hook[]).filter(({ name }) => name === 'Once'),
    ).toHaveLength(1);
    await remove(hook.uid);
  });
});

describe('signature schemes', () => {
  it('are listed with what somebody who sets one up has to know', async () => {
    const { status, body } = await mill.api(
      'GET',
      '/signature-schemes',
      undefined,
      await makeKey(mill, 'viewer', { factories: [factory] }),
    );
    expect(status).toBe(200);
    expect(body['signature_schemes']).toEqual(
      expect.arrayContaining([
        {
          id: 'github',
          signature_headers: ['x-hub-signature-256'],
          delivery_headers: ['x-github-delivery'],
          timestamp_tolerance_seconds: null,
          secret_origin: 'provider',
          secret_requirement: expect.stringContaining('8 bytes'),
          documentation: expect.stringMatching(/^https:\/\/docs\.github\.com\//),
        },
        expect.objectContaining({
          id: 'standard_webhooks',
          signature_headers: ['webhook-signature', 'svix-signature'],
          delivery_headers: ['webhook-id', 'svix-id'],
          timestamp_tolerance_seconds: 300,
          secret_origin: 'either',
        }),
      ]),
    );
    expect(body['unavailable']).toEqual(
      expect.arrayContaining([{ id: 'slack', reason: expect.stringContaining('handshake') }]),
    );
  });
});

it('every change is in the audit trail, and no secret is anywhere', async () => {
  const secrets: string[] = [];
  const keep = (hook: Hook): Hook => {
    for (const value of [hook.secret, hook.url]) if (value !== undefined) secrets.push(value);
    return hook;
  };
  const hook = keep(await made({ name: 'Audited', auth_mode: 'url_token' }));
  await patch(hook.uid, { name: 'Heard', enabled: false });
  keep((await rotate(hook.uid)).body as unknown as Hook);
  secrets.push('audited secret of a provider');
  const hub = await made({
    name: 'Hub heard',
    auth_mode: 'signature',
    signature_scheme: 'github',
    secret: 'audited secret of a provider',
  });
  await remove(hook.uid);
  const trail = (await mill.api('GET', `/audit?factory_uid=${factory}&limit=500`)).body['entries'] as {
    action: string;
    subject: string;
    principal: { uid: string };
    details: object;
  }[];
  const about = trail.filter(({ subject }) => subject === hook.uid).toReversed();
  expect(about.map(({ action, details }) => [action, details])).toEqual([
    ['webhook.create', { slug: 'audited', auth_mode: 'url_token', secret: 'audited-webhook', enabled: true }],
    ['webhook.change', { slug: 'audited', changed: ['name', 'enabled'], enabled: false }],
    ['webhook.rotate', { slug: 'audited', secret: 'audited-webhook', webhooks: ['audited'] }],
    ['webhook.delete', { slug: 'audited', secret: 'audited-webhook' }],
  ]);
  expect(
    trail
      .filter(({ subject }) => subject === 'audited-webhook')
      .map(({ action }) => action)
      .toSorted(),
  ).toEqual(['secret.change', 'secret.create']);
  const places = [
    `/factory/${factory}`,
    `/factory/${factory}/status`,
    `/factory/${factory}/syncs`,
    path(),
    path(hub.uid),
    `${path(hub.uid)}/deliveries`,
    `/factory/${factory}/secrets?limit=500`,
    '/secrets?limit=500',
    '/audit?limit=500',
    '/agent/runs',
  ];
  const seen = [
    ...(await Promise.all(places.map(async (place) => JSON.stringify((await mill.api('GET', place)).body)))),
    ...mill.logged,
  ].join('\n');
  expect(secrets.length).toBe(5);
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
});

it('the factory itself stands well: passes only look after secrets', async () => {
  const { body } = await mill.api('POST', `/factory/${factory}/sync?wait=true`);
  expect(body).toMatchObject({ factory_uid: factory, revision_applied: expect.stringMatching(/^dashboard@\d+$/) });
  expect(body['generation_handled']).toBe(body['generation_requested']);
  expect((body['inventory'] as { kind: string }[]).some(({ kind }) => kind === 'webhook')).toBe(true);
  expect(mill.logged.join('\n')).not.toContain('sync pass failed');
});
