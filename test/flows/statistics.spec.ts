/** What charts show, over the API: spans, buckets, who sees what, and what is refused. contract §12.2 (Statistics). */
import type { DeliveryStatistics, RunStatistics } from '#contracts';
import { materializeOldest } from '../../apps/server/store/runs/waiting-runs.ts';
import { change, insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The clocks of half of the world change in this night. */
const NIGHT = '2026-03-29T01:00:00.000Z';
let service: TestService;
const folders: FactoryFolder[] = [];
let ours: string;
let theirs: string;
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook-token', TOKEN);
  const made = async (slug: string): Promise<string> => {
    const folder = await factoryFolder({
      webhooks: { orders: { secretName: 'hook-token' } },
      automations: { triage: { webhooks: ['orders'] }, picky: { webhooks: ['orders'], payload: { kind: ['x'] } } },
    });
    folders.push(folder);
    return service.factory(slug, folder.source);
  };
  [ours, theirs] = [await made('ours'), await made('theirs')];
  keys.set('limited', await makeKey(service, 'viewer', { factories: [ours] }));
  keys.set('limited too', await makeKey(service, 'viewer', { factories: [theirs] }));
  keys.set('limited to both', await makeKey(service, 'viewer', { factories: [theirs, ours, ours] }));
  keys.set('limited to nothing', await makeKey(service, 'viewer', { factories: [] }));
  keys.set('viewer', await makeKey(service, 'viewer'));
  const send = (body: string, token = TOKEN, slug = 'ours'): Promise<Response> =>
    fetch(service.ingressUrl(slug, 'orders'), { method: 'POST', headers: { authorization: `Bearer ${token}` }, body });
  await send('{"n": 1}');
  await send('{"n": 1}');
  await send('{');
  await send('{"kind": "x"}');
  await send('{}', TOKEN, 'theirs');
  for (let failure = 0; failure < 3; failure += 1) await send('{}', 'a-wrong-token-of-length');
  await service.service.database.run(() =>
    change(
      "UPDATE delivery SET entries = 40 WHERE outcome = 'rejectedAuth' AND entry_id = (SELECT max(entry_id) " +
        "FROM delivery WHERE outcome = 'rejectedAuth')",
    ),
  );
  await service.service.database.run(() => materializeOldest(100));
  await service.service.database.run(() =>
    change(
      "UPDATE run SET state = 'SUCCEEDED', started_at = created_at + 250 WHERE run_id = (SELECT min(run_id) " +
        'FROM run WHERE factory_uid = ?)',
      ours,
    ),
  );
});

afterAll(async () => {
  await service.stop();
  await Promise.all(folders.map((folder) => folder.remove()));
});

async function ask(path: string, query: Record<string, string | number> = {}, who = 'viewer'): Promise<ApiAnswer> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return service.api('GET', `/statistics/${path}?${search.toString()}`, undefined, keys.get(who));
}

async function deliveries(query: Record<string, string | number> = {}, who?: string): Promise<DeliveryStatistics> {
  const { status, body } = await ask('deliveries', query, who);
  expect(status).toBe(200);
  return body as unknown as DeliveryStatistics;
}

async function runs(query: Record<string, string | number> = {}, who?: string): Promise<RunStatistics> {
  const { status, body } = await ask('runs', query, who);
  expect(status).toBe(200);
  return body as unknown as RunStatistics;
}

const OURS = { Accepted: 2, Duplicate: 1, 'Rejected (auth)': 42, 'Rejected (invalid JSON)': 1 };

describe('deliveries', () => {
  it('are counted by the words of the log, in one day of half hours that ends now', async () => {
    const {
      since,
      until,
      bucket_seconds: seconds,
      buckets,
      totals,
      truncated,
    } = await deliveries({ factory_uid: ours });
    expect({ seconds, totals, truncated }).toEqual({ seconds: 1_800, totals: OURS, truncated: false });
    expect([48, 49]).toContain(buckets.length);
    expect(buckets.map(({ from }) => from)).toEqual(
      buckets.map((_, at) => new Date(Date.parse(since) + at * 30 * MINUTE_MS).toISOString()),
    );
    expect(Date.parse(until)).toBe(Date.parse(since) + buckets.length * 30 * MINUTE_MS);
    expect(Date.parse(until) - Date.now()).toBeLessThanOrEqual(30 * MINUTE_MS);
    // The hour may have turned while they were sent.
    const last = buckets.slice(-2).map(({ outcomes }) => outcomes);
    expect(last.reduce((sum, outcomes) => sum + (outcomes['Rejected (auth)'] ?? 0), 0)).toBe(42);
    expect(buckets.slice(0, -2).every(({ outcomes }) => Object.keys(outcomes).length === 0)).toBe(true);
  });

  it('can be those of a webhook, and are none where it is another factory’s', async () => {
    const [own, others] = [service.webhookUid('ours', 'orders'), service.webhookUid('theirs', 'orders')];
    expect((await deliveries({ webhook_uid: own })).totals).toEqual(OURS);
    expect((await deliveries({ webhook_uid: others })).totals).toEqual({ Accepted: 1 });
    expect((await deliveries({ webhook_uid: others, factory_uid: ours })).totals).toEqual({});
    expect((await deliveries({ webhook_uid: others }, 'limited')).totals).toEqual({});
    expect((await deliveries({ webhook_uid: 'wh_none' })).totals).toEqual({});
  });
});

describe('runs', () => {
  it('are counted by their state, with how soon they started', async () => {
    const { totals, start_latency: latency, buckets } = await runs({ factory_uid: ours });
    expect(totals).toEqual({ QUEUED: 2, SUCCEEDED: 1 });
    expect(latency).toEqual({ count: 1, p50_ms: 250, p90_ms: 250, p99_ms: 250 });
    expect(buckets[0]).toEqual({ from: expect.any(String), states: {}, start_latency: { count: 0 } });
    expect(buckets.reduce((sum, { start_latency: { count } }) => sum + count, 0)).toBe(1);
  });

  it('can be those of an automation, of a webhook, or of both', async () => {
    const listed = await service.api('GET', `/factory/${ours}/automations`);
    const automations = listed.body['automations'] as { automation_id?: string; uid?: string; name: string }[];
    const [picky, triage] = ['picky', 'triage'].map((name) => {
      const found = automations.find((one) => one.name === name);
      return found?.automation_id ?? found?.uid ?? '';
    }) as [string, string];
    const webhook = service.webhookUid('ours', 'orders');
    const countOf = async (query: Record<string, string>, who?: string): Promise<number> =>
      Object.values((await runs(query, who)).totals).reduce((sum, count) => sum + count, 0);
    expect(await countOf({ automation_id: picky })).toBe(1);
    expect(await countOf({ automation_id: triage, webhook_uid: webhook })).toBe(2);
    expect(await countOf({ webhook_uid: webhook, factory_uid: ours })).toBe(3);
    expect(await countOf({ webhook_uid: webhook, factory_uid: theirs })).toBe(0);
    expect(await countOf({ automation_id: triage }, 'limited too')).toBe(0);
    expect(await countOf({ automation_id: 'auto_none' })).toBe(0);
  });
});

describe('a key', () => {
  it('counts what it may see, also where others have just asked the same', async () => {
    expect((await deliveries()).totals).toEqual({ ...OURS, Accepted: 3 });
    expect((await deliveries({}, 'limited')).totals).toEqual(OURS);
    expect((await deliveries({}, 'limited too')).totals).toEqual({ Accepted: 1 });
    expect((await deliveries({}, 'limited to both')).totals).toEqual({ ...OURS, Accepted: 3 });
    expect((await deliveries({}, 'limited to nothing')).totals).toEqual({});
    expect((await runs()).totals).toEqual({ QUEUED: 3, SUCCEEDED: 1 });
    expect((await runs({}, 'limited too')).totals).toEqual({ QUEUED: 1 });
    expect((await runs({}, 'limited to nothing')).totals).toEqual({});
  });

  it.each(['deliveries', 'runs'])('learns nothing of factories that it may not see from %s', async (path) => {
    const hidden = await ask(path, { factory_uid: theirs }, 'limited');
    const unknown = await ask(path, { factory_uid: 'fac_00000000000000000000000000' }, 'limited');
    expect([hidden.status, hidden.body['error'], hidden.body['detail']]).toEqual([
      404,
      'resource_not_found',
      unknown.body['detail'],
    ]);
    expect(unknown.status).toBe(404);
    expect((await ask(path, { factory_uid: 'fac_none' })).status).toBe(404);
  });
});

describe('buckets', () => {
  it('lie in UTC: a night in which clocks change has as many as every other', async () => {
    const at = Date.parse(NIGHT);
    const edges = [-1, 0, 30 * MINUTE_MS - 1, 30 * MINUTE_MS];
    await service.service.database.run(() =>
      insert(
        'delivery',
        [
          'entry_id',
          'webhook_uid',
          'factory_uid',
          'delivery_id',
          'outcome',
          'size',
          'size_exact',
          'received_at',
          'client_address',
          'revision',
          'entries',
        ],
        edges.map((off, n) => [
          `${(at + off)
            .toString(16)
            .padStart(12, '0')
            .replace(/^(.{8})/, '$1-')}-7000-8000-00000000000${n}`,
          service.webhookUid('ours', 'orders'),
          ours,
          'd',
          'accepted',
          1,
          1,
          at + off,
          '192.0.2.1',
          'r',
          1,
        ]),
      ),
    );
    const { buckets, since, until } = await deliveries({
      since: '2026-03-29T02:00:00+02:00',
      until: '2026-03-30T00:00:00Z',
    });
    expect([since, until, buckets.length]).toEqual(['2026-03-29T00:00:00.000Z', '2026-03-30T00:00:00.000Z', 48]);
    expect(buckets.filter(({ outcomes }) => outcomes['Accepted'] !== undefined)).toEqual([
      { from: '2026-03-29T00:30:00.000Z', outcomes: { Accepted: 1 } },
      { from: NIGHT, outcomes: { Accepted: 2 } },
      { from: '2026-03-29T01:30:00.000Z', outcomes: { Accepted: 1 } },
    ]);
    expect((await deliveries({ since: NIGHT, until: '2026-03-29T01:30:00Z', buckets: 1 })).totals).toEqual({
      Accepted: 2,
    });
  });

  it.each([
    [{ since: '2026-03-01T00:00:00Z', until: '2026-04-01T00:00:00Z', buckets: 31 }, 86_400, 31],
    [{ since: '2026-03-01T00:00:00Z', until: '2026-03-08T00:00:00Z' }, 10_800, 56],
    [{ since: '2026-03-01T00:00:59.999Z', until: '2026-03-01T00:01:00Z', buckets: 200 }, 60, 1],
    [{ until: '1970-01-01T00:00:30Z' }, 60, 1],
    [{ since: '9998-12-31T00:00:00Z', until: '9999-01-01T00:00:00Z', buckets: 1 }, 86_400, 1],
  ])('of %j are of a round length', async (query, seconds, count) => {
    const { bucket_seconds: length, buckets } = await runs(query);
    expect([length, buckets.length]).toEqual([seconds, count]);
  });
});

describe('what is refused', () => {
  const far = new Date(Date.now() + 2 * DAY_MS).toISOString();
  it.each<[Record<string, string | number>, string[]]>([
    [{ since: '2026-03-01T00:00:00Z', until: '2026-04-01T00:00:00.001Z' }, ['since']],
    [{ since: '2026-03-02T00:00:00Z', until: '2026-03-01T00:00:00Z' }, ['since']],
    [{ since: '2026-03-02T00:00:00Z', until: '2026-03-02T00:00:00Z' }, ['since']],
    [{ since: '2026-03-02T00:00:00Z' }, ['since']],
    [{ since: far }, ['since']],
    [{ since: '1969-12-31T23:59:59Z', until: '1970-01-02T00:00:00Z' }, ['since']],
    [{ since: '0000-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' }, ['since', 'until']],
    [{ since: '0000-01-01T00:00:00+14:00' }, ['since']],
    [{ until: '1970-01-01T00:00:00Z' }, ['until']],
    [{ since: 'yesterday', until: '2026-02-30T00:00:00Z', buckets: 'many' }, ['since', 'until', 'buckets']],
    [{ buckets: 0 }, ['buckets']],
    [{ buckets: 201 }, ['buckets']],
    [{ buckets: '1e2' }, ['buckets']],
    [{ factory_uid: 'f'.repeat(65) }, ['factory_uid']],
    [{ webhook_uid: 'w'.repeat(65) }, ['webhook_uid']],
  ])('%j, at %j', async (query, pointers) => {
    for (const path of ['deliveries', 'runs']) {
      const { status, body } = await ask(path, query);
      expect({ status, pointers: (body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer) }).toEqual({
        status: 400,
        pointers,
      });
    }
  });

  it('is no text that means something to a database', async () => {
    for (const hostile of ["' OR 1=1 --", '%', '"; DROP TABLE run', '\\', '🏭']) {
      expect((await deliveries({ webhook_uid: hostile })).totals).toEqual({});
      expect((await runs({ webhook_uid: hostile, automation_id: hostile })).totals).toEqual({});
      expect((await ask('runs', { factory_uid: hostile })).status).toBe(404);
    }
    expect((await ask('deliveries', { webhook_uid: 'a\u0000b' })).status).toBe(400);
    const twice = await service.api('GET', '/statistics/deliveries?webhook_uid=a&webhook_uid=b');
    expect(twice.status).toBe(400);
  });
});

describe('the same question', () => {
  it('is one answer for all who ask at about the same time', async () => {
    const query = { since: '2026-03-29T00:00:00Z', until: '2026-03-30T00:00:00Z', buckets: 7 };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => ask('deliveries', query, at % 2 === 0 ? 'viewer' : 'limited')),
    );
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});
