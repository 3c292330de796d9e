/**
 * Why a delivery was refused, as the log tells it: the check, the header, how far a clock was off; for managers the
 * likely mistake, and for senders never a word. contract §5.5 (Credentials), §5.9 (Log).
 */
import { createHmac } from 'node:crypto';
import { sign as signGitHub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import type { Delivery, DeliveryList } from '#contracts';
import { rows } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { patternOf } from '../support/patterns.ts';
import { exchange, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const SECRET = 'signing-secret-of-the-tests';
const STANDARD = `whsec_${Buffer.alloc(32, 42).toString('base64')}`;
const BODY = '{"kind":"new","list":[1,2]}';
const MINUTE_MS = 61_000;

let service: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({
    nowMs: () => Date.now() + skewMs,
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '86400',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
      MILLWRIGHT_API_RATE: '0',
    },
  });
  await service.secret('token', TOKEN);
  await service.secret('signing', SECRET);
  await service.secret('standard', STANDARD);
  const signed = (signatureScheme: string, secretName: string) => ({
    authMode: 'signature' as const,
    signatureScheme,
    secretName,
  });
  folder = await factoryFolder({
    webhooks: {
      plain: { secretName: 'token' },
      linked: { authMode: 'url_token', secretName: 'token' },
      github: signed('github', 'signing'),
      stripe: signed('stripe', 'signing'),
      standard: signed('standard_webhooks', 'standard'),
      unset: signed('github', 'gone'),
      flooded: signed('github', 'signing'),
      spread: signed('github', 'signing'),
    },
  });
  await service.secret('gone', SECRET);
  factory = await service.factory('shop', folder.source);
  await service.api('DELETE', '/secrets/gone?force=true');
  for (const role of ['viewer', 'operator', 'manager', 'admin'] as const)
    keys.set(role, await makeKey(service, role, { factories: [factory] }));
}, 120_000);

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

beforeEach(() => void (skewMs += MINUTE_MS));

interface Sent {
  headers?: HeaderLines;
  body?: string;
  path?: string;
}

const send = (slug: string, { headers = [], body = BODY, path = '' }: Sent = {}): Promise<RawAnswer> =>
  exchange(service.url, { target: `/webhooks/w/${service.webhookUid('shop', slug)}${path}`, headers, body });
const logOf = (slug: string): string => `/factory/${factory}/webhooks/${service.webhookUid('shop', slug)}/deliveries`;
const listed = async (slug: string, who: string): Promise<Delivery[]> =>
  ((await service.api('GET', `${logOf(slug)}?limit=100`, undefined, keys.get(who))).body as unknown as DeliveryList)
    .deliveries;

/** Sends, and answers what the log says of it. */
async function refused(slug: string, sent: Sent, who = 'manager'): Promise<Delivery['refusal']> {
  expect((await send(slug, sent)).status).toBeGreaterThanOrEqual(400);
  const [newest] = await listed(slug, who);
  expect((await service.api('GET', `${logOf(slug)}/${newest?.entry_id}`, undefined, keys.get(who))).body).toEqual(
    newest,
  );
  return newest?.refusal;
}

const nowS = (): number => Math.floor((Date.now() + skewMs) / 1000);
const stripe = (secret: string, offS = 0, payload = BODY): HeaderLines => [
  ['Stripe-Signature', Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: nowS() - offS })],
];
const standard = (secret: string, format?: 'raw', body = BODY): HeaderLines => {
  const signature = new StandardWebhook(secret, format && { format }).sign('msg_1', new Date(nowS() * 1000), body);
  return [
    ['webhook-id', 'msg_1'],
    ['webhook-timestamp', String(nowS())],
    ['webhook-signature', signature],
  ];
};
const github = async (secret: string, body = BODY): Promise<HeaderLines> => [
  ['X-Hub-Signature-256', await signGitHub(secret, body)],
];
const ZEROS = `sha256=${'0'.repeat(64)}`;

describe('the check that failed', () => {
  it.each<{ why: string; slug: string; sent: () => Sent; refusal: Delivery['refusal'] }>([
    {
      why: 'no credential',
      slug: 'plain',
      sent: () => ({}),
      refusal: { check: 'credential', header: 'authorization' },
    },
    {
      why: 'two of them',
      slug: 'plain',
      sent: () => ({
        headers: [
          ['Authorization', 'Bearer a'],
          ['Authorization', 'Bearer b'],
        ],
      }),
      refusal: { check: 'credential', header: 'authorization' },
    },
    {
      why: 'one of another kind',
      slug: 'plain',
      sent: () => ({ headers: [['Authorization', `Basic ${TOKEN}`]] }),
      refusal: { check: 'credential', header: 'authorization' },
    },
    {
      why: 'a wrong token',
      slug: 'plain',
      sent: () => ({ headers: [['Authorization', `Bearer ${TOKEN} `.replace(' ', '  ').concat('x')]] }),
      refusal: { check: 'credential' },
    },
    {
      why: 'a token in quotes is no hint',
      slug: 'plain',
      sent: () => ({ headers: [['Authorization', `Bearer "${TOKEN}"`]] }),
      refusal: { check: 'credential' },
    },
    { why: 'no token in the address', slug: 'linked', sent: () => ({}), refusal: { check: 'credential' } },
    {
      why: 'a wrong one',
      slug: 'linked',
      sent: () => ({ path: '/wrong-token-of-sixteen' }),
      refusal: { check: 'credential' },
    },
    {
      why: 'no signature',
      slug: 'github',
      sent: () => ({}),
      refusal: { check: 'signature', header: 'x-hub-signature-256' },
    },
    {
      why: 'one without its prefix',
      slug: 'github',
      sent: () => ({ headers: [['X-Hub-Signature-256', '0'.repeat(64)]] }),
      refusal: { check: 'signature', header: 'x-hub-signature-256' },
    },
    {
      why: 'a wrong one',
      slug: 'github',
      sent: () => ({ headers: [['X-Hub-Signature-256', ZEROS]] }),
      refusal: { check: 'signature' },
    },
    {
      why: 'a secret that has no value',
      slug: 'unset',
      sent: () => ({ headers: [['X-Hub-Signature-256', ZEROS]] }),
      refusal: { check: 'signature' },
    },
    {
      why: 'one of the headers is missing',
      slug: 'standard',
      sent: () => ({ headers: standard(STANDARD).slice(1) }),
      refusal: { check: 'signature', header: 'webhook-id' },
    },
    {
      why: 'a timestamp that is none',
      slug: 'standard',
      sent: () => ({
        headers: [
          ...standard(STANDARD).filter(([name]) => name !== 'webhook-timestamp'),
          ['webhook-timestamp', 'today'],
        ],
      }),
      refusal: { check: 'timestamp', header: 'webhook-timestamp' },
    },
    {
      why: 'signed an hour ago',
      slug: 'stripe',
      sent: () => ({ headers: stripe(SECRET, 3600) }),
      refusal: { check: 'timestamp', skew_seconds: expect.closeTo(3600, -2) as number },
    },
    {
      why: 'signed in an hour',
      slug: 'stripe',
      sent: () => ({ headers: stripe(SECRET, -3600) }),
      refusal: { check: 'timestamp', skew_seconds: expect.closeTo(-3600, -2) as number },
    },
    {
      why: 'a wrong signature of an hour ago',
      slug: 'stripe',
      sent: () => ({ headers: stripe('another secret', 3600) }),
      refusal: { check: 'signature', skew_seconds: expect.closeTo(3600, -2) as number },
    },
    {
      why: 'no JSON',
      slug: 'plain',
      sent: () => ({ headers: [['Authorization', `Bearer ${TOKEN}`]], body: '{' }),
      refusal: { check: 'json' },
    },
    {
      why: 'too large',
      slug: 'plain',
      sent: () => ({ headers: [['Authorization', `Bearer ${TOKEN}`]], body: 'x'.repeat(262_145) }),
      refusal: { check: 'size' },
    },
    {
      why: 'too large before anything is known',
      slug: 'github',
      sent: () => ({ body: 'x'.repeat(262_145) }),
      refusal: { check: 'size' },
    },
  ])('$slug, $why', async ({ slug, sent, refusal }) => {
    expect(await refused(slug, sent())).toEqual(refusal);
    if (slug === 'unset') expect((await listed(slug, 'manager'))[0]?.refused_because).toBe('secret-unset');
  });

  it('is nothing that accepted deliveries and duplicates have', async () => {
    for (const status of [202, 202])
      expect((await send('plain', { headers: [['Authorization', `Bearer ${TOKEN}`]] })).status).toBe(status);
    for (const entry of (await listed('plain', 'manager')).slice(0, 2)) expect(entry).not.toHaveProperty('refusal');
  });
});

describe('the likely mistake', () => {
  it.each<{ hint: string; why: string; slug: string; sent: () => Sent | Promise<Sent> }>([
    {
      hint: 'trailing-newline',
      why: 'the secret with a newline',
      slug: 'github',
      sent: async () => ({ headers: await github(`${SECRET}\n`) }),
    },
    {
      hint: 'trailing-newline',
      why: 'the body without its newline',
      slug: 'stripe',
      sent: () => ({ headers: stripe(SECRET), body: `${BODY}\n` }),
    },
    {
      hint: 're-encoded-json',
      why: 'compact signed, another print sent',
      slug: 'github',
      sent: async () => ({ headers: await github(SECRET), body: JSON.stringify(JSON.parse(BODY), undefined, 4) }),
    },
    {
      hint: 're-encoded-json',
      why: 'printed by Python signed',
      slug: 'standard',
      sent: () => ({ headers: standard(STANDARD, undefined, '{"kind": "new", "list": [1, 2]}') }),
    },
    {
      hint: 'key-encoding',
      why: 'the secret as it is written',
      slug: 'standard',
      sent: () => ({ headers: standard(STANDARD, 'raw') }),
    },
    {
      hint: 'key-encoding',
      why: 'and without its prefix',
      slug: 'standard',
      sent: () => ({ headers: standard(STANDARD.slice('whsec_'.length), 'raw') }),
    },
    { hint: 'other-scheme', why: 'signed for another', slug: 'github', sent: () => ({ headers: stripe(SECRET) }) },
    {
      hint: 'other-scheme',
      why: 'signed for another and, wrongly, for its own',
      slug: 'stripe',
      sent: async () => ({ headers: [...stripe('another'), ...(await github(SECRET))] }),
    },
  ])('$slug, $why: $hint, for managers alone', async ({ hint, slug, sent }) => {
    const request = await sent();
    const right = await refused(slug, request);
    expect(right).toMatchObject({ check: 'signature', hint });
    for (const who of ['viewer', 'operator']) {
      const seen = await listed(slug, who);
      expect(seen[0]?.refusal).toMatchObject({ check: 'signature' });
      expect(JSON.stringify(seen)).not.toMatch(/"hint"|refused_because/);
    }
    expect((await listed(slug, 'admin'))[0]?.refusal).toEqual(right);
  });

  it('changes nothing for the sender: the answer is the same to the byte', async () => {
    const near = await send('github', { headers: await github(`${SECRET}\n`) });
    const far = await send('github', { headers: [['X-Hub-Signature-256', ZEROS]] });
    const bytes = ({ status, headers, body }: RawAnswer): string =>
      JSON.stringify([status, Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'date'), body]);
    expect((await listed('github', 'manager')).slice(0, 2).map(({ refusal }) => refusal?.hint)).toEqual([
      undefined,
      'trailing-newline',
    ]);
    expect(bytes(near)).toBe(bytes(far));
  });

  it('is not looked for over the failure budget of a client, and an entry that stands for many has none', async () => {
    const headers = await github(`${SECRET}\n`);
    const from = (address: string): HeaderLines => [...headers, ['X-Forwarded-For', address]];
    const first = await Promise.all(
      Array.from({ length: 25 }, () => send('flooded', { headers: from('198.51.100.1') })),
    );
    expect(first.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 20 }, () => 401),
      ...Array.from({ length: 5 }, () => 429),
    ]);
    expect((await listed('flooded', 'manager')).map(({ refusal }) => refusal?.hint)).toEqual(
      Array.from({ length: 20 }, () => 'trailing-newline'),
    );
    for (const address of ['198.51.100.2', '198.51.100.3', '198.51.100.4'])
      await Promise.all(Array.from({ length: 20 }, () => send('flooded', { headers: from(address) })));
    const all = await eventually('all are counted', async () => {
      const entries = await listed('flooded', 'manager');
      return entries.some(({ count }) => count === 20) ? entries : undefined;
    });
    expect(all.filter(({ refusal }) => refusal?.hint === 'trailing-newline')).toHaveLength(60);
    const [counted, ...more] = all.filter(({ refused_because: reason }) => reason === 'counted');
    expect([counted?.count, more]).toEqual([20, []]);
    expect(counted).not.toHaveProperty('refusal');
  });
});

it('nothing of what was sent is kept: not a value, and not a name that the sender made up', async () => {
  const marks = ['mark-header-value', 'mark-header-name', 'mark-signature', 'mark-body', 'mark-token'];
  const body = '{"text":"mark-body"}';
  const wrong = `sha256=${createHmac('sha256', 'mark-signature').update(body).digest('hex')}`;
  const sends: [string, Sent][] = [
    [
      'github',
      {
        headers: [
          ['X-Mark-Header-Name', 'mark-header-value'],
          ['X-Hub-Signature-256', 'mark-signature'],
        ],
        body,
      },
    ],
    [
      'github',
      {
        headers: [
          ['mark-header-name', 'x'],
          ['mark-header-name', 'x'],
        ],
        body,
      },
    ],
    [
      'github',
      {
        headers: [
          ['X-Hub-Signature-256', wrong],
          ['X-Hub-Signature-256', wrong],
        ],
        body,
      },
    ],
    ['github', { headers: [['X-Hub-Signature-256', wrong]], body }],
    [
      'standard',
      {
        headers: [
          ['webhook-id', 'é'],
          ['webhook-timestamp', 'mark-header-value'],
          ['webhook-signature', 'mark-signature'],
        ],
        body,
      },
    ],
    [
      'plain',
      {
        headers: [
          ['Authorization', 'Bearer mark-token'],
          ['mark-header-name', 'mark-header-value'],
        ],
        body,
      },
    ],
    ['linked', { path: '/mark-token', body }],
  ];
  for (const [slug, sent] of sends) expect((await send(slug, sent)).status).toBe(401);
  const stored = await service.service.database.read(() =>
    rows<{ refusal: string }>('SELECT refusal FROM delivery WHERE refusal IS NOT NULL'),
  );
  const text = stored.map(({ refusal }) => refusal).join('\n');
  for (const mark of [...marks, SECRET, STANDARD, TOKEN, wrong])
    expect(text.toLowerCase()).not.toContain(mark.toLowerCase());
  const words = patternOf(
    /^\{"check":"(credential|signature|timestamp|size|json)"/,
    /(,"header":"(authorization|x-hub-signature-256|stripe-signature|webhook-(id|timestamp|signature))")?/,
    /(,"skewSeconds":-?\d+)?/,
    /(,"hint":"(trailing-newline|re-encoded-json|key-encoding|other-scheme)")?\}$/,
  );
  expect(stored.filter(({ refusal }) => !words.test(refusal))).toEqual([]);
});
