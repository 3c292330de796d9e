/**
 * Deliveries signed by the providers' own libraries, and captured ones sent again. spec: Request rules (Signature
 * mode), Authentication rule 3; contract §5, §6.
 */
import { createHmac, randomBytes } from 'node:crypto';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { sign as signGitHub } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as Svix } from 'svix';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const SIGNING = 'whsec_signing-secret-of-the-tests';
const STANDARD = `whsec_${randomBytes(32).toString('base64')}`;
const SCHEMES = ['github', 'stripe', 'standard_webhooks', 'sentry', 'pagerduty', 'vercel'] as const;
const FIVE_MINUTES_S = 300;

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;
const nowMs = (): number => Date.now() + skewMs;
const nowS = (): number => Math.floor(nowMs() / 1000);

beforeAll(async () => {
  mill = await bootService({ nowMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('signing', SIGNING);
  await mill.secret('standard', STANDARD);
  const webhooks = SCHEMES.map(
    (scheme) =>
      [
        scheme.replace('_', '-'),
        {
          authMode: 'signature' as const,
          signatureScheme: scheme,
          secretName: scheme === 'standard_webhooks' ? 'standard' : 'signing',
        },
      ] as const,
  );
  folder = await factoryFolder({
    webhooks: Object.fromEntries(webhooks),
    automations: { act: { webhooks: webhooks.map(([name]) => name) } },
  });
  factory = await mill.factory('senders', folder.source);
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

beforeEach(() => {
  skewMs += 121_000;
});

const send = (slug: string, headers: Record<string, string>, body: string): Promise<RawAnswer> =>
  exchange(mill.url, {
    target: `/webhooks/w/${mill.webhookUid('senders', slug)}`,
    headers: Object.entries(headers) as unknown as HeaderLines,
    body,
  });
const hmac = (algorithm: string, body: string): string => createHmac(algorithm, SIGNING).update(body).digest('hex');
let unique = 0;
const fresh = (): string => JSON.stringify({ id: `evt_${(unique += 1)}`, text: 'Zürich\n\u{1f600}' });

async function newest(slug: string): Promise<Record<string, unknown>> {
  const answer = await mill.api(
    'GET',
    `/factory/${factory}/webhooks/${mill.webhookUid('senders', slug)}/deliveries?limit=1`,
  );
  return (answer.body['deliveries'] as Record<string, unknown>[])[0] ?? {};
}

async function runsOf(slug: string): Promise<number> {
  const uid = mill.webhookUid('senders', slug);
  const { body } = await mill.api('GET', '/agent/runs?limit=500');
  return (body['runs'] as { metadata: { webhook_uid?: string } }[]).filter(
    ({ metadata }) => metadata.webhook_uid === uid,
  ).length;
}

describe('GitHub', () => {
  const events = (examples as unknown as { name: string; examples: unknown[] }[]).map(
    ({ name, examples: [payload] }) => ({ name, payload }),
  );

  it.each(events)('$name, signed by @octokit/webhooks-methods', async ({ name, payload }) => {
    const body = JSON.stringify(payload);
    const headers = {
      'X-GitHub-Event': name,
      'X-GitHub-Delivery': `guid-${name}`,
      'X-Hub-Signature-256': await signGitHub(SIGNING, body),
    };
    const answer = await send('github', headers, body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([202, { delivery_id: `guid-${name}` }]);
    expect(
      (await send('github', { ...headers, 'X-Hub-Signature-256': await signGitHub('another', body) }, body)).status,
    ).toBe(401);
    expect((await send('github', headers, `${body} `)).status).toBe(401);
  });
});

describe('Stripe', () => {
  const stripe = new Stripe('sk_test_none');
  const header = (payload: string, timestamp = nowS(), secret = SIGNING): Record<string, string> => ({
    'Stripe-Signature': stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }),
  });

  it('generateTestHeaderString is accepted', async () => {
    const body = fresh();
    expect((await send('stripe', header(body), body)).status).toBe(202);
  });

  it.each<{ why: string; headers: (body: string) => Record<string, string> }>([
    { why: 'another secret', headers: (body) => header(body, nowS(), 'whsec_another') },
    { why: 'another body', headers: (body) => header(`${body} `) },
    { why: 'older than five minutes', headers: (body) => header(body, nowS() - FIVE_MINUTES_S - 2) },
    { why: 'more than five minutes ahead', headers: (body) => header(body, nowS() + FIVE_MINUTES_S + 60) },
    {
      why: 'a fresh timestamp put before an old signature',
      headers: (body) => ({
        'Stripe-Signature': `t=${nowS()},${header(body, nowS() - 900)['Stripe-Signature']?.split(',')[1] ?? ''}`,
      }),
    },
    {
      why: 'two timestamps',
      headers: (body) => ({ 'Stripe-Signature': `t=${nowS()},${header(body)['Stripe-Signature'] ?? ''}` }),
    },
    {
      why: 'only v0',
      headers: (body) => ({ 'Stripe-Signature': (header(body)['Stripe-Signature'] ?? '').replace('v1=', 'v0=') }),
    },
  ])('401: $why', async ({ headers }) => {
    const body = fresh();
    expect((await send('stripe', headers(body), body)).status).toBe(401);
  });

  it.each([-FIVE_MINUTES_S + 60, FIVE_MINUTES_S - 5])('%i s off is within the tolerance', async (offset) => {
    const body = fresh();
    expect((await send('stripe', header(body, nowS() + offset), body)).status).toBe(202);
  });

  it('a rotation shows two signatures', async () => {
    const body = fresh();
    const [time, good] = (header(body)['Stripe-Signature'] ?? '').split(',');
    const [, bad] = (header(body, nowS(), 'whsec_new')['Stripe-Signature'] ?? '').split(',');
    expect(
      (await send('stripe', { 'Stripe-Signature': `${time ?? ''},${bad ?? ''},${good ?? ''}` }, body)).status,
    ).toBe(202);
  });

  it('a captured request under another unsigned id is a Duplicate', async () => {
    const body = fresh();
    const headers = header(body);
    const before = await runsOf('stripe');
    for (const id of [
      {},
      { 'X-Millwright-Delivery-Id': 'replay-1' },
      { 'X-Millwright-Delivery-Id': 'replay-2' },
    ] as Record<string, string>[]) {
      expect((await send('stripe', { ...headers, ...id }, body)).status).toBe(202);
    }
    expect(await newest('stripe')).toMatchObject({ outcome: 'Duplicate', delivery_id: 'replay-2' });
    expect((await runsOf('stripe')) - before).toBe(1);
  });

  it('the same body signed again a moment later, under its own id, is a new delivery', async () => {
    const body = fresh();
    await send('stripe', { ...header(body, nowS() - 10), 'X-Millwright-Delivery-Id': 'again-1' }, body);
    await send('stripe', { ...header(body), 'X-Millwright-Delivery-Id': 'again-2' }, body);
    expect(await newest('stripe')).toMatchObject({ outcome: 'Accepted', delivery_id: 'again-2' });
  });
});

describe('Standard Webhooks', () => {
  const at = (): Date => new Date(nowMs());
  const headersOf = (family: 'webhook' | 'svix', id: string, body: string, date = at()): Record<string, string> => {
    const signed =
      family === 'svix' ? new Svix(STANDARD).sign(id, date, body) : new StandardWebhook(STANDARD).sign(id, date, body);
    return {
      [`${family}-id`]: id,
      [`${family}-timestamp`]: String(Math.floor(date.getTime() / 1000)),
      [`${family}-signature`]: signed,
    };
  };

  it.each(['webhook', 'svix'] as const)('%s headers are accepted and name the delivery', async (family) => {
    const body = fresh();
    const id = `msg_${family}_${unique}`;
    const answer = await send('standard-webhooks', headersOf(family, id, body), body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([202, { delivery_id: id }]);
  });

  it.each<{ why: string; headers: (body: string) => Record<string, string> }>([
    { why: 'stale', headers: (body) => headersOf('webhook', 'm', body, new Date(nowMs() - 302_000)) },
    { why: 'from the future', headers: (body) => headersOf('svix', 'm', body, new Date(nowMs() + 360_000)) },
    { why: 'the id is signed', headers: (body) => ({ ...headersOf('webhook', 'm', body), 'webhook-id': 'n' }) },
    {
      why: 'families are not mixed',
      headers: (body) => {
        const { 'webhook-id': id, ...rest } = headersOf('webhook', 'm', body);
        return { ...rest, 'svix-id': id ?? '' };
      },
    },
    {
      why: 'no timestamp',
      headers: (body) => {
        const { 'webhook-timestamp': _, ...rest } = headersOf('webhook', 'm', body);
        return rest;
      },
    },
    {
      why: 'seventeen candidates',
      headers: (body) => {
        const headers = headersOf('webhook', 'm', body);
        return {
          ...headers,
          'webhook-signature': Array.from({ length: 17 }, () => headers['webhook-signature']).join(' '),
        };
      },
    },
  ])('401: $why', async ({ headers }) => {
    const body = fresh();
    expect((await send('standard-webhooks', headers(body), body)).status).toBe(401);
  });

  it('a captured request is a Duplicate, also under another unsigned id', async () => {
    const body = fresh();
    const id = `msg_replayed_${unique}`;
    const headers = headersOf('webhook', id, body);
    const before = await runsOf('standard-webhooks');
    await send('standard-webhooks', headers, body);
    await send('standard-webhooks', { ...headers, 'X-Millwright-Delivery-Id': 'other' }, body);
    expect(await newest('standard-webhooks')).toMatchObject({ outcome: 'Duplicate', delivery_id: id });
    expect((await runsOf('standard-webhooks')) - before).toBe(1);
  });

  it('a retry signs the same id at a later time: a Duplicate', async () => {
    const body = fresh();
    const id = `msg_retried_${unique}`;
    await send('standard-webhooks', headersOf('svix', id, body, new Date(nowMs() - 60_000)), body);
    await send('standard-webhooks', headersOf('svix', id, body), body);
    expect(await newest('standard-webhooks')).toMatchObject({ outcome: 'Duplicate', delivery_id: id });
  });
});

describe('the others', () => {
  it.each<{ slug: string; headers: (body: string) => Record<string, string>; id: RegExp }>([
    {
      slug: 'sentry',
      headers: (body) => ({
        'Sentry-Hook-Signature': hmac('sha256', body),
        'Request-ID': `req-${unique}`,
        'Sentry-Hook-Resource': 'issue',
      }),
      id: /^req-/,
    },
    {
      slug: 'pagerduty',
      headers: (body) => ({
        'X-PagerDuty-Signature': `v1=${hmac('sha256', `${body}x`)},v1=${hmac('sha256', body)}`,
        'X-Webhook-Id': 'P1',
      }),
      id: /^sha256:/,
    },
    { slug: 'vercel', headers: (body) => ({ 'x-vercel-signature': hmac('sha1', body) }), id: /^sha256:/ },
  ])('$slug', async ({ slug, headers, id }) => {
    const body = fresh();
    const answer = await send(slug, headers(body), body);
    expect(answer.status).toBe(202);
    expect((JSON.parse(answer.body) as { delivery_id: string }).delivery_id).toMatch(id);
    expect((await send(slug, headers(body), `${body}\n`)).status).toBe(401);
  });

  it('two PagerDuty events of one subscription start two runs', async () => {
    const before = await runsOf('pagerduty');
    for (let event = 0; event < 2; event += 1) {
      const body = fresh();
      await send('pagerduty', { 'X-PagerDuty-Signature': `v1=${hmac('sha256', body)}`, 'X-Webhook-Id': 'P1' }, body);
    }
    expect((await runsOf('pagerduty')) - before).toBe(2);
  });
});
