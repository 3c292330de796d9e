/**
 * How often a key may ask and an address may fail: what is answered, for how long, and whom it never concerns. contract
 * §3.10 (429).
 */
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const PER_MINUTE = 10;
const FAILURES = 4;
const WRONG = `mw_${'x'.repeat(43)}`;

let mill: TestService;
/** Time stands still within a test, so that no budget fills up again. */
const START = Date.now();
let skewMs = 0;

beforeAll(async () => {
  mill = await bootService({
    nowMs: () => START + skewMs,
    environment: {
      MILLWRIGHT_API_RATE: String(PER_MINUTE),
      MILLWRIGHT_API_AUTH_FAILURES: String(FAILURES),
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
    },
  });
});

afterAll(() => mill.stop());

// Every test has minutes of its own.
beforeEach(() => {
  skewMs += 121_000;
});

/** A request from an address, as a trusted proxy tells it. */
function ask(key: string | undefined, from = '192.0.2.1', path = '/agent/runs'): Promise<Response> {
  return fetch(`${mill.url}/api/v1${path}`, {
    headers: { 'x-forwarded-for': from, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
  });
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const found: number[] = [];
  for (let number = 0; number < count; number += 1) found.push((await ask()).status);
  return found;
}

const rateOf = ({ headers }: Response): (number | null)[] =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
    headers.get(name) === null ? null : Number(headers.get(name)),
  );

describe('a key', () => {
  it('learns with each answer what is left, and over it when to come back', async () => {
    const key = await makeKey(mill, 'viewer');
    expect(rateOf(await ask(key))).toEqual([PER_MINUTE, PER_MINUTE - 1, 6]);
    expect(await statuses(PER_MINUTE - 1, () => ask(key))).toEqual(Array.from({ length: PER_MINUTE - 1 }, () => 200));
    const refused = await ask(key);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      429,
      'application/problem+json; charset=utf-8',
    ]);
    expect(rateOf(refused).slice(0, 2)).toEqual([PER_MINUTE, 0]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('x-should-retry')).toBeNull();
    expect(await refused.json()).toMatchObject({ error: 'resource_unavailable', status: 429, retryable: true });

    skewMs += Number(refused.headers.get('retry-after')) * 1_000;
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(429);
  });

  it('spends with every kind of request, also those that are refused', async () => {
    const key = await makeKey(mill, 'viewer');
    const kinds = ['/agent/runs/x', '/nothing', '/secrets', '/agent/runs?limit=x'];
    for (const path of kinds) expect([404, 403, 400]).toContain((await ask(key, undefined, path)).status);
    expect(rateOf(await ask(key))[1]).toBe(PER_MINUTE - kinds.length - 1);
  });

  it('spends for itself alone, whatever its principal’s other keys do, from wherever it is used', async () => {
    const [one, other] = [await makeKey(mill, 'viewer'), await makeKey(mill, 'viewer')];
    expect((await statuses(PER_MINUTE, () => ask(one))).concat((await ask(one, '192.0.2.99')).status)).toEqual([
      ...Array.from({ length: PER_MINUTE }, () => 200),
      429,
    ]);
    expect((await ask(other)).status).toBe(200);
  });

  it('does not spend for probes, pages and deliveries', async () => {
    for (let count = 0; count < PER_MINUTE * 3; count += 1) {
      expect(
        (await fetch(`${mill.url}/readyz`, { headers: { authorization: `Bearer ${mill.adminKey}` } })).status,
      ).toBe(200);
      expect(
        (await fetch(`${mill.url}/errors/conflict`, { headers: { authorization: `Bearer ${mill.adminKey}` } })).status,
      ).toBe(200);
    }
    expect(rateOf(await ask(mill.adminKey))[1]).toBe(PER_MINUTE - 1);
  });
});

describe('an address without a valid key', () => {
  it('is told 401 so often, then to wait, and not to try again by itself', async () => {
    expect(await statuses(FAILURES, () => ask(WRONG))).toEqual(Array.from({ length: FAILURES }, () => 401));
    for (const key of [WRONG, undefined]) {
      const refused = await ask(key);
      expect([refused.status, refused.headers.get('x-should-retry'), refused.headers.get('www-authenticate')]).toEqual([
        429,
        'false',
        null,
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(59);
      expect(await refused.json()).toMatchObject({ error: 'resource_unavailable', retryable: false });
    }
    skewMs += 60_000;
    expect((await ask(WRONG)).status).toBe(401);
  });

  it('never keeps a valid key out, however much it fails', async () => {
    const key = await makeKey(mill, 'viewer');
    await statuses(FAILURES * 5, () => ask(WRONG));
    expect((await ask(key)).status).toBe(200);
    expect((await ask(WRONG)).status).toBe(429);
  });

  it('is one address: others begin anew, the sites of IPv6 as a whole', async () => {
    await statuses(FAILURES + 1, () => ask(WRONG));
    expect((await ask(WRONG, '192.0.2.2')).status).toBe(401);
    await statuses(FAILURES, () => ask(WRONG, '2001:db8::1'));
    expect((await ask(WRONG, '2001:db8::ffff:1')).status).toBe(429);
    expect((await ask(WRONG, '2001:db8:0:1::1')).status).toBe(401);
  });

  it('is told the same for a route and for none', async () => {
    await statuses(FAILURES, () => ask(WRONG, '192.0.2.3', '/nothing'));
    expect((await ask(WRONG, '192.0.2.3')).status).toBe(429);
  });
});

it('rates can be turned off', async () => {
  const free = await bootService({
    environment: { MILLWRIGHT_API_RATE: '0', MILLWRIGHT_API_AUTH_FAILURES: '0', MILLWRIGHT_RUN_CONCURRENCY: '0' },
  });
  try {
    const answer = await free.api('GET', '/agent/runs');
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, null]);
    const failed = await Promise.all(
      Array.from({ length: 100 }, () => free.api('GET', '/agent/runs', undefined, WRONG)),
    );
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([401]));
  } finally {
    await free.stop();
  }
});
