/**
 * The delivery log over the API: pages, filters, single entries, stored payloads, and who sees what. spec: Webhook
 * delivery (log entry), Webhook management (Inspect deliveries); contract §4, §5.9 (Log).
 */
import type { Delivery, DeliveryList } from '#contracts';
import { insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const PAYLOAD = Buffer.from('{ "a" : "\\ud800",\n "b": 1e999, "__proto__": "é" }');
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
      webhooks: { orders: { secretName: 'hook-token' }, quiet: { secretName: 'hook-token' } },
      automations: {
        triage: { webhooks: ['orders'] },
        picky: { webhooks: ['orders'], payload: { kind: ['x'] } },
        off: { webhooks: ['orders'], enabled: false },
        aside: { webhooks: ['quiet'] },
      },
    });
    folders.push(folder);
    return service.factory(slug, folder.source);
  };
  [ours, theirs] = [await made('ours'), await made('theirs')];
  for (const role of ['viewer', 'operator', 'manager', 'admin'] as const)
    keys.set(role, await makeKey(service, role, { factories: [ours] }));
  const send = (body: Uint8Array<ArrayBuffer> | string, token: string, slug = 'ours'): Promise<Response> =>
    fetch(service.ingressUrl(slug, 'orders'), { method: 'POST', headers: { authorization: `Bearer ${token}` }, body });
  await send(PAYLOAD, TOKEN);
  await send(PAYLOAD, TOKEN);
  await send('{', TOKEN);
  await send('{}', 'a-wrong-token-of-length');
  await send('x'.repeat(262_145), TOKEN);
  await send('{"kind": "x"}', TOKEN);
  await send('{}', TOKEN, 'theirs');
});

afterAll(async () => {
  await service.stop();
  await Promise.all(folders.map((folder) => folder.remove()));
});

const logOf = (factory: string, slug: string, webhook = 'orders'): string =>
  `/factory/${factory}/webhooks/${service.webhookUid(slug, webhook)}/deliveries`;
async function as(who: string, path: string): Promise<ApiAnswer> {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${keys.get(who) ?? ''}` },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as ApiAnswer['body'] };
}

async function listed(query = '', who = 'manager'): Promise<Delivery[]> {
  const answer = await as(who, `${logOf(ours, 'ours')}${query}`);
  expect(answer.status).toBe(200);
  return (answer.body as unknown as DeliveryList).deliveries;
}

describe('the log', () => {
  it('shows every outcome, newest first', async () => {
    const entries = await listed();
    expect(entries.map(({ outcome }) => outcome)).toEqual([
      'Accepted',
      'Rejected (too large)',
      'Rejected (auth)',
      'Rejected (invalid JSON)',
      'Duplicate',
      'Accepted',
    ]);
    const revision = (await as('manager', `/factory/${ours}/status`)).body['revision_applied'];
    for (const entry of entries)
      expect(entry).toMatchObject({
        entry_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        received_at: expect.stringMatching(/Z$/),
        client_address: expect.any(String),
        revision,
        count: 1,
        size_exact: expect.any(Boolean),
      });
  });

  it('says of an accepted delivery which automations matched and why others did not', async () => {
    const oldest = (await listed()).at(-1);
    expect(oldest).toMatchObject({
      delivery_id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      size: PAYLOAD.length,
      size_exact: true,
      started: [{ automation_id: expect.stringMatching(/^auto_/), run_id: expect.any(String) }],
    });
    expect(
      oldest?.skipped?.map(({ reason, failed_pointer: pointer, operator }) => ({ reason, pointer, operator })),
    ).toEqual(
      expect.arrayContaining([
        { reason: 'filter', pointer: '/kind', operator: 'in' },
        { reason: 'disabled', pointer: undefined, operator: undefined },
      ]),
    );
    expect(oldest?.skipped).toHaveLength(2);
    const run = await as('viewer', `/agent/runs/${oldest?.started?.[0]?.run_id}`);
    expect(run.body).toMatchObject({ source: 'CUSTOM_WEBHOOK', metadata: { delivery_id: oldest?.delivery_id } });
  });

  it('keeps nothing of what was refused but sizes and times, and tells managers only why', async () => {
    const [, tooLarge, auth, invalid, duplicate] = await listed();
    expect(tooLarge).toMatchObject({ size_exact: false, refused_because: 'too-large' });
    expect(invalid).toMatchObject({ size: 1, refused_because: 'invalid-json' });
    expect(auth?.delivery_id).toBe(auth?.entry_id);
    for (const entry of [tooLarge, auth, invalid, duplicate]) {
      expect(entry).not.toHaveProperty('payload_url');
      expect(entry).not.toHaveProperty('started');
    }
    for (const who of ['viewer', 'operator'])
      expect(JSON.stringify(await listed('', who))).not.toContain('refused_because');
    expect(JSON.stringify(await listed('', 'admin'))).toContain('refused_because');
  });

  it.each<[string, string[]]>([
    ['?outcome=Accepted', ['Accepted', 'Accepted']],
    ['?outcome=Duplicate', ['Duplicate']],
    [
      `?outcome=${encodeURIComponent('Rejected (auth)')}&outcome=${encodeURIComponent('Rejected (too large)')}`,
      ['Rejected (too large)', 'Rejected (auth)'],
    ],
    [`?outcome=${encodeURIComponent('Rejected (invalid JSON)')}&until=2001-01-01T00:00:00Z`, []],
    ['?since=2001-01-01T00:00:00Z&outcome=Accepted&outcome=Accepted', ['Accepted', 'Accepted']],
    ['?since=2999-01-01T00:00:00%2B01:00', []],
    [
      '?unheard=of',
      ['Accepted', 'Rejected (too large)', 'Rejected (auth)', 'Rejected (invalid JSON)', 'Duplicate', 'Accepted'],
    ],
  ])('%s shows %j', async (query, outcomes) => {
    expect((await listed(query)).map(({ outcome }) => outcome)).toEqual(outcomes);
  });

  it('is bounded by time of receipt: from `since` on, before `until`', async () => {
    const entries = await listed();
    const third = entries[2] as Delivery;
    const until = (await listed(`?until=${third.received_at}`)).map(({ entry_id: id }) => id);
    const since = (await listed(`?since=${third.received_at}`)).map(({ entry_id: id }) => id);
    expect(since).toContain(third.entry_id);
    expect(until).not.toContain(third.entry_id);
    expect([...since, ...until]).toEqual(entries.map(({ entry_id: id }) => id));
  });

  it('is paged: what comes meanwhile neither repeats nor hides an entry', async () => {
    const all = (await listed()).map(({ entry_id: id }) => id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await as(
        'viewer',
        `${logOf(ours, 'ours')}?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      const page = body as unknown as DeliveryList;
      seen.push(...page.deliveries.map(({ entry_id: id }) => id));
      cursor = page.page_info.next_cursor;
      expect(page.page_info.has_next_page).toBe(cursor !== undefined);
      if (seen.length === 2) await addEntry(ours, service.webhookUid('ours', 'orders'));
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
  });

  it('of a webhook without deliveries is empty', async () => {
    expect((await as('viewer', logOf(ours, 'ours', 'quiet'))).body).toEqual({
      deliveries: [],
      page_info: { has_next_page: false },
    });
  });
});

describe('a cursor', () => {
  it('of another log, of another query, or of nothing at all is 400', async () => {
    const path = logOf(ours, 'ours');
    const { body } = await as('viewer', `${path}?limit=1`);
    const cursor = (body as unknown as DeliveryList).page_info.next_cursor ?? '';
    expect((await as('viewer', `${path}?limit=2&cursor=${cursor}`)).status).toBe(200);
    const foreign = [
      `${logOf(ours, 'ours', 'quiet')}?cursor=${cursor}`,
      `${path}?outcome=Accepted&cursor=${cursor}`,
      `${path}?since=2001-01-01T00:00:00Z&cursor=${cursor}`,
      `/factory?cursor=${cursor}`,
      `/factory/${ours}/syncs?cursor=${cursor}`,
      `${path}?cursor=${cursor.slice(0, -4)}`,
      `${path}?cursor=x`,
      `${path}?cursor=${encodeURIComponent('{}')}`,
      `${path}?cursor=${'A'.repeat(5_000)}`,
    ];
    for (const each of foreign)
      expect(await as('viewer', each)).toMatchObject({ status: 400, body: { errors: [{ pointer: 'cursor' }] } });
  });
});

describe('malformed queries', () => {
  it.each<[string, string[]]>([
    ['?limit=0', ['limit']],
    ['?limit=501', ['limit']],
    ['?limit=ten', ['limit']],
    ['?outcome=accepted', ['outcome/0']],
    ['?outcome=Accepted&outcome=nope', ['outcome/1']],
    ['?since=yesterday', ['since']],
    ['?until=2026-13-01T00:00:00Z', ['until']],
    ['?since=2026-01-01', ['since']],
    ['?limit=0&outcome=x&since=x&until=x', ['limit', 'outcome/0', 'since', 'until']],
    ['?cursor=%00', ['cursor']],
  ])('%s is 400 and names every parameter', async (query, pointers) => {
    const answer = await as('viewer', `${logOf(ours, 'ours')}${query}`);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });
});

describe('one entry', () => {
  it('is the same as in the list, with the address of its payload', async () => {
    const oldest = (await listed()).at(-1) as Delivery;
    expect((await as('manager', `${logOf(ours, 'ours')}/${oldest.entry_id}`)).body).toEqual(oldest);
    expect(oldest.payload_url).toBe(`${service.url}/api/v1${logOf(ours, 'ours')}/${oldest.entry_id}/payload`);
    const answer = await fetch(oldest.payload_url ?? '', {
      headers: { authorization: `Bearer ${keys.get('viewer') ?? ''}` },
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PAYLOAD);
    expect(
      Object.fromEntries(
        ['content-type', 'content-disposition', 'content-security-policy', 'x-content-type-options'].map((name) => [
          name,
          answer.headers.get(name),
        ]),
      ),
    ).toEqual({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="event-payload.json"',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
  });

  it('that was not accepted has no payload', async () => {
    for (const { entry_id: id } of (await listed()).filter(({ outcome }) => outcome !== 'Accepted')) {
      expect(await as('manager', `${logOf(ours, 'ours')}/${id}/payload`)).toMatchObject({
        status: 404,
        body: { detail: 'the payload was not found' },
      });
    }
  });

  it('is found in the log of its own webhook only, and nothing of another factory is', async () => {
    const [own] = await listed();
    const [foreign] = ((await service.api('GET', logOf(theirs, 'theirs'))).body as unknown as DeliveryList).deliveries;
    const rows: [string, string][] = [
      [`${logOf(ours, 'ours', 'quiet')}/${own?.entry_id}`, 'the delivery was not found'],
      [`${logOf(ours, 'ours')}/${foreign?.entry_id}`, 'the delivery was not found'],
      [`${logOf(ours, 'ours')}/${foreign?.entry_id}/payload`, 'the delivery was not found'],
      [`${logOf(ours, 'ours')}/00000000-0000-7000-8000-000000000000`, 'the delivery was not found'],
      [`${logOf(ours, 'ours')}/x`, 'the delivery was not found'],
      [logOf(ours, 'theirs'), 'the webhook was not found'],
      [`${logOf(ours, 'theirs')}/${foreign?.entry_id}`, 'the webhook was not found'],
      [logOf(theirs, 'theirs'), 'the factory was not found'],
      [`${logOf(theirs, 'theirs')}/${foreign?.entry_id}/payload`, 'the factory was not found'],
      [
        `${logOf('fac_00000000000000000000000000', 'theirs')}/${foreign?.entry_id}/payload`,
        'the factory was not found',
      ],
    ];
    for (const [path, detail] of rows)
      expect({ path, ...(await as('admin', path)) }).toMatchObject({
        path,
        status: 404,
        body: { error: 'resource_not_found', detail },
      });
  });
});

/** A delivery that comes while somebody reads. */
async function addEntry(factoryUid: string, webhookUid: string): Promise<void> {
  const id = `ffffffff-ffff-7fff-bfff-${Math.random().toString(16).slice(2, 14).padEnd(12, '0')}`;
  const columns = [
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
  ] as const;
  await service.service.database.run(() =>
    insert('delivery', columns, [[id, webhookUid, factoryUid, id, 'duplicate', 1, 1, Date.now(), '127.0.0.1', 'r', 1]]),
  );
}
