/**
 * What makes two deliveries the same, and what the delivery log keeps of each. spec: Delivery identity, Webhook
 * delivery (log entry); contract §5.
 */
import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder, type FactoryTree } from '../support/factories/factory-folder.ts';
import { connectRaw, exchange, requestHead, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const SIGNING = 'signing-secret-of-the-tests';

const TREE: FactoryTree = {
  webhooks: {
    plain: { secretName: 'bearer' },
    other: { secretName: 'bearer' },
    named: { secretName: 'bearer', deliveryIdHeader: 'X-Order-Event' },
    github: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
    'github-named': {
      authMode: 'signature',
      signatureScheme: 'github',
      secretName: 'signing',
      deliveryIdHeader: 'X-Order-Event',
    },
    pagerduty: { authMode: 'signature', signatureScheme: 'pagerduty', secretName: 'signing' },
    ...Object.fromEntries(
      ['github', 'sentry', 'pagerduty', 'vercel'].map((signatureScheme) => [
        `${signatureScheme}-once`,
        { authMode: 'signature', signatureScheme, secretName: 'signing', replayProtection: 'body' },
      ]),
    ),
    late: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
  },
  automations: {
    act: {
      webhooks: 'plain other named github github-named pagerduty late'
        .split(' ')
        .concat('github-once', 'sentry-once', 'pagerduty-once', 'vercel-once'),
    },
  },
};

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;

beforeAll(async () => {
  mill = await bootService({ nowMs: () => Date.now() + skewMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  await mill.secret('signing', SIGNING);
  folder = await factoryFolder(TREE);
  factory = await mill.factory('identities', folder.source);
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

beforeEach(() => {
  skewMs += 121_000;
});

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('identities', slug)}`;
const hmac = (body: string): string => createHmac('sha256', SIGNING).update(body).digest('hex');
const CREDENTIAL: Record<string, (body: string) => HeaderLines> = {
  'github-once': (body) => [['X-Hub-Signature-256', `sha256=${hmac(body)}`]],
  'sentry-once': (body) => [['Sentry-Hook-Signature', hmac(body)]],
  'pagerduty-once': (body) => [['X-PagerDuty-Signature', `v1=${hmac(body)}`]],
  'vercel-once': (body) => [['X-Vercel-Signature', createHmac('sha1', SIGNING).update(body).digest('hex')]],
  late: (body) => [['X-Hub-Signature-256', `sha256=${hmac(body)}`]],
  github: (body) => [['X-Hub-Signature-256', `sha256=${hmac(body)}`]],
  'github-named': (body) => [['X-Hub-Signature-256', `sha256=${hmac(body)}`]],
  pagerduty: (body) => [['X-PagerDuty-Signature', `v1=${hmac(body)}`]],
};
const credential = (slug: string, body: string): HeaderLines =>
  CREDENTIAL[slug]?.(body) ?? [['Authorization', `Bearer ${TOKEN}`]];
const send = (slug: string, headers: HeaderLines, body: string): Promise<RawAnswer> =>
  exchange(mill.url, { target: path(slug), headers: [...credential(slug, body), ...headers], body });
const idOf = (answer: RawAnswer): string => (JSON.parse(answer.body) as { delivery_id: string }).delivery_id;
let unique = 0;
const fresh = (): string => `{"n": ${(unique += 1)}}`;
const bodyHash = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

async function log(slug: string): Promise<Record<string, unknown>[]> {
  const answer = await mill.api(
    'GET',
    `/factory/${factory}/webhooks/${mill.webhookUid('identities', slug)}/deliveries?limit=500`,
  );
  return answer.body['deliveries'] as Record<string, unknown>[];
}

async function runsOf(slug: string): Promise<number> {
  const uid = mill.webhookUid('identities', slug);
  const { body } = await mill.api('GET', '/agent/runs?limit=500');
  return (body['runs'] as { metadata: { webhook_uid?: string } }[]).filter(
    ({ metadata }) => metadata.webhook_uid === uid,
  ).length;
}

/** Sends twice and says whether the second was taken for the first: by its log entry and by the runs started. */
async function isSame(slug: string, first: [HeaderLines, string], second: [HeaderLines, string]): Promise<boolean> {
  const before = await runsOf(slug);
  const answers = [await send(slug, ...first), await send(slug, ...second)];
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  const [newer, older] = await log(slug);
  expect(older).toMatchObject({ outcome: 'Accepted' });
  const started = (await runsOf(slug)) - before;
  expect(started).toBe(newer?.['outcome'] === 'Duplicate' ? 1 : 2);
  return newer?.['outcome'] === 'Duplicate';
}

describe('the identity is taken', () => {
  const service = (value: string): [string, string] => ['X-Millwright-Delivery-Id', value];
  const order = (value: string): [string, string] => ['X-Order-Event', value];
  const github = (value: string): [string, string] => ['X-GitHub-Delivery', value];
  const long = 'x'.repeat(255);
  it.each<{ why: string; slug: string; headers: HeaderLines; id: (body: string) => string }>([
    { why: 'from the body where nothing else is', slug: 'plain', headers: [], id: bodyHash },
    { why: 'from our header', slug: 'plain', headers: [service('id-1')], id: () => 'id-1' },
    {
      why: 'from our header, whatever its case',
      slug: 'plain',
      headers: [['x-millwright-DELIVERY-ID', 'id-2']],
      id: () => 'id-2',
    },
    {
      why: 'from the configured header before ours',
      slug: 'named',
      headers: [service('id-3'), order('order-3')],
      id: () => 'order-3',
    },
    {
      why: 'from ours when the configured one is missing',
      slug: 'named',
      headers: [service('id-4')],
      id: () => 'id-4',
    },
    {
      why: 'from ours when the configured one is empty',
      slug: 'named',
      headers: [order(''), service('id-5')],
      id: () => 'id-5',
    },
    {
      why: 'from ours when the configured one came twice',
      slug: 'named',
      headers: [order('a'), order('b'), service('id-6')],
      id: () => 'id-6',
    },
    {
      why: 'from ours when the configured one holds a space',
      slug: 'named',
      headers: [order('a b'), service('id-7')],
      id: () => 'id-7',
    },
    {
      why: 'from ours when the configured one is beyond ASCII',
      slug: 'named',
      headers: [order('\u00e4'), service('id-8')],
      id: () => 'id-8',
    },
    {
      why: 'from ours when the configured one is too long',
      slug: 'named',
      headers: [order(`${long}y`), service('id-9')],
      id: () => 'id-9',
    },
    { why: 'from a header of 255 characters', slug: 'named', headers: [order(long)], id: () => long },
    {
      why: 'exactly: quotes and backslashes',
      slug: 'plain',
      headers: [service('a"b\\c<script>')],
      id: () => 'a"b\\c<script>',
    },
    {
      why: 'from the body when our header is unfit too',
      slug: 'named',
      headers: [order(''), service('a b')],
      id: bodyHash,
    },
    {
      why: 'from the scheme’s header before ours',
      slug: 'github',
      headers: [service('id-10'), github('gh-10')],
      id: () => 'gh-10',
    },
    {
      why: 'from the configured header before the scheme’s',
      slug: 'github-named',
      headers: [service('id-11'), github('gh-11'), order('order-11')],
      id: () => 'order-11',
    },
    { why: 'from ours when the scheme’s is missing', slug: 'github', headers: [service('id-12')], id: () => 'id-12' },
    { why: 'from the body in signature mode', slug: 'github', headers: [], id: bodyHash },
    {
      why: 'a scheme’s header means nothing to a token webhook',
      slug: 'plain',
      headers: [github('gh-13')],
      id: bodyHash,
    },
    {
      why: 'PagerDuty’s X-Webhook-Id names the subscription',
      slug: 'pagerduty',
      headers: [['X-Webhook-Id', 'subscription']],
      id: bodyHash,
    },
  ])('$why', async ({ slug, headers, id }) => {
    const body = fresh();
    const answer = await send(slug, headers, body);
    expect([answer.status, idOf(answer)]).toEqual([202, id(body)]);
    expect((await log(slug))[0]).toMatchObject({ delivery_id: id(body), outcome: 'Accepted' });
  });
});

describe('a delivery whose identity was accepted is a Duplicate', () => {
  const id = (value: string): HeaderLines => [['X-Millwright-Delivery-Id', value]];
  it.each<{ why: string; slug: string; first: [HeaderLines, string]; second: [HeaderLines, string]; same: boolean }>([
    {
      why: 'the same body, no ids',
      slug: 'plain',
      first: [[], '{"same": 1}'],
      second: [[], '{"same": 1}'],
      same: true,
    },
    {
      why: 'the same value, other bytes',
      slug: 'plain',
      first: [[], '{"same": 2}'],
      second: [[], '{"same":2}'],
      same: false,
    },
    {
      why: 'the same id, another body',
      slug: 'plain',
      first: [id('s-1'), '{"b": 1}'],
      second: [id('s-1'), '{"b": 2}'],
      same: true,
    },
    {
      why: 'another id, the same body',
      slug: 'plain',
      first: [id('s-2'), '{"b": 3}'],
      second: [id('s-3'), '{"b": 3}'],
      same: false,
    },
    { why: 'ids are exact', slug: 'plain', first: [id('s-4'), '{}'], second: [id('S-4'), '{}'], same: false },
    {
      why: 'an id that looks like a body hash is none',
      slug: 'plain',
      first: [id(bodyHash('{"b": 5}')), '{"b": 6}'],
      second: [[], '{"b": 5}'],
      same: false,
    },
    {
      why: 'kinds are apart: configured header and ours',
      slug: 'named',
      first: [[['X-Order-Event', 'k-1']], '{}'],
      second: [id('k-1'), '{}'],
      same: false,
    },
    {
      why: 'PagerDuty: two events of one subscription',
      slug: 'pagerduty',
      first: [[['X-Webhook-Id', 'P1']], '{"event": 1}'],
      second: [[['X-Webhook-Id', 'P1']], '{"event": 2}'],
      same: false,
    },
    {
      why: 'PagerDuty: one event twice',
      slug: 'pagerduty',
      first: [[['X-Webhook-Id', 'P1']], '{"event": 3}'],
      second: [[['X-Webhook-Id', 'P1']], '{"event": 3}'],
      same: true,
    },
    {
      why: 'GitHub: a redelivery',
      slug: 'github',
      first: [[['X-GitHub-Delivery', 'g-1']], '{"g": 1}'],
      second: [[['X-GitHub-Delivery', 'g-1']], '{"g": 1}'],
      same: true,
    },
    {
      why: 'GitHub: two events with equal bodies',
      slug: 'github',
      first: [[['X-GitHub-Delivery', 'g-2']], '{"g": 2}'],
      second: [[['X-GitHub-Delivery', 'g-3']], '{"g": 2}'],
      same: false,
    },
  ])('$why: $same', async ({ slug, first, second, same }) => {
    expect(await isSame(slug, first, second)).toBe(same);
  });

  it('answers 202 with the same delivery_id', async () => {
    const body = fresh();
    const [first, second] = [await send('plain', [], body), await send('plain', [], body)];
    expect([second.status, second.body]).toEqual([first.status, first.body]);
  });

  it('per webhook: another one accepts it', async () => {
    const body = fresh();
    await send('plain', [], body);
    await send('other', [], body);
    expect((await log('other'))[0]).toMatchObject({ outcome: 'Accepted' });
  });

  it('only accepted deliveries make Duplicates', async () => {
    const headers: HeaderLines = [['X-Millwright-Delivery-Id', 'refused-before']];
    expect((await exchange(mill.url, { target: path('plain'), headers, body: '{}' })).status).toBe(401);
    expect((await send('plain', headers, 'no json')).status).toBe(400);
    expect((await send('plain', headers, ' '.repeat(262_145))).status).toBe(413);
    expect((await send('plain', headers, '{}')).status).toBe(202);
    expect((await log('plain')).slice(0, 4).map(({ outcome, delivery_id: name }) => [outcome, name])).toEqual([
      ['Accepted', 'refused-before'],
      ['Rejected (too large)', 'refused-before'],
      ['Rejected (invalid JSON)', 'refused-before'],
      ['Rejected (auth)', 'refused-before'],
    ]);
  });

  it('of many identical ones at once exactly one is accepted', async () => {
    const before = await runsOf('other');
    const body = fresh();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send('other', [], body)));
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    const entries = (await log('other')).filter(({ delivery_id: name }) => name === bodyHash(body));
    expect(entries.filter(({ outcome }) => outcome === 'Accepted')).toHaveLength(1);
    expect(entries.filter(({ outcome }) => outcome === 'Duplicate')).toHaveLength(49);
    expect((await runsOf('other')) - before).toBe(1);
  });

  it('also after the webhook was deleted and came back', async () => {
    const body = fresh();
    await send('named', [], body);
    const { named, ...rest } = TREE.webhooks ?? {};
    const without = { webhooks: rest, automations: { act: { webhooks: Object.keys(rest) } } };
    await folder.write(without);
    await mill.sync(factory);
    expect((await send('named', [], body)).status).toBe(404);
    await folder.write({ ...TREE, webhooks: { ...rest, ...(named === undefined ? {} : { named }) } });
    await mill.sync(factory);
    expect((await send('named', [], body)).status).toBe(202);
    expect((await log('named'))[0]).toMatchObject({ outcome: 'Duplicate', delivery_id: bodyHash(body) });
  });
});

describe('the delivery log', () => {
  it('says of each delivery what it was', async () => {
    const body = ' {"log": "entry"} ';
    const from = Date.now() + skewMs;
    await exchange(mill.url, { target: path('plain'), body });
    await send('plain', [], body);
    await send('plain', [], body);
    await send('plain', [], 'nonsense');
    await send('plain', [], ' '.repeat(262_200));
    const [tooLarge, invalid, duplicate, accepted, unauthorized] = await log('plain');
    const common = { client_address: '127.0.0.1', count: 1, revision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) };
    expect(unauthorized).toMatchObject({ ...common, outcome: 'Rejected (auth)', size: body.length, size_exact: false });
    expect(accepted).toMatchObject({
      ...common,
      outcome: 'Accepted',
      size: body.length,
      size_exact: true,
      skipped: [],
    });
    expect(accepted?.['started']).toEqual([
      { automation_id: expect.stringMatching(/^auto_/), run_id: expect.any(String) },
    ]);
    expect(duplicate).toMatchObject({ ...common, outcome: 'Duplicate', size: body.length, size_exact: true });
    expect(invalid).toMatchObject({ ...common, outcome: 'Rejected (invalid JSON)', size: 8, size_exact: true });
    expect(tooLarge).toMatchObject({ ...common, outcome: 'Rejected (too large)', size: 262_200, size_exact: false });
    for (const entry of [tooLarge, invalid, duplicate, accepted, unauthorized]) {
      expect(Date.parse(String(entry?.['received_at']))).toBeGreaterThanOrEqual(from);
      expect(Date.parse(String(entry?.['received_at']))).toBeLessThanOrEqual(Date.now() + skewMs);
    }
    // A refused delivery without an identity header is named by its entry.
    for (const entry of [tooLarge, invalid, unauthorized]) expect(entry?.['delivery_id']).toBe(entry?.['entry_id']);
  });

  it('counts what came of a body that declares nothing', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, {
        target: path('plain'),
        headers: [...credential('plain', ''), ['Transfer-Encoding', 'chunked']],
      }),
    );
    connection.send(`40001\r\n${' '.repeat(0x40001)}\r\n`);
    expect((await connection.answer()).status).toBe(413);
    connection.destroy();
    const [entry] = await log('plain');
    expect(entry).toMatchObject({ outcome: 'Rejected (too large)', size_exact: false });
    expect(entry?.['size'] as number).toBeGreaterThan(262_144);
  });

  it('keeps exact payload bytes of Accepted ones only', async () => {
    const body = '\n{"b": 1,\t"a": "\u00e9\\u0000", "a": 2}\r\n';
    await send('plain', [], body);
    await send('plain', [], body);
    await send('plain', [], `${body}x`);
    const payload = async (entry: Record<string, unknown> | undefined): Promise<Response> =>
      fetch(
        `${mill.url}/api/v1/factory/${factory}/webhooks/${mill.webhookUid('identities', 'plain')}` +
          `/deliveries/${String(entry?.['entry_id'])}/payload`,
        {
          headers: { authorization: `Bearer ${mill.adminKey}` },
        },
      );
    const [invalid, duplicate, accepted] = await log('plain');
    const stored = await payload(accepted);
    expect(Buffer.from(await stored.arrayBuffer()).equals(Buffer.from(body))).toBe(true);
    expect(stored.headers.get('x-content-type-options') ?? 'nosniff').toBe('nosniff');
    expect(stored.headers.get('content-disposition')).toContain('attachment');
    expect([(await payload(duplicate)).status, (await payload(invalid)).status]).toEqual([404, 404]);
  });

  it('lists newest first, page by page', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
    for (const name of names) await send('github', [['X-GitHub-Delivery', name]], fresh());
    const found: string[] = [];
    const base = `/factory/${factory}/webhooks/${mill.webhookUid('identities', 'github')}/deliveries?limit=3`;
    for (let cursor = ''; found.length < 7;) {
      const { body } = await mill.api('GET', `${base}${cursor}`);
      found.push(...(body['deliveries'] as { delivery_id: string }[]).map(({ delivery_id: name }) => name));
      cursor = `&cursor=${(body['page_info'] as { next_cursor: string }).next_cursor}`;
    }
    expect(found.slice(0, 7)).toEqual(names.toReversed());
  });
});

describe('a captured request of a scheme that signs no time', () => {
  const PROTECTED = ['github-once', 'sentry-once', 'pagerduty-once', 'vercel-once'];
  const named = (value: string): HeaderLines => [['X-Millwright-Delivery-Id', value]];

  it.each(PROTECTED)('of %s starts nothing under a fresh delivery ID, where the body is protected', async (slug) => {
    const body = fresh();
    expect(await isSame(slug, [named(`${slug}-true`), body], [named(`${slug}-forged`), body])).toBe(true);
    expect((await log(slug))[0]).toMatchObject({ outcome: 'Duplicate', delivery_id: `${slug}-forged` });
    expect(await isSame(slug, [named(`${slug}-next`), fresh()], [named(`${slug}-last`), fresh()])).toBe(false);
  });

  it('starts nothing under the provider’s own header either, nor under none', async () => {
    const body = fresh();
    expect(
      await isSame('github-once', [[['X-GitHub-Delivery', 'h-1']], body], [[['X-GitHub-Delivery', 'h-2']], body]),
    ).toBe(true);
    expect((await send('github-once', [], body)).status).toBe(202);
    expect((await log('github-once'))[0]).toMatchObject({ outcome: 'Duplicate', delivery_id: bodyHash(body) });
    expect(
      await isSame('github-once', [[['X-GitHub-Delivery', 'h-3']], fresh()], [[['X-GitHub-Delivery', 'h-3']], '1']),
    ).toBe(true); // a redelivery of the provider has its ID, whatever else
  });

  it('of many replays at once starts one run', async () => {
    const before = await runsOf('pagerduty-once');
    const body = fresh();
    await Promise.all(Array.from({ length: 30 }, (_, at) => send('pagerduty-once', named(`at-once-${at}`), body)));
    expect((await runsOf('pagerduty-once')) - before).toBe(1);
  });

  it('is a Duplicate also after its webhook was away and its key was rotated to and fro', async () => {
    const body = fresh();
    await send('sentry-once', named('s-true'), body);
    const { 'sentry-once': away, ...rest } = TREE.webhooks ?? {};
    await folder.write({ webhooks: rest, automations: { act: { webhooks: Object.keys(rest) } } });
    await mill.sync(factory);
    await mill.secret('signing', 'another-signing-secret');
    expect(away).toBeDefined();
    await mill.secret('signing', SIGNING);
    await folder.write(TREE);
    await mill.sync(factory);
    expect((await send('sentry-once', named('s-forged'), body)).status).toBe(202);
    expect((await log('sentry-once'))[0]).toMatchObject({ outcome: 'Duplicate', delivery_id: 's-forged' });
  });

  it('is a Duplicate from the commit on that protects the webhook, and a delivery again without it', async () => {
    const [before, since] = [fresh(), fresh()];
    await send('late', named('l-1'), before);
    const late = { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' } as const;
    const protect = async (replayProtection?: 'body'): Promise<void> => {
      await folder.write({ ...TREE, webhooks: { ...TREE.webhooks, late: { ...late, replayProtection } } });
      await mill.sync(factory);
    };
    const outcomeOf = async (name: string, body: string): Promise<unknown> => {
      expect((await send('late', named(name), body)).status).toBe(202);
      return (await log('late'))[0]?.['outcome'];
    };
    await protect('body');
    expect(await outcomeOf('l-2', before)).toBe('Accepted'); // its body was not remembered then
    expect(await outcomeOf('l-3', before)).toBe('Duplicate');
    expect(await outcomeOf('l-4', since)).toBe('Accepted');
    await protect();
    expect(await outcomeOf('l-5', since)).toBe('Accepted');
  });
});
