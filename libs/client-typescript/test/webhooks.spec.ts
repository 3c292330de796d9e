/** Deliveries: signed as others verify them, verified as others sign them, sent safely, and no secret to be seen. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { prepareSigningKey, SIGNATURE_SCHEMES, verifySignature } from '../../authentication/index.ts';
import {
  APIConnectionError,
  MillwrightError,
  signDelivery,
  UserAbortError,
  verifyDelivery,
  WebhookSender,
  WebhookVerificationError,
  type DeliveryToVerify,
  type Fetch,
  type Logger,
  type WebhookSenderOptions,
} from '../src/index.ts';
import { World, type Step } from './wire-world.ts';

const WHSEC = `whsec_${randomBytes(32).toString('base64')}`;
const TOKEN = 'token-of-a-webhook.s3cret';
const URL = 'http://127.0.0.1:9/mill/webhooks/w/wh_00000000000000000000000000';
const ACCEPTED = { status: 202, json: { delivery_id: 'stored' } } satisfies Step;
const BODIES: [string, string | Uint8Array][] = [
  ['text', '{"a":"grüße 🐦"}'],
  ['bytes that are no text', Uint8Array.of(0, 255, 10, 13, 128)],
  ['nothing', ''],
];

async function reasonOf(delivery: DeliveryToVerify): Promise<string> {
  try {
    await verifyDelivery(delivery);
    return 'accepted';
  } catch (error) {
    expect(inspect(error, { depth: 9 })).not.toContain(delivery.secret);
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

function senderIn(world: World, options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  return new WebhookSender({ url: URL, secret: TOKEN, fetch: world.fetch, logLevel: 'off', ...options }, world.clock);
}

describe('Standard Webhooks', () => {
  const nowMs = Date.now();
  const signedBody = '{"a":"grüße 🐦"}';

  it.each(['whsec_', ''])('what we sign is verified by the reference library and by Svix (%j)', async (prefix) => {
    for (const bytes of [24, 32, 64]) {
      const secret = prefix + randomBytes(bytes).toString('base64');
      const headers = await signDelivery({
        authentication: 'standard_webhooks',
        secret,
        body: signedBody,
        deliveryId: 'msg_1',
      });
      expect(new Webhook(secret).verify(signedBody, headers)).toEqual({ a: 'grüße 🐦' });
      expect(new SvixWebhook(secret).verify(signedBody, headers)).toEqual({ a: 'grüße 🐦' });
    }
  });

  it('what the reference library and Svix sign is verified by us', async () => {
    const now = new Date(nowMs);
    const [reference, svix] = [
      new Webhook(WHSEC).sign('msg_2', now, signedBody),
      new SvixWebhook(WHSEC).sign('msg_2', now, signedBody),
    ];
    const timestamp = String(Math.floor(nowMs / 1_000));
    await verifyDelivery({
      authentication: 'standard_webhooks',
      secret: WHSEC,
      body: signedBody,
      headers: { 'webhook-id': 'msg_2', 'webhook-timestamp': timestamp, 'webhook-signature': reference },
    });
    await verifyDelivery({
      authentication: 'standard_webhooks',
      secret: WHSEC,
      body: signedBody,
      headers: new Headers({ 'Svix-Id': 'msg_2', 'Svix-Timestamp': timestamp, 'Svix-Signature': svix }),
    });
  });

  it.each(BODIES)('a body of %s is signed byte by byte', async (_, body) => {
    const headers = await signDelivery({ authentication: 'standard_webhooks', secret: WHSEC, body, now: nowMs });
    expect(await reasonOf({ authentication: 'standard_webhooks', secret: WHSEC, body, headers, now: nowMs })).toBe(
      'accepted',
    );
    expect(
      await reasonOf({
        authentication: 'standard_webhooks',
        secret: WHSEC,
        body: `${String(body)} `,
        headers,
        now: nowMs,
      }),
    ).toBe('wrong-signature');
  });

  describe('refusals', () => {
    let headers: Record<string, string> = {};
    beforeAll(async () => {
      headers = await signDelivery({
        authentication: 'standard_webhooks',
        secret: WHSEC,
        body: '{}',
        deliveryId: 'msg_1',
        now: nowMs,
      });
    });
    const told = (
      changes: Record<string, string | string[] | undefined>,
      more: Partial<DeliveryToVerify> = {},
    ): Promise<string> =>
      reasonOf({
        authentication: 'standard_webhooks',
        secret: WHSEC,
        body: '{}',
        headers: { ...headers, ...changes },
        now: nowMs,
        ...more,
      });

    it('headers that are not there, more than once, or no such thing', async () => {
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
        expect(await told({ [name]: undefined })).toBe('missing-header');
        expect(await told({ [name]: [headers[name] ?? '', 'x'] })).toBe('malformed-header');
      }
      for (const timestamp of ['', 'noon', '1.5', '-1', '123', '99999999999', ' 1732269600'])
        expect(await told({ 'webhook-timestamp': timestamp })).toBe('malformed-header');
      expect(await told({ 'webhook-id': 'with space' })).toBe('malformed-header');
      expect(
        await told({ 'webhook-signature': Array.from({ length: 17 }, () => headers['webhook-signature']).join(' ') }),
      ).toBe('malformed-header');
    });

    it('everything that is signed counts', async () => {
      expect(await told({})).toBe('accepted');
      expect(await told({ 'webhook-id': 'msg_2' })).toBe('wrong-signature');
      expect(await told({ 'webhook-timestamp': String(Math.floor(nowMs / 1_000) + 1) })).toBe('wrong-signature');
      expect(await told({}, { secret: `whsec_${randomBytes(32).toString('base64')}` })).toBe('wrong-signature');
    });

    it('a second value of a header that is not read is refused, too', async () => {
      expect(await told({ 'svix-id': ['a', 'b'] })).toBe('malformed-header');
      expect(await told({ 'svix-id': 'a' })).toBe('accepted');
    });

    it('signatures of other versions do not count, as in the service', async () => {
      const others = Array.from({ length: 16 }, () => 'v1a,AAAA').join(' ');
      expect(await told({ 'webhook-signature': `${others} ${headers['webhook-signature']}` })).toBe('accepted');
      const received = new Map(
        Object.entries({ ...headers, 'webhook-signature': `${others} ${headers['webhook-signature']}` }).map(
          ([name, value]) => [name, [value]],
        ),
      );
      const scheme = SIGNATURE_SCHEMES.get('standard_webhooks')!;
      const key = prepareSigningKey(scheme, Buffer.from(WHSEC));
      expect(
        key.ok && verifySignature(scheme, key.key, { headers: received, body: Buffer.from('{}'), nowMs }),
      ).toMatchObject({ ok: true });
    });

    it('one of several signatures is enough, of version 1 only', async () => {
      const other = `v1,${randomBytes(32).toString('base64')}`;
      expect(await told({ 'webhook-signature': `v1a,abc ${other} ${headers['webhook-signature']}` })).toBe('accepted');
      for (const signature of [
        other,
        '',
        'v1,',
        'v1',
        headers['webhook-signature']?.replace('v1,', 'v2,'),
        headers['webhook-signature']?.slice(0, -1),
        `${headers['webhook-signature']}=`,
      ]) {
        expect(await told({ 'webhook-signature': signature ?? '' })).toBe('wrong-signature');
      }
    });

    it('times that are off are told under a right signature only, bounds included', async () => {
      const sentMs = Math.floor(nowMs / 1_000) * 1_000;
      for (const [skewMs, expected] of [
        [300_000, 'accepted'],
        [-300_000, 'accepted'],
        [300_001, 'stale-timestamp'],
        [-300_001, 'stale-timestamp'],
      ] as const) {
        expect(await told({}, { now: new Date(sentMs + skewMs) })).toBe(expected);
      }
      expect(await told({}, { now: sentMs + 5_000, toleranceSeconds: 4 })).toBe('stale-timestamp');
      expect(await told({}, { now: sentMs + 900_000, body: '[]' })).toBe('wrong-signature');
      expect(await told({}, { now: new Date(Number.NaN) })).toBe('stale-timestamp');
    });
  });
});

describe('tokens', () => {
  it('in a header', async () => {
    const headers = await signDelivery({ secret: TOKEN, body: '{}', deliveryId: 'd1', deliveryIdHeader: 'X-My-Id' });
    expect(headers).toEqual({ authorization: `Bearer ${TOKEN}`, 'x-my-id': 'd1' });
    expect(await reasonOf({ secret: TOKEN, headers, body: '{}' })).toBe('accepted');
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', `Basic ${TOKEN}`, TOKEN])
      expect(await reasonOf({ secret: TOKEN, headers: { authorization }, body: '' })).toBe('missing-credential');
    for (const authorization of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, 'Bearer x'])
      expect(await reasonOf({ secret: TOKEN, headers: { authorization }, body: '' })).toBe('wrong-credential');
    expect(await reasonOf({ secret: TOKEN, headers: { AUTHORIZATION: `bearer  ${TOKEN}` }, body: '' })).toBe(
      'accepted',
    );
  });

  it('at the end of the URL', async () => {
    expect(await signDelivery({ authentication: 'url_token', secret: TOKEN, body: '{}', deliveryId: 'd1' })).toEqual({
      'x-millwright-delivery-id': 'd1',
    });
    const told = (url: string | undefined): Promise<string> =>
      reasonOf({ authentication: 'url_token', secret: TOKEN, headers: {}, body: '', url });
    for (const url of [
      `${URL}/${TOKEN}`,
      `${URL}/${TOKEN}/`,
      `/mill/webhooks/w/wh_00000000000000000000000000/${TOKEN}?a=1`,
      `${URL}/${TOKEN.replace('.', '%2E')}`,
    ])
      expect(await told(url)).toBe('accepted');
    for (const url of [
      undefined,
      '',
      '/',
      URL,
      `${URL}/`,
      'http://127.0.0.1:9',
      TOKEN,
      `/w/${TOKEN}`,
      `${URL}/${TOKEN}/more`,
      `${URL}//${TOKEN}`,
      `http://x/?${URL}/${TOKEN}`,
    ])
      expect(await told(url)).toBe('missing-credential');
    for (const url of [`${URL}/${TOKEN}x`, `${URL}/{token}`, `${URL}/%ff`, `${URL}/%zz`, `${URL}/${TOKEN}%`])
      expect(await told(url)).toBe('wrong-credential');
  });
});

it.each<[DeliveryToVerify['authentication'], string]>([
  ['token', 'x'.repeat(15)],
  ['token', 'x'.repeat(513)],
  ['token', `${'x'.repeat(20)} y`],
  ['token', 'ü'.repeat(20)],
  ['url_token', `${'x'.repeat(20)}/y`],
  ['url_token', '.'.repeat(20)],
  ['url_token', ''],
  ['standard_webhooks', 'whsec_'],
  ['standard_webhooks', `whsec_${randomBytes(23).toString('base64')}`],
  ['standard_webhooks', `whsec_${randomBytes(65).toString('base64')}`],
  ['standard_webhooks', `whsec_${randomBytes(25).toString('base64').replace(/=+$/, '')}`],
  ['standard_webhooks', `${WHSEC}\n`],
  ['standard_webhooks', `whsec_${'-'.repeat(32)}`],
  ['basic' as never, 'x'.repeat(20)],
  ['token', undefined as never],
])('%s: a secret that cannot serve (%#) is refused everywhere, and not repeated', async (authentication, secret) => {
  const refusals = [
    () => new WebhookSender({ url: URL, secret, authentication }),
    () => signDelivery({ authentication, secret, body: '' }),
    () => verifyDelivery({ authentication, secret, body: '', headers: {} }),
  ];
  for (const refused of refusals) {
    const failure: unknown = await (async () => refused())().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MillwrightError);
    if (typeof secret === 'string' && secret.length > 10) expect(inspect(failure)).not.toContain(secret.trim());
  }
});

describe('sender', () => {
  it('sends what it is given: JSON values as JSON, text and bytes as they are', async () => {
    const world = new World([ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED]);
    const sender = senderIn(world);
    for (const payload of [{ a: [1] }, null, '{ "exact": 1 }', Uint8Array.of(1, 2)])
      expect(await sender.send(payload)).toEqual({ delivery_id: 'stored' });
    expect(world.sent.map(({ body }) => [...(body ?? [])])).toEqual([
      [...Buffer.from('{"a":[1]}')],
      [...Buffer.from('null')],
      [...Buffer.from('{ "exact": 1 }')],
      [1, 2],
    ]);
    expect(world.sent[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
      'x-millwright-delivery-id': expect.stringMatching(/^msg_[0-9a-f-]{36}$/),
    });
    expect(new Set(world.sent.map(({ headers }) => headers['x-millwright-delivery-id'])).size).toBe(4);
  });

  it('signs anew for each attempt, under one id', async () => {
    const world = new World([{ status: 503, text: '' }, { fault: 'hang' }, ACCEPTED]);
    await world.live(
      senderIn(world, { authentication: 'standard_webhooks', secret: WHSEC }).send({ a: 1 }, { timeout: 5_000 }),
    );
    expect(world.sent).toHaveLength(3);
    for (const { headers, at } of world.sent) {
      const now = world.clock.dateMs() - (world.now - at) * 1_000;
      expect(
        await reasonOf({
          authentication: 'standard_webhooks',
          secret: WHSEC,
          headers,
          body: '{"a":1}',
          now,
          toleranceSeconds: 1,
        }),
      ).toBe('accepted');
    }
    expect(new Set(world.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(world.sent.map(({ headers }) => headers['webhook-signature'])).size).toBeGreaterThan(1);
    expect(world.waiting).toBe(0);
  });

  it.each([
    ['ends at the webhook', URL],
    ['ends with a slash', `${URL}/`],
    ['has a place for it', `${URL}/{token}`],
    ['has an encoded place', `${URL}/%7Btoken%7D`],
    ['has it already', `${URL}/${TOKEN}`],
    ['has an encoded place in small letters', `${URL}/%7btoken%7d/`],
    ['has it encoded', `${URL}/${TOKEN.replace('.', '%2E')}`],
  ])('url_token: the secret takes its place in a URL that %s', async (_, url) => {
    const world = new World([ACCEPTED]);
    await senderIn(world, { authentication: 'url_token', url }).send({});
    expect(world.sent[0]?.url.href).toBe(`${URL}/${TOKEN}`);
    expect(world.sent[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each(['nowhere', 'ftp://x/', `${URL}?a`, `${URL}#a`, URL.replace('//', '//user@'), `${URL}/{token}`])(
    'the URL %s is refused',
    (url) => {
      expect(() => new WebhookSender({ url, secret: TOKEN })).toThrow(/^url (?:must|is)/);
    },
  );

  it.each([
    `${URL}/other-token.s3cret`,
    `${URL}/${TOKEN}/more`,
    `${URL}/{token}/${TOKEN}`,
    `${URL}/x{token}`,
    'http://127.0.0.1:9/',
    `http://127.0.0.1:9/${TOKEN}`,
    `${URL}0/${TOKEN}`,
  ])('url_token: the URL %s is refused, and not repeated', (url) => {
    const failure = thrownBy(() => new WebhookSender({ url, secret: TOKEN, authentication: 'url_token' }));
    expect(failure).toBeInstanceOf(MillwrightError);
    expect(inspect(failure)).not.toContain('s3cret');
  });

  it('the token of a URL is not taken for a path under another authentication', () => {
    for (const authentication of ['token', 'standard_webhooks'] as const) {
      const secret = authentication === 'token' ? 'x'.repeat(16) : WHSEC;
      for (const place of [TOKEN, `${TOKEN}/more`, '{token}', '%7Btoken%7D'])
        expect(() => new WebhookSender({ url: `${URL}/${place}`, secret, authentication })).toThrow(
          'url is that of a url_token webhook',
        );
    }
  });

  it.each([
    undefined,
    null,
    {},
    { url: 5 },
    { url: URL, secret: null },
    { url: URL, secret: 5 },
    { secret: 'x'.repeat(16) },
  ])('options that are none are refused: %j', (options) => {
    expect(() => new WebhookSender(options as never)).toThrow(MillwrightError);
  });

  it('what the service would not take is refused before it is sent', async () => {
    const world = new World([ACCEPTED]);
    const sender = senderIn(world);
    await expect(sender.send('x'.repeat(262_145))).rejects.toThrow('larger than 262144 bytes');
    await expect(sender.send('ü'.repeat(131_073))).rejects.toThrow(MillwrightError);
    await expect(sender.send(undefined)).rejects.toThrow(MillwrightError);
    for (const deliveryId of ['', 'with space', 'x'.repeat(256)])
      await expect(sender.send({}, { deliveryId })).rejects.toThrow('deliveryId must be');
    expect(() => senderIn(world, { deliveryIdHeader: 'no header' })).toThrow('deliveryIdHeader');
    expect(world.sent).toHaveLength(0);
    await sender.send('x'.repeat(262_144));
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [413, false],
    [429, true],
    [500, true],
    [503, true],
  ])('%s: again is %s', async (status, isRetried) => {
    const world = new World([{ status, json: { error: 'words of the service' } }, ACCEPTED]);
    const outcome = await world.live(
      senderIn(world)
        .send({})
        .catch((error: unknown) => error),
    );
    if (isRetried) expect(outcome).toEqual({ delivery_id: 'stored' });
    else
      expect(outcome).toMatchObject({
        status,
        message: expect.stringMatching(new RegExp(`^POST /\\S+: ${status}: words of the service$`)) as string,
      });
  });

  it('whatever answers, the secret is not to be seen in the error', async () => {
    const echo: Fetch = (url, init) =>
      Promise.resolve(
        new Response(`moved to ${url}, ${JSON.stringify(init.headers)}`, {
          status: 301,
          headers: { location: url, 'x-echo': JSON.stringify(init.headers) },
        }),
      );
    const accepted: Fetch = (url) => Promise.resolve(new Response(`{"echo":"${url}"}`, { status: 202 }));
    const lost: Fetch = (url) => Promise.reject(new TypeError(`cannot load ${url}`));
    for (const fetch of [echo, accepted, lost]) {
      for (const authentication of ['token', 'url_token'] as const) {
        const world = new World([]);
        const failure = (await world.live(
          senderIn(world, { authentication, fetch })
            .send({})
            .catch((error: unknown) => error),
        )) as APIConnectionError & { response?: Response; headers?: Headers; body?: string };
        expect(failure).toBeInstanceOf(Error);
        const seen = [
          inspect(failure, { depth: 9, showHidden: true }),
          failure.stack,
          failure.body,
          failure.response?.url,
          JSON.stringify([...(failure.headers ?? [])]),
        ];
        expect(seen.join(' ')).not.toContain('s3cret');
      }
    }
    expect(inspect(senderIn(new World([])), { depth: 9, showHidden: true })).not.toContain('s3cret');
  });

  it('an answer without a delivery is no success', async () => {
    for (const text of ['', '{}', 'null', '[]', '<p>', '{"delivery_id":1}']) {
      const world = new World([{ status: 202, text }]);
      await expect(senderIn(world).send({})).rejects.toMatchObject({
        name: 'APIResponseValidationError',
        pointer: '/delivery_id',
      });
    }
  });

  it('without encryption it warns of a secret that is sent, once', () => {
    const warned: string[] = [];
    const logger = { warn: (words: string) => warned.push(words) } as unknown as Logger;
    const url = URL.replace('127.0.0.1:9', 'mill.example.org');
    const made = (['token', 'url_token', 'token'] as const).map(
      (authentication) => new WebhookSender({ url, secret: TOKEN, authentication, logger }),
    );
    made.push(
      new WebhookSender({ url: URL, secret: TOKEN, logger }),
      new WebhookSender({ url, secret: WHSEC, authentication: 'standard_webhooks', logger }),
    );
    expect(warned).toEqual([
      'millwright: the secret of a webhook is sent to mill.example.org without encryption; use https',
      'millwright: deliveries are sent to mill.example.org without encryption; use https',
    ]);
  });

  it('its signal ends it', async () => {
    await expect(senderIn(new World([])).send({}, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
      UserAbortError,
    );
  });
});
