/**
 * A payload filter against the newest deliveries, and one made of deliveries. spec: Webhook management (Test filter);
 * contract §4, §7.
 */
import type { FilterReplayResult, FilterSuggestion } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { connectRaw, requestBytes } from '../support/network/raw-http.ts';
import { bootService, eventually, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { change } from '../../apps/server/store/database/transactions.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const SECRET_WORD = 'hidden-word-of-a-payload';
let service: TestService;
const folders: FactoryFolder[] = [];
let uid: string;
let theirs: string;
let viewer: string;
/** Entries by the names that the deliveries have here. */
const entries = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook-token', TOKEN);
  const made = async (slug: string): Promise<string> => {
    const folder = await factoryFolder({
      webhooks: {
        orders: { secretName: 'hook-token' },
        sales: { secretName: 'hook-token' },
        odd: { secretName: 'hook-token' },
        quiet: { secretName: 'hook-token' },
      },
    });
    folders.push(folder);
    return service.factory(slug, folder.source);
  };
  [uid, theirs] = [await made('shop'), await made('theirs')];
  viewer = await makeKey(service, 'viewer', { factories: [uid] });
  await sent('opened', 'shop', 'orders', { action: 'opened', who: SECRET_WORD, tags: [{ id: 1 }] });
  await sent('closed', 'shop', 'orders', { action: 'closed', who: SECRET_WORD, tags: [{ id: 2 }] });
  await sent('duplicate', 'shop', 'orders', { action: 'closed', who: SECRET_WORD, tags: [{ id: 2 }] });
  await sent('refused', 'shop', 'orders', {}, 'a-wrong-token-of-length');
  await sent('reopened', 'shop', 'orders', { action: 'reopened', who: SECRET_WORD, tags: [{ id: 1 }, { id: 2 }] });
  await sent('sold', 'shop', 'sales', { action: 'sold', who: SECRET_WORD });
  await sent('theirs', 'theirs', 'orders', { action: 'opened' });
  const hostile: [string, string][] = [
    ['deep', `${'{"n":'.repeat(200)}"${SECRET_WORD}"${'}'.repeat(200)}`],
    [
      'wide',
      JSON.stringify({ kind: 'wide', ...Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`k${n}`, 1])) }),
    ],
    ['list', JSON.stringify(Array.from({ length: 60_000 }, () => ({})))],
    ['operators', JSON.stringify({ kind: 'op', in: { in: SECRET_WORD, exists: true, not_in: ['x'] } })],
    ['names', '{"kind": "names", "__proto__": {"constructor": "x"}, "a/b": {"~": "y"}}'],
    ['scalar', '7'],
  ];
  for (const [name, text] of hostile) await sent(name, 'shop', 'odd', text);
});

afterAll(async () => {
  await service.stop();
  await Promise.all(folders.map((folder) => folder.remove()));
});

async function sent(name: string, factory: string, slug: string, body: unknown, token = TOKEN): Promise<void> {
  const url = service.ingressUrl(factory, slug);
  if (typeof body === 'string')
    expect((await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })).status).toBe(
      202,
    );
  else await deliver(url, token, body);
  const factoryUid = factory === 'shop' ? uid : theirs;
  const { body: page } = await service.api(
    'GET',
    `/factory/${factoryUid}/webhooks/${hook(slug, factory)}/deliveries?limit=1`,
  );
  entries.set(name, (page['deliveries'] as { entry_id: string }[])[0]?.entry_id ?? '');
}

const hook = (slug: string, factory = 'shop'): string => service.webhookUid(factory, slug);
const entry = (name: string): string => entries.get(name) ?? '';
const entriesOf = (...names: string[]): string[] => names.map(entry);
const nameOf = (entryId: string): string | undefined => [...entries].find(([, known]) => known === entryId)?.[0];
const asks = (what: 'replay' | 'suggest', body: unknown, factory = uid, key = viewer): Promise<ApiAnswer> =>
  service.api('POST', `/factory/${factory}/filters/${what}`, body, key);

async function replayed(body: unknown): Promise<FilterReplayResult> {
  const answer = await asks('replay', body);
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).not.toContain(SECRET_WORD);
  return answer.body as unknown as FilterReplayResult;
}

async function suggested(body: unknown): Promise<FilterSuggestion> {
  const answer = await asks('suggest', body);
  expect(answer.status).toBe(200);
  return answer.body as unknown as FilterSuggestion;
}

const told = ({ deliveries }: FilterReplayResult): unknown[] =>
  deliveries.map(({ entry_id: entryId, result }) => [nameOf(entryId), result]);
const ORDERS = (): string[] => [hook('orders')];

describe('a replay', () => {
  it('asks the newest accepted deliveries of the selected webhooks, newest first, as a test of each does', async () => {
    const filter = { action: ['opened', 'reopened'], tags: { id: [1] } };
    const result = await replayed({ filter, webhook_uids: [hook('sales'), hook('orders'), hook('orders')] });
    expect(told(result)).toEqual([
      ['sold', 'Would not trigger'],
      ['reopened', 'Would trigger'],
      ['closed', 'Would not trigger'],
      ['opened', 'Would trigger'],
    ]);
    expect(result).toMatchObject({ would_trigger: 2, would_not_trigger: 2, undecided: 0 });
    const [sold, reopened] = result.deliveries;
    expect(sold).toEqual({
      entry_id: entry('sold'),
      webhook_uid: hook('sales'),
      delivery_id: expect.stringMatching(/^sha256:/),
      received_at: expect.any(String),
      result: 'Would not trigger',
      payload_check: { passed: false, failed_pointer: '/action', operator: 'in' },
    });
    expect(reopened).toMatchObject({ payload_check: { passed: true } });
    for (const delivery of result.deliveries) {
      const { body } = await service.api(
        'POST',
        `/factory/${uid}/filters/test`,
        { filter, entry_id: delivery.entry_id },
        viewer,
      );
      expect(body).toMatchObject({ result: delivery.result, payload_check: delivery.payload_check });
    }
  });

  it('asks no more than it may, and all webhooks of the factory where none are selected', async () => {
    expect(told(await replayed({ filter: {}, limit: 3 })).map((each) => (each as string[])[0])).toEqual([
      'scalar',
      'names',
      'operators',
    ]);
    const all = await replayed({ filter: {} });
    expect(all).toMatchObject({ would_trigger: 10, would_not_trigger: 0, undecided: 0 });
  });

  it('of nothing is empty: no webhook, unknown ones, those of others, one without deliveries', async () => {
    for (const webhookUids of [
      [],
      ['wh_00000000000000000000000000', 'x'],
      [hook('orders', 'theirs')],
      [hook('quiet')],
    ]) {
      expect(await replayed({ filter: {}, webhook_uids: webhookUids })).toEqual({
        deliveries: [],
        would_trigger: 0,
        would_not_trigger: 0,
        undecided: 0,
      });
    }
  });

  it('of hostile payloads is answered, for any filter', async () => {
    const nested = Array.from({ length: 10 }).reduce<unknown>((inner) => ({ n: inner }), ['x']);
    const filters = [
      nested,
      JSON.parse('{"__proto__": {"constructor": ["x"]}}'),
      { in: { in: { in: [SECRET_WORD] } } },
      Object.fromEntries(Array.from({ length: 63 }, (_, n) => [`x${n}`, { exists: false }])),
    ];
    const results = [];
    for (const filter of filters)
      results.push(
        told(await replayed({ filter, webhook_uids: [hook('odd')] })).flatMap((each) =>
          (each as string[])[1] === 'Would trigger' ? [(each as string[])[0]] : [],
        ),
      );
    expect(results).toEqual([[], ['names'], ['operators'], ['names', 'operators', 'list', 'wide', 'deep']]);
  });

  it('calls undecided what was damaged at rest', async () => {
    await sent('damaged', 'shop', 'sales', { action: 'sold', again: true });
    await damage(entry('damaged'));
    const result = await replayed({ filter: {}, webhook_uids: [hook('sales')] });
    expect(told(result)).toEqual([
      ['damaged', 'Undecided'],
      ['sold', 'Would trigger'],
    ]);
    expect(result.deliveries[0]).not.toHaveProperty('payload_check');
    expect(result).toMatchObject({ would_trigger: 1, undecided: 1 });
  });

  it.each<[string, unknown, string[]]>([
    ['no filter', {}, ['/filter']],
    ['a filter that is none', { filter: null }, ['/filter']],
    ['every problem of a filter', { filter: { a: 1, b: { c: {} } } }, ['/filter/a', '/filter/b/c']],
    ['too many at once', { filter: {}, limit: 51 }, ['/limit']],
    ['none at all', { filter: {}, limit: 0 }, ['/limit']],
    [
      'problems of everything',
      { filter: { a: 1 }, webhook_uids: [7], limit: 'x' },
      ['/filter/a', '/limit', '/webhook_uids/0'],
    ],
    ['no object', [], ['']],
  ])('of a malformed request (%s) is 400 with every pointer', async (_what, body, pointers) => {
    const answer = await asks('replay', body);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });
});

describe('a suggestion', () => {
  it('takes the given deliveries and leaves the other ones of the same webhooks', async () => {
    expect(await suggested({ entry_ids: entriesOf('opened') })).toEqual({
      filter: { action: ['opened'] },
      takes: 1,
      leaves: 2,
      takes_besides: 0,
      unreadable: 0,
    });
    const two = await suggested({
      entry_ids: entriesOf('opened', 'sold'),
      not_entry_ids: entriesOf('closed', 'reopened'),
    });
    expect(two).toEqual({
      filter: { action: ['opened', 'sold'] },
      takes: 2,
      leaves: 2,
      takes_besides: 0,
      unreadable: 0,
    });
    expect(
      told(await replayed({ filter: two.filter, webhook_uids: [...ORDERS(), hook('sales')] }))
        .filter((each) => (each as string[])[1] === 'Would trigger')
        .map((each) => (each as string[])[0]),
    ).toEqual(['sold', 'opened']);
  });

  it('is no filter where nothing tells them apart', async () => {
    await sent('again', 'shop', 'orders', { action: 'opened', who: SECRET_WORD, tags: [{ id: 1 }], n: 123_456 });
    expect(await suggested({ entry_ids: entriesOf('opened'), not_entry_ids: entriesOf('again', 'closed') })).toEqual({
      filter: { action: ['opened'], n: { exists: false } },
      takes: 1,
      leaves: 2,
      takes_besides: 0,
      unreadable: 0,
    });
    expect(
      await suggested({ entry_ids: entriesOf('again', 'closed', 'reopened'), not_entry_ids: entriesOf('opened') }),
    ).toMatchObject({ takes: 3, leaves: 0, takes_besides: 1, filter: {} });
    expect(await suggested({ entry_ids: entriesOf('opened'), not_entry_ids: [] })).toEqual({
      filter: {},
      takes: 1,
      leaves: 0,
      takes_besides: 0,
      unreadable: 0,
    });
  });

  it.each(['deep', 'wide', 'list', 'operators', 'names', 'scalar'])(
    'of a hostile payload (%s) can be used',
    async (name) => {
      const made = await suggested({ entry_ids: entriesOf(name) });
      expect(made.takes).toBe(1);
      const result = await replayed({ filter: made.filter, webhook_uids: [hook('odd')] });
      expect(result).toMatchObject({
        would_trigger: 1 + made.takes_besides,
        would_not_trigger: made.leaves,
        undecided: made.unreadable,
      });
      expect(told(result)).toContainEqual([name, 'Would trigger']);
      if (['operators', 'names', 'wide'].includes(name)) expect(made).toMatchObject({ leaves: 5, takes_besides: 0 });
    },
  );

  it('counts what cannot be read any more', async () => {
    await sent('broken', 'shop', 'orders', { action: 'broken' });
    await damage(entry('broken'));
    expect(await suggested({ entry_ids: entriesOf('opened', 'broken'), not_entry_ids: entriesOf('closed') })).toEqual({
      filter: { action: ['opened'] },
      takes: 1,
      leaves: 1,
      takes_besides: 0,
      unreadable: 1,
    });
    expect(await suggested({ entry_ids: entriesOf('broken'), not_entry_ids: entriesOf('closed') })).toEqual({
      filter: {},
      takes: 0,
      leaves: 0,
      takes_besides: 1,
      unreadable: 1,
    });
  });

  it('of a delivery whose payload was not kept is 422, naming each', async () => {
    const answer = await asks('suggest', {
      entry_ids: entriesOf('opened', 'duplicate'),
      not_entry_ids: entriesOf('closed', 'refused'),
    });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: 'operation_not_supported',
        detail: expect.stringContaining('was not kept'),
        errors: [{ pointer: '/entry_ids/1' }, { pointer: '/not_entry_ids/1' }],
      },
    });
  });

  it('of a delivery of another factory is 404, like one that does not exist', async () => {
    const ids = [entry('theirs'), '00000000-0000-7000-8000-000000000000', 'x'];
    for (const body of [
      ...ids.map((id) => ({ entry_ids: [entry('opened'), id] })),
      ...ids.map((id) => ({ entry_ids: [entry('opened')], not_entry_ids: [id] })),
    ]) {
      expect(await asks('suggest', body)).toMatchObject({
        status: 404,
        body: { detail: 'the delivery was not found' },
      });
    }
  });

  it.each<[string, (id: string) => unknown, string[]]>([
    ['nothing to take', () => ({ entry_ids: [] }), ['/entry_ids']],
    ['no entries', () => ({}), ['/entry_ids']],
    ['the same twice', (id) => ({ entry_ids: [id, id] }), ['/entry_ids/1']],
    ['the same on both sides', (id) => ({ entry_ids: [id], not_entry_ids: ['x', id] }), ['/not_entry_ids/1']],
    ['too many', () => ({ entry_ids: Array.from({ length: 51 }, (_, n) => `e${n}`) }), ['/entry_ids']],
    ['NUL', () => ({ entry_ids: ['\0'], not_entry_ids: [7] }), ['/entry_ids/0', '/not_entry_ids/0']],
    ['no object', () => null, ['']],
  ])('of a malformed request (%s) is 400 with every pointer', async (_what, body, pointers) => {
    const answer = await asks('suggest', body(entry('opened')));
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });
});

describe('both', () => {
  const BODIES = (): ['replay' | 'suggest', unknown][] => [
    ['replay', { filter: {} }],
    ['suggest', { entry_ids: [entry('opened')] }],
  ];

  it('are for viewers of the factory, and for no others', async () => {
    const manager = await makeKey(service, 'manager', { factories: [uid] });
    for (const [what, body] of BODIES()) {
      expect((await asks(what, body, uid, manager)).status).toBe(200);
      for (const factory of [theirs, 'fac_00000000000000000000000000'])
        expect(await asks(what, body, factory)).toMatchObject({
          status: 404,
          body: { detail: 'the factory was not found' },
        });
    }
  });

  /** Some millions of looks: so much that others have to wait. */
  const HEAVY = { ...Object.fromEntries(Array.from({ length: 63 }, (_, n) => [`x${n}`, { exists: false }])), z: ['x'] };

  it('of one key wait in a short line, and are told when to come again; other keys have their turn', async () => {
    const other = await makeKey(service, 'viewer', { factories: [uid] });
    const many = Array.from({ length: 30 }, () => asks('replay', { filter: HEAVY, webhook_uids: [hook('odd')] }));
    const [theirs, ...ours] = await Promise.all([asks('replay', { filter: {}, limit: 1 }, uid, other), ...many]);
    expect(theirs.status).toBe(200);
    const refused = ours.filter(({ status }) => status !== 200);
    expect(ours.length - refused.length).toBeGreaterThanOrEqual(4);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, body, headers } of refused)
      expect([status, body['error'], body['retryable'], Number(headers.get('retry-after')) > 0]).toEqual([
        429,
        'resource_unavailable',
        true,
        true,
      ]);
  });

  it("of clients that leave are in nobody's way, and no faults", async () => {
    const isLine = (line: string): boolean => line.includes('"message":"request"') && line.includes('filters/replay');
    const before = service.logged.filter(isLine).length;
    const body = JSON.stringify({ filter: HEAVY, webhook_uids: [hook('odd')] });
    const headers: [string, string][] = [
      ['authorization', `Bearer ${viewer}`],
      ['content-type', 'application/json'],
    ];
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectRaw(service.url)));
    for (const client of clients)
      client.send(
        requestBytes(service.url, { method: 'POST', target: `/api/v1/factory/${uid}/filters/replay`, headers, body }),
      );
    await service.api('GET', '/factory'); // came after them
    for (const client of clients) client.destroy();
    const lines = await eventually('all of them are written down', () => {
      const since = service.logged.filter(isLine).slice(before);
      return since.length === clients.length ? since : undefined;
    });
    expect(lines.filter((line) => line.includes('"aborted":true')).length).toBeGreaterThanOrEqual(3);
    expect((await asks('replay', { filter: {}, limit: 1 })).status).toBe(200);
    expect(service.logged.filter((line) => line.includes('request failed'))).toEqual([]);
  });

  it('leave no payload in the log', async () => {
    await asks('suggest', { entry_ids: entriesOf('operators'), not_entry_ids: entriesOf('deep') });
    expect(service.logged.join('\n')).not.toContain(SECRET_WORD);
  });

  it('know no webhook that is deleted', async () => {
    const made = (await service.api('POST', '/factory', { slug: 'desk', source: { kind: 'dashboard' } })).body;
    const factory = String(made['uid']);
    const {
      uid: webhookUid,
      ingress_url: url,
      secret,
    } = (await service.api('POST', `/factory/${factory}/webhooks`, { name: 'orders' })).body as Record<string, string>;
    await deliver(url ?? '', secret ?? '', { action: 'x' });
    const before = (await asks('replay', { filter: {} }, factory, service.adminKey))
      .body as unknown as FilterReplayResult;
    expect(before.deliveries).toMatchObject([{ webhook_uid: webhookUid, result: 'Would trigger' }]);
    await service.api('DELETE', `/factory/${factory}/webhooks/${webhookUid}`);
    expect(
      (await asks('replay', { filter: {}, webhook_uids: [webhookUid] }, factory, service.adminKey)).body,
    ).toMatchObject({ deliveries: [] });
    expect(
      await asks('suggest', { entry_ids: [before.deliveries[0]?.entry_id] }, factory, service.adminKey),
    ).toMatchObject({ status: 404, body: { detail: 'the delivery was not found' } });
  });
});

async function damage(entryId: string): Promise<void> {
  await service.service.database.run(() =>
    change(
      "UPDATE delivery SET payload = ?, payload_encoding = 'deflate-raw' WHERE entry_id = ?",
      Buffer.from('no deflate stream'),
      entryId,
    ),
  );
}
