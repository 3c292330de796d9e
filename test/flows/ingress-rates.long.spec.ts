/**
 * How many deliveries a webhook takes a minute, and what failed authentication costs. spec: Limits, Authentication rule
 * 5; contract §5.6 (Slots), §5.4 (Failed authentication).
 */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const URL_TOKEN = 'url-token.of~the_tests';
const SIGNING = 'signing-secret-of-the-tests';
const ADMIN_KEY = `mw_${'a'.repeat(43)}`;
const PER_MINUTE = 60;
const FAILURES = 20;
const TOO_LARGE = ' '.repeat(262_145);
const THROTTLED = '{"error": "too many requests"}';

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
/** Stands still unless a test moves it, so that every wait is exact. */
let nowMs = 0;

beforeEach(async () => {
  nowMs = Date.UTC(2030, 0, 1);
  mill = await boot();
  await mill.secret('bearer', TOKEN);
  await mill.secret('in-url', URL_TOKEN);
  await mill.secret('signing', SIGNING);
  folder = await factoryFolder({
    webhooks: {
      plain: { secretName: 'bearer' },
      other: { secretName: 'bearer' },
      linked: { authMode: 'url_token', secretName: 'in-url' },
      signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
    },
    automations: { act: { webhooks: ['plain'] } },
  });
  factory = await mill.factory('rates', folder.source);
});

afterEach(async () => {
  await mill?.stop();
  await folder?.remove();
});

function boot(dataDir?: string, environment: Record<string, string> = {}): Promise<TestService> {
  return bootService({
    nowMs: () => nowMs,
    dataDir,
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_ADMIN_KEY: ADMIN_KEY, ...environment },
  });
}

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('rates', slug)}`;
const bearer = (token = TOKEN): HeaderLines => [['Authorization', `Bearer ${token}`]];
const signature = (body: string): HeaderLines => [
  ['X-Hub-Signature-256', `sha256=${createHmac('sha256', SIGNING).update(body).digest('hex')}`],
];
const send = (slug: string, headers: HeaderLines, body: string): Promise<RawAnswer> =>
  exchange(mill.url, { target: path(slug), headers, body });
let unique = 0;
const fresh = (): string => `{"n": ${(unique += 1)}}`;
const good = (slug = 'plain'): Promise<RawAnswer> => send(slug, bearer(), fresh());
const failing = (headers: HeaderLines = [], slug = 'plain'): Promise<RawAnswer> =>
  send(slug, [...bearer('wrong-token-of-the-tests'), ...headers], '{}');

async function log(slug = 'plain'): Promise<Record<string, unknown>[]> {
  const answer = await mill.api(
    'GET',
    `/factory/${factory}/webhooks/${mill.webhookUid('rates', slug)}/deliveries?limit=500`,
  );
  return answer.body['deliveries'] as Record<string, unknown>[];
}

async function accepted(): Promise<Record<string, unknown>[]> {
  return (await log()).filter(({ outcome }) => outcome === 'Accepted');
}

async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let done = 0; done < count; done += 1) results.push(await act());
  return results;
}

function expectThrottled(answer: RawAnswer, retryAfter: number): void {
  expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([429, THROTTLED, String(retryAfter)]);
}

const statuses = (answers: readonly RawAnswer[]): number[] => [...new Set(answers.map(({ status }) => status))];

describe('60 deliveries a minute and webhook', () => {
  it('exactly: the 61st is 429, until the first one is a minute old', async () => {
    expect(statuses(await times(PER_MINUTE, () => good()))).toEqual([202]);
    expectThrottled(await good(), 60);
    nowMs += 100;
    expectThrottled(await good(), 60);
    nowMs += 59_899; // 59.999 s behind the first
    expectThrottled(await good(), 1);
    nowMs += 1;
    expect(statuses(await times(PER_MINUTE, () => good()))).toEqual([202]);
    expectThrottled(await good(), 60);
  });

  it('counts over the minute that ends now, not by the clock', async () => {
    for (let second = 0; second < PER_MINUTE; second += 1) {
      expect((await good()).status).toBe(202);
      nowMs += 500;
    }
    expectThrottled(await good(), 30); // 30 s have passed since the first
    nowMs += 30_000;
    expect((await good()).status).toBe(202); // the first has left
    expectThrottled(await good(), 1); // the second leaves after half a second
  });

  it('exactly, also when all come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => good()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(PER_MINUTE);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90);
    expect(await accepted()).toHaveLength(PER_MINUTE);
  });

  it('every webhook has its own', async () => {
    await times(PER_MINUTE, () => good());
    expect((await good()).status).toBe(429);
    expect((await good('other')).status).toBe(202);
  });

  it.each<{ why: string; slug: string; act: () => Promise<RawAnswer>; status: number }>([
    {
      why: 'a Duplicate keeps its slot',
      slug: 'plain',
      act: () => send('plain', bearer(), '{"same": 1}'),
      status: 202,
    },
    { why: 'a 400 keeps its slot', slug: 'plain', act: () => send('plain', bearer(), 'no json'), status: 400 },
    {
      why: 'a 413 of a token webhook keeps its slot',
      slug: 'plain',
      act: () => send('plain', bearer(), TOO_LARGE),
      status: 413,
    },
  ])('$why', async ({ act, status }) => {
    expect(statuses(await times(PER_MINUTE, act))).toEqual([status]);
    expectThrottled(await good(), 60);
  });

  it('what was throttled is not stored, starts nothing and takes no slot', async () => {
    await times(PER_MINUTE, () => good());
    const late = await times(30, () => send('plain', bearer(), '{"late": true}'));
    expect(statuses(late)).toEqual([429]);
    expect(await accepted()).toHaveLength(PER_MINUTE);
    nowMs += 60_000;
    expect((await send('plain', bearer(), '{"late": true}')).status).toBe(202);
    expect((await log())[0]).toMatchObject({ outcome: 'Accepted' });
    expect(statuses(await times(PER_MINUTE - 1, () => good()))).toEqual([202]); // the 429s had taken none
  });

  it('is looked at before the JSON', async () => {
    await times(PER_MINUTE, () => good());
    expectThrottled(await send('plain', bearer(), 'no json'), 60);
  });

  it('is looked at behind the credential and the size', async () => {
    await times(PER_MINUTE, () => good());
    expect((await failing()).status).toBe(401);
    expect((await send('plain', bearer(), TOO_LARGE)).status).toBe(413);
    await times(PER_MINUTE, async () => {
      const body = fresh();
      return send('signed', signature(body), body);
    });
    expect((await send('signed', [], '{}')).status).toBe(401);
    expect((await send('signed', signature('{}'), '{}')).status).toBe(429);
  });

  it('failed authentication takes none', async () => {
    await times(FAILURES, () => failing());
    await times(5, () => send('signed', [], '{}'));
    await times(5, () => send('signed', [], TOO_LARGE));
    expect(statuses(await times(PER_MINUTE, () => good()))).toEqual([202]);
    expect(
      statuses(
        await times(PER_MINUTE, () => {
          const body = fresh();
          return send('signed', signature(body), body);
        }),
      ),
    ).toEqual([202]);
  });

  it('slots survive a restart', async () => {
    await times(40, () => good());
    const { dataDir } = mill;
    await mill.stop({ keepData: true });
    nowMs += 10_000;
    mill = await boot(dataDir);
    expect(statuses(await times(20, () => good()))).toEqual([202]);
    expectThrottled(await good(), 50);
    nowMs += 50_000;
    expect(statuses(await times(40, () => good()))).toEqual([202]);
    expectThrottled(await good(), 10);
  });

  it('a clock that was set back makes nobody wait for hours', async () => {
    await times(PER_MINUTE, () => good());
    nowMs -= 3_600_000;
    expect((await good()).status).toBe(202);
  });
});

describe('throttled deliveries in the log', () => {
  const throttled = async (): Promise<Record<string, unknown>[]> =>
    (await log()).filter(({ outcome }) => outcome === 'Throttled');
  /** Counts are written once a second. */
  const counted = (counts: number[]) =>
    eventually(`counts ${counts.join()}`, async () => {
      const found = (await throttled()).map(({ count }) => count);
      return found.join() === counts.join() ? true : undefined;
    });

  it('are one entry a minute with their number, named after the first; each minute has its own', async () => {
    await times(PER_MINUTE, () => good());
    const first = await send('plain', [...bearer(), ['X-Millwright-Delivery-Id', 'came-too-soon']], '{"n": 0}');
    expectThrottled(first, 60);
    expect(await throttled()).toMatchObject([
      {
        delivery_id: 'came-too-soon',
        count: 1,
        size: 8,
        size_exact: true,
        client_address: '127.0.0.1',
        refused_because: 'over-rate',
      },
    ]);
    expect((await throttled())[0]).not.toHaveProperty('refusal');
    expect(statuses(await Promise.all(Array.from({ length: 40 }, () => good())))).toEqual([429]);
    await counted([41]);
    nowMs += 60_000;
    await times(PER_MINUTE, () => good());
    await times(3, () => good());
    await counted([3, 41]);
    expect(await accepted()).toHaveLength(2 * PER_MINUTE);
  });

  it('are found by their outcome, and counted where the process stops before it has written the number', async () => {
    await times(PER_MINUTE, () => good());
    await times(5, () => good());
    await restartBehindProxy();
    expect((await throttled()).map(({ count }) => count)).toEqual([5]);
    const webhook = `/factory/${factory}/webhooks/${mill.webhookUid('rates', 'plain')}`;
    const found = await mill.api('GET', `${webhook}/deliveries?outcome=Throttled`);
    expect((found.body['deliveries'] as unknown[]).length).toBe(1);
  });

  it('are not there for failures over their budget, nor for other webhooks', async () => {
    await times(FAILURES + 3, () => failing());
    await times(PER_MINUTE + 1, () => good());
    expect((await throttled()).map(({ count }) => count)).toEqual([1]);
    expect(await log('other')).toEqual([]);
  });
});

describe('20 failures a minute, webhook and client address', () => {
  it('the 21st is 429 instead of 401 and is not logged', async () => {
    expect(statuses(await times(FAILURES, () => failing()))).toEqual([401]);
    nowMs += 5_000;
    expectThrottled(await failing(), 55);
    expectThrottled(await failing(), 55);
    expect((await log()).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: FAILURES }, () => 'Rejected (auth)'),
    );
    nowMs += 55_000;
    expect((await failing()).status).toBe(401);
  });

  it('a valid delivery is never refused because of failures', async () => {
    await times(FAILURES + 5, () => failing());
    expect((await failing()).status).toBe(429);
    const mixed = await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? failing() : good())));
    expect(mixed.filter((_, index) => index % 2 === 1).every(({ status }) => status === 202)).toBe(true);
    expect(mixed.filter((_, index) => index % 2 === 0).every(({ status }) => status === 429)).toBe(true);
  });

  it('every webhook has its own', async () => {
    await times(FAILURES + 1, () => failing());
    expect((await failing()).status).toBe(429);
    expect((await failing([], 'other')).status).toBe(401);
  });

  it('every mode spends it', async () => {
    await times(FAILURES, () => exchange(mill.url, { target: `${path('linked')}/wrong` }));
    expect((await exchange(mill.url, { target: path('linked') })).status).toBe(429);
    expect((await exchange(mill.url, { target: `${path('linked')}/${URL_TOKEN}`, body: fresh() })).status).toBe(202);
    await times(FAILURES, () => send('signed', [], '{}'));
    expect((await send('signed', [], '{}')).status).toBe(429);
    const body = fresh();
    expect((await send('signed', signature(body), body)).status).toBe(202);
  });

  it('an unauthenticated 413 spends it too, and stays 413', async () => {
    expect(statuses(await times(FAILURES, () => send('signed', [], TOO_LARGE)))).toEqual([413]);
    expect((await send('signed', [], '{}')).status).toBe(429);
    expect((await send('signed', [], TOO_LARGE)).status).toBe(413);
    expect(await log('signed')).toHaveLength(FAILURES);
  });

  it('a 413 behind authentication does not', async () => {
    await times(FAILURES + 5, () => send('plain', bearer(), TOO_LARGE));
    expect((await failing()).status).toBe(401);
  });

  it('X-Forwarded-For changes nothing where no proxy is trusted', async () => {
    const answers = [];
    for (let host = 1; host <= FAILURES + 1; host += 1)
      answers.push(await failing([['X-Forwarded-For', `203.0.113.${host}`]]));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: FAILURES }, () => 401), 429]);
    expect(new Set((await log()).map(({ client_address: address }) => address))).toEqual(new Set(['127.0.0.1']));
  });

  it('more refusals than 60 a minute become one counted entry', async () => {
    await restartBehindProxy();
    await times(1, () => failing([['X-Forwarded-For', '198.51.100.1']]));
    for (let host = 0; host < 10; host += 1) {
      await Promise.all(Array.from({ length: 10 }, () => failing([['X-Forwarded-For', `203.0.113.${host}`]])));
    }
    // Stopped before what was counted is due to be written: it is written then.
    await restartBehindProxy();
    const entries = await log();
    expect(entries).toHaveLength(61);
    expect(entries.map(({ count }) => count as number).reduce((sum, count) => sum + count, 0)).toBe(101);
    expect(entries[0]).toMatchObject({ count: 41, outcome: 'Rejected (auth)' });
    nowMs += 1; // entries of two processes have no order within a millisecond
    expect((await good()).status).toBe(202);
    expect((await log())[0]).toMatchObject({ outcome: 'Accepted' });
  });
});

async function restartBehindProxy(): Promise<void> {
  const { dataDir } = mill;
  await mill.stop({ keepData: true });
  mill = await boot(dataDir, { MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' });
}

describe('the client address behind a trusted proxy', () => {
  beforeEach(restartBehindProxy);

  it.each<{ why: string; headers: HeaderLines; address: string }>([
    { why: 'no header: the peer', headers: [], address: '127.0.0.1' },
    { why: 'one hop', headers: [['X-Forwarded-For', '203.0.113.7']], address: '203.0.113.7' },
    {
      why: 'the right-most that is not trusted',
      headers: [['X-Forwarded-For', '1.2.3.4, 203.0.113.7, 10.1.2.3']],
      address: '203.0.113.7',
    },
    {
      why: 'several headers are one list',
      headers: [
        ['X-Forwarded-For', '1.2.3.4'],
        ['X-Forwarded-For', '203.0.113.8'],
      ],
      address: '203.0.113.8',
    },
    { why: 'with a port', headers: [['X-Forwarded-For', '203.0.113.7:1234']], address: '203.0.113.7' },
    { why: 'IPv6', headers: [['X-Forwarded-For', '2001:DB8:0:0::1']], address: '2001:db8::1' },
    { why: 'garbage: the proxy that vouched for it', headers: [['X-Forwarded-For', 'unknown']], address: '127.0.0.1' },
    {
      why: 'other headers are not read',
      headers: [
        ['Forwarded', 'for=203.0.113.7'],
        ['X-Real-IP', '203.0.113.7'],
      ],
      address: '127.0.0.1',
    },
  ])('$why', async ({ headers, address }) => {
    expect((await failing(headers)).status).toBe(401);
    expect((await send('plain', [...bearer(), ...headers], fresh())).status).toBe(202);
    expect((await log()).map(({ client_address: found }) => found)).toEqual([address, address]);
  });

  it('budgets are per address', async () => {
    await times(FAILURES + 1, () => failing([['X-Forwarded-For', '203.0.113.7']]));
    expect((await failing([['X-Forwarded-For', '203.0.113.7']])).status).toBe(429);
    expect((await failing([['X-Forwarded-For', '203.0.113.8']])).status).toBe(401);
    expect((await failing([['X-Forwarded-For', '203.0.113.8, 203.0.113.7']])).status).toBe(429);
  });

  it('one IPv6 site shares one budget', async () => {
    for (let host = 1; host <= FAILURES; host += 1)
      await failing([['X-Forwarded-For', `2001:db8:1:2::${host.toString(16)}`]]);
    expect((await failing([['X-Forwarded-For', '2001:db8:1:2:ffff::1']])).status).toBe(429);
    expect((await failing([['X-Forwarded-For', '2001:db8:1:3::1']])).status).toBe(401);
  });
});
