/**
 * Stored bytes that are delivered again, over real HTTP and on every database: judged by what is served now, never a
 * duplicate, counted and written down. spec: Webhook delivery; contract §4, §5.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delivery, DeliveryList } from '#contracts';
import { change, rows } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder, type FactoryTree } from '../support/factories/factory-folder.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const NOWHERE = '00000000-0000-7000-8000-000000000000';
/** One for each test: rates are counted for each. */
const WEBHOOKS = [
  'orders',
  'edited',
  'switched',
  'flickering',
  'removed',
  'flooded',
  'keyed',
  'damaged',
  'named',
  'refused',
  'waiting',
  'pruned',
  'captured',
] as const;
type Slug = (typeof WEBHOOKS)[number];
const server = await postgresServer();

describe('on SQLite', () => {
  flows(async () => ({ environment: {}, drop: async () => undefined }));
});

const onPostgres = server.ok ? describe : describe.skip;
onPostgres(`by another replica on PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  let [service, replica, drop]: [TestService?, TestService?, (() => Promise<void>)?] = [];

  beforeAll(async () => {
    const prepared = await onFreshDatabase();
    drop = prepared.drop;
    const environment = { ...prepared.environment, MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' };
    service = await bootService({ environment });
    replica = await bootService({ environment: { ...environment, MILLWRIGHT_ADMIN_KEY: service.adminKey } });
  }, 120_000);

  afterAll(async () => {
    await replica?.stop();
    await service?.stop();
    await drop?.();
  });

  it('knows a webhook from the moment at which it is made', async () => {
    if (service === undefined || replica === undefined) throw new Error('there is no replica');
    const { uid: factory } = (await service.api('POST', '/factory', { slug: 'desk', source: { kind: 'dashboard' } }))
      .body as { uid: string };
    for (let count = 0; count < 5; count += 1) {
      // The replica has looked just now: its memory is believed for a second where senders are refused.
      expect((await fetch(replica.ingressUrl('desk', 'nothing'), { method: 'POST', body: '{}' })).status).toBe(404);
      const made = (await service.api('POST', `/factory/${factory}/webhooks`, { name: `orders-${count}` }))
        .body as Record<string, string>;
      const log = `/factory/${factory}/webhooks/${made['uid']}/deliveries`;
      expect(
        (
          await fetch(made['ingress_url'] ?? '', {
            method: 'POST',
            headers: { authorization: `Bearer ${made['secret']}` },
            body: '{}',
          })
        ).status,
      ).toBe(202);
      const [entry] = ((await service.api('GET', log)).body as unknown as DeliveryList).deliveries;
      expect((await replica.api('POST', `${log}/${entry?.entry_id}/resend`)).status).toBe(202);
    }
  });
});

onPostgres(`on PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  flows(onFreshDatabase);
});

interface Prepared {
  environment: Record<string, string>;
  drop(): Promise<void>;
}

async function onFreshDatabase(): Promise<Prepared> {
  if (!server.ok) throw new Error(server.reason);
  const database = await freshDatabase(server.url);
  const root = mkdtempSync(join(tmpdir(), 'millwright-resend-'));
  const keys = { MILLWRIGHT_MASTER_KEY_FILE: join(root, 'master'), MILLWRIGHT_UID_KEY_FILE: join(root, 'uid') };
  for (const file of Object.values(keys)) writeFileSync(file, Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
  return {
    environment: { ...keys, MILLWRIGHT_DATABASE_URL: database.url },
    drop: () => database.drop().then(() => rmSync(root, { recursive: true })),
  };
}

function flows(prepare: () => Promise<Prepared>): void {
  let service: TestService;
  let folder: FactoryFolder;
  let factory: string;
  let drop: () => Promise<void>;
  let operator: string;
  const without = new Set<Slug>();
  let tree: FactoryTree;

  beforeAll(async () => {
    const prepared = await prepare();
    drop = prepared.drop;
    service = await bootService({
      environment: {
        ...prepared.environment,
        MILLWRIGHT_SYNC_INTERVAL: '3600',
        MILLWRIGHT_RUN_CONCURRENCY: '0',
        MILLWRIGHT_API_RATE: '0',
      },
    });
    await service.secret('hook-token', TOKEN);
    await service.secret('other-token', TOKEN);
    tree = {
      webhooks: Object.fromEntries(
        WEBHOOKS.map((slug) => [
          slug,
          slug === 'captured'
            ? { authMode: 'signature', signatureScheme: 'github', secretName: 'hook-token', replayProtection: 'body' }
            : { secretName: slug === 'waiting' ? 'other-token' : 'hook-token', deliveryIdHeader: 'X-Shop-Id' },
        ]),
      ),
      automations: { triage: { webhooks: WEBHOOKS }, picky: { webhooks: ['edited'], payload: { kind: ['none'] } } },
    };
    folder = await factoryFolder(tree);
    factory = await service.factory('shop', folder.source);
    operator = await makeKey(service, 'operator', { factories: [factory] });
  }, 120_000);

  afterAll(async () => {
    await service.stop();
    await folder.remove();
    await drop();
  });

  const logOf = (slug: Slug): string => `/factory/${factory}/webhooks/${service.webhookUid('shop', slug)}/deliveries`;
  const entriesOf = async (slug: Slug): Promise<Delivery[]> =>
    ((await service.api('GET', `${logOf(slug)}?limit=500`)).body as unknown as DeliveryList).deliveries;
  const post = (slug: Slug, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(service.ingressUrl('shop', slug), {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body,
    });
  const runsOf = (
    deliveryId: string,
  ): Promise<{ run_id: string; prompt: string; source: string; creator_uid: string; entry_id: string }[]> =>
    service.service.database.read(() =>
      rows('SELECT run_id, prompt, source, creator_uid, entry_id FROM every_run WHERE delivery_id = ?', deliveryId),
    );

  /** Delivers, and answers the entry. */
  async function sent(slug: Slug, body = '{"kind": "new"}', headers: Record<string, string> = {}): Promise<Delivery> {
    await post(slug, body, headers);
    return (await entriesOf(slug))[0] as Delivery;
  }

  async function resend(
    slug: Slug,
    entryId: string,
    { key = operator, idempotencyKey }: { key?: string; idempotencyKey?: string } = {},
  ): Promise<ApiAnswer & { text: string }> {
    const answer = await fetch(`${service.url}/api/v1${logOf(slug)}/${entryId}/resend`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as ApiAnswer['body'] };
  }

  const meddle = (text: string, ...params: string[]): Promise<number> =>
    service.service.database.run(() => change(text, ...params));

  async function changeFiles(changed: FactoryTree): Promise<void> {
    tree = changed;
    await folder.write(tree);
    await service.sync(factory);
  }

  const settingsOf = (slug: Slug, more: { enabled?: boolean; secretName?: string }): FactoryTree => {
    const webhooks = Object.fromEntries(
      Object.entries(tree.webhooks ?? {}).map(([name, webhook]) => [
        name,
        name === slug ? { ...webhook, ...more } : webhook,
      ]),
    );
    return { ...tree, webhooks };
  };

  it('is none that a captured request is, where the body is protected: that one is a Duplicate for ever', async () => {
    const body = '{"captured": true}';
    const signature = `sha256=${createHmac('sha256', TOKEN).update(body).digest('hex')}`;
    const captured = (id: string): Promise<Delivery> =>
      sent('captured', body, { 'X-Hub-Signature-256': signature, 'X-GitHub-Delivery': id });
    const first = await captured('true');
    expect(first.outcome).toBe('Accepted');
    expect((await captured('true')).outcome).toBe('Duplicate'); // what the provider redelivers
    expect((await captured('forged-1')).outcome).toBe('Duplicate');
    for (const n of [1, 2]) {
      const again = (await resend('captured', first.entry_id)).body as unknown as Delivery;
      expect(again).toMatchObject({ outcome: 'Accepted', delivery_id: `resend:${first.entry_id}:${n}` });
      expect(again.started).toHaveLength(1);
    }
    expect((await captured('forged-2')).outcome).toBe('Duplicate');
  });

  it('is a new delivery with the same bytes, a run of its own, and its own place in the log', async () => {
    const first = await sent('orders', '{ "kind":\n"new" }', { 'X-Shop-Id': 'order-1' });
    const answer = await resend('orders', first.entry_id);
    expect(answer.status).toBe(202);
    const again = answer.body as unknown as Delivery;
    expect(again).toMatchObject({
      delivery_id: `resend:${first.entry_id}:1`,
      outcome: 'Accepted',
      resent_from: first.entry_id,
      size: first.size,
      size_exact: true,
      count: 1,
      client_address: '127.0.0.1',
      revision: first.revision,
      skipped: [],
    });
    expect(again.started).toEqual([{ automation_id: first.started?.[0]?.automation_id, run_id: expect.any(String) }]);
    expect((await service.api('GET', `${logOf('orders')}/${again.entry_id}`)).body).toEqual(again);
    expect((await entriesOf('orders')).map(({ resent_from: from }) => from)).toEqual([first.entry_id, undefined]);
    const bytes = await fetch(again.payload_url ?? '', { headers: { authorization: `Bearer ${operator}` } });
    expect(await bytes.text()).toBe('{ "kind":\n"new" }');

    const [run] = await runsOf(again.delivery_id);
    expect(run).toMatchObject({
      run_id: again.started?.[0]?.run_id,
      source: 'CUSTOM_WEBHOOK',
      creator_uid: (await runsOf('order-1'))[0]?.creator_uid,
      entry_id: again.entry_id,
    });
    expect(run?.prompt).toContain(again.delivery_id);
    expect((await service.api('GET', `/explanations/${again.entry_id}`)).body).toMatchObject({
      kind: 'delivery',
      delivery: {
        delivery_id: again.delivery_id,
        outcome: 'Accepted',
        resent_from: first.entry_id,
        duplicate_of: null,
      },
      automations: [{ slug: 'triage', result: 'fired' }, { result: 'not-selected' }],
    });
    expect((await service.api('GET', `/explanations/${first.entry_id}`)).body['delivery']).not.toHaveProperty(
      'resent_from',
    );

    const second = (await resend('orders', first.entry_id)).body as unknown as Delivery;
    const ofAgain = (await resend('orders', again.entry_id)).body as unknown as Delivery;
    expect([second, ofAgain].map(({ delivery_id: id, resent_from: from }) => [id, from])).toEqual([
      [`resend:${first.entry_id}:2`, first.entry_id],
      [`resend:${again.entry_id}:1`, again.entry_id],
    ]);
  });

  it('is written down, with who asked', async () => {
    const [again] = (await entriesOf('orders')).filter(({ delivery_id: id }) => id.endsWith(':2'));
    const { entries } = (await service.api('GET', `/audit?action=delivery.resend&subject=${again?.resent_from}`))
      .body as unknown as { entries: Record<string, unknown>[] };
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({
      action: 'delivery.resend',
      subject: again?.resent_from,
      factory_uid: factory,
      principal: { display_name: 'the operator' },
      address: '127.0.0.1',
      details: { webhook: service.webhookUid('shop', 'orders'), entry: again?.entry_id },
    });
  });

  it('is judged by the definitions of now', async () => {
    const first = await sent('edited', '{"kind": "new"}');
    expect(first.started).toHaveLength(1);
    await changeFiles({
      ...tree,
      automations: {
        triage: { webhooks: WEBHOOKS, enabled: false },
        picky: { webhooks: ['edited'], payload: { kind: ['new'] } },
      },
    });
    const again = (await resend('edited', first.entry_id)).body as unknown as Delivery;
    expect(again.revision).not.toBe(first.revision);
    expect([again.started?.length, again.skipped?.map(({ reason }) => reason)]).toEqual([1, ['disabled']]);
    expect(again.started?.[0]?.automation_id).not.toBe(first.started?.[0]?.automation_id);
    await changeFiles({ ...tree, automations: { triage: { webhooks: WEBHOOKS } } });
  });

  it('is no name that a sender could take: neither a duplicate of one, nor in its way', async () => {
    const first = await sent('named');
    const taken = `resend:${first.entry_id}:1`;
    expect(await sent('named', '{"kind": "other"}', { 'X-Shop-Id': taken })).toMatchObject({
      outcome: 'Accepted',
      delivery_id: taken,
    });
    expect(await sent('named', '{"kind": "third"}', { 'X-Millwright-Delivery-Id': taken })).toMatchObject({
      outcome: 'Accepted',
      delivery_id: taken,
    });
    const answer = await resend('named', first.entry_id);
    expect([answer.status, answer.body['delivery_id'], answer.body['outcome']]).toEqual([202, taken, 'Accepted']);
    const next = await sent('named', '{"kind": "fourth"}', { 'X-Shop-Id': `resend:${first.entry_id}:2` });
    expect(next.outcome).toBe('Accepted');
    const repeated = await sent('named', '{"kind": "fifth"}', { 'X-Shop-Id': `resend:${first.entry_id}:2` });
    expect(repeated.outcome).toBe('Duplicate');
    expect((await service.api('GET', `/explanations/${repeated.entry_id}`)).body).toMatchObject({
      delivery: { duplicate_of: next.entry_id },
    });
    expect((await resend('named', first.entry_id)).body['delivery_id']).toBe(`resend:${first.entry_id}:2`);
    // The original keeps its own identity.
    expect((await sent('named')).outcome).toBe('Duplicate');
  });

  it('of an entry that cannot be read, was refused or is not there is refused in words', async () => {
    const first = await sent('damaged');
    const second = await sent('damaged', JSON.stringify({ kind: 'x'.repeat(5_000) }));
    const third = await sent('damaged', '{"kind": "third"}');
    await meddle(
      'UPDATE delivery SET payload = ? WHERE entry_id = ?',
      Buffer.from('{"ki') as unknown as string,
      first.entry_id,
    );
    await meddle(
      'UPDATE delivery SET payload = ? WHERE entry_id = ?',
      Buffer.from([255, 255, 255]) as unknown as string,
      second.entry_id,
    );
    await meddle('UPDATE delivery SET payload = NULL WHERE entry_id = ?', third.entry_id);
    await post('damaged', '{');
    await post('damaged', '{"kind": "new"}');
    const [duplicate, invalid] = await entriesOf('damaged');
    const rowsOf: [string | undefined, number, string, string][] = [
      [first.entry_id, 422, 'operation_not_supported', 'damaged'],
      [second.entry_id, 422, 'operation_not_supported', 'damaged'],
      [third.entry_id, 422, 'operation_not_supported', 'not kept any more'],
      [invalid?.entry_id, 422, 'operation_not_supported', 'Rejected (invalid JSON)'],
      [duplicate?.entry_id, 422, 'operation_not_supported', 'Duplicate'],
      [NOWHERE, 404, 'resource_not_found', 'the delivery was not found'],
      ['x', 404, 'resource_not_found', 'the delivery was not found'],
      [(await sent('refused')).entry_id, 404, 'resource_not_found', 'the delivery was not found'],
    ];
    for (const [entryId = '', status, error, detail] of rowsOf)
      expect({ entryId, ...(await resend('damaged', entryId)) }).toMatchObject({
        entryId,
        status,
        body: { error, detail: expect.stringContaining(detail) },
      });
    const download = (entryId: string): Promise<Response> =>
      fetch(`${service.url}/api/v1${logOf('damaged')}/${entryId}/payload`, {
        headers: { authorization: `Bearer ${operator}` },
      });
    for (const { entry_id: id } of [first, second]) {
      const answer = await download(id);
      expect([answer.status, await answer.json()]).toEqual([
        422,
        expect.objectContaining({ error: 'operation_not_supported', detail: expect.stringContaining('damaged') }),
      ]);
    }
    expect((await download(third.entry_id)).status).toBe(404);
    expect((await entriesOf('damaged')).filter(({ resent_from: from }) => from !== undefined)).toEqual([]);
  });

  it('is for operators of its factory, with no body', async () => {
    const first = await sent('refused', '{"kind": "mine"}');
    const viewer = await makeKey(service, 'viewer', { factories: [factory] });
    const stranger = await makeKey(service, 'manager', { factories: ['fac_00000000000000000000000000'] });
    expect([
      (await resend('refused', first.entry_id, { key: viewer })).status,
      (await resend('refused', first.entry_id, { key: stranger })).status,
      (await resend('refused', first.entry_id, { key: 'mw_nothing' })).status,
    ]).toEqual([403, 404, 401]);
    expect((await resend('refused', first.entry_id)).text).not.toContain('refused_because');
    expect((await entriesOf('refused')).filter(({ resent_from: from }) => from === first.entry_id)).toHaveLength(1);
  });

  it('to a webhook that is disabled is a lasting conflict; enabled again it works', async () => {
    const first = await sent('switched');
    await changeFiles(settingsOf('switched', { enabled: false }));
    const refused = await resend('switched', first.entry_id);
    expect([refused.status, refused.headers.get('x-should-retry'), refused.body['retryable']]).toEqual([
      409,
      'false',
      false,
    ]);
    await changeFiles(settingsOf('switched', { enabled: true }));
    expect((await resend('switched', first.entry_id)).status).toBe(202);
  });

  it('while the webhook is switched off and on, each either happens whole or not at all', async () => {
    const first = await sent('flickering');
    const before = (await entriesOf('flickering')).length;
    const answers: ApiAnswer[] = [];
    const asking = (async () => {
      for (let count = 0; count < 40; count += 1) answers.push(await resend('flickering', first.entry_id));
    })();
    for (let count = 0; answers.length < 40 || count < 2; count += 1)
      await changeFiles(settingsOf('flickering', { enabled: count % 2 === 1 }));
    await asking;
    await changeFiles(settingsOf('flickering', { enabled: true }));
    expect(answers.map(({ status }) => status).filter((status) => ![202, 409, 503].includes(status))).toEqual([]);
    const resent = (await entriesOf('flickering')).filter(({ resent_from: from }) => from === first.entry_id);
    const done = answers.filter(({ status }) => status === 202);
    expect((await entriesOf('flickering')).length).toBe(before + done.length);
    expect(new Set(resent.map(({ entry_id: id }) => id))).toEqual(new Set(done.map(({ body }) => body['entry_id'])));
    expect(resent.map(({ delivery_id: id }) => Number(id.split(':').at(-1))).sort((a, b) => a - b)).toEqual(
      done.map((_, position) => position + 1),
    );
  }, 120_000);

  it('needs no secret: a rotation does not concern it', async () => {
    const first = await sent('waiting');
    await service.secret('other-token', `${TOKEN}-2`);
    await service.sync(factory);
    expect((await post('waiting', '{}')).status).toBe(401);
    expect((await resend('waiting', first.entry_id)).status).toBe(202);
  });

  it('two hundred at once: as many as the rate lets in, each once, numbered without a gap', async () => {
    const first = await sent('flooded');
    const answers = await Promise.all(Array.from({ length: 200 }, () => resend('flooded', first.entry_id)));
    const done = answers.filter(({ status }) => status === 202);
    expect(done).toHaveLength(59); // the first one took a slot, too
    for (const { status, headers, body } of answers.filter(({ status: each }) => each !== 202)) {
      expect({ status, error: body['error'], retryAfter: Number(headers.get('retry-after')) > 0 }).toEqual({
        status: 429,
        error: 'resource_unavailable',
        retryAfter: true,
      });
    }
    const names = done.map(({ body }) => String(body['delivery_id']));
    expect(names.map((name) => Number(name.split(':').at(-1))).sort((a, b) => a - b)).toEqual(
      done.map((_, position) => position + 1),
    );
    expect((await entriesOf('flooded')).length).toBe(60);
    expect(
      new Set((await entriesOf('flooded')).flatMap(({ started = [] }) => started.map(({ run_id: id }) => id))).size,
    ).toBe(60);
    // And a sender waits as long as an operator.
    expect((await post('flooded', '{"kind": "late"}')).status).toBe(429);
  }, 120_000);

  it('with an idempotency key happens once, also where the same is asked many times at once', async () => {
    const first = await sent('keyed');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => resend('keyed', first.entry_id, { idempotencyKey: 'once' })),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [202, answers[0]?.text]));
    expect((await entriesOf('keyed')).length).toBe(2);
    expect((await resend('keyed', first.entry_id, { idempotencyKey: 'twice' })).body['delivery_id']).toBe(
      `resend:${first.entry_id}:2`,
    );
    // The answer is stored with the delivery: whoever dies between the two has not done it twice.
    const [kept] = await service.service.database.read(() =>
      rows<{ status: number; answer: string }>("SELECT status, answer FROM idempotency WHERE idempotency_key = 'once'"),
    );
    expect([kept?.status, (JSON.parse(kept?.answer ?? '{}') as { body: string }).body]).toEqual([
      202,
      answers[0]?.text,
    ]);
  });

  it('stays when what it was made of is removed, and the other way round', async () => {
    const first = await sent('pruned');
    const again = (await resend('pruned', first.entry_id)).body as unknown as Delivery;
    await meddle('DELETE FROM delivery WHERE entry_id = ?', first.entry_id);
    expect(await resend('pruned', first.entry_id)).toMatchObject({ status: 404 });
    expect((await service.api('GET', `${logOf('pruned')}/${again.entry_id}`)).body).toMatchObject({
      resent_from: first.entry_id,
    });
    expect((await resend('pruned', again.entry_id)).body['delivery_id']).toBe(`resend:${again.entry_id}:1`);
    await meddle('DELETE FROM delivery WHERE delivery_id = ?', `resend:${again.entry_id}:1`);
    expect((await resend('pruned', again.entry_id)).body['delivery_id']).toBe(`resend:${again.entry_id}:2`);
  });

  it('to a webhook that was deleted is not found', async () => {
    const first = await sent('removed');
    without.add('removed');
    const { removed, ...webhooks } = tree.webhooks ?? {};
    expect(removed).toBeDefined();
    await changeFiles({
      webhooks,
      automations: { triage: { webhooks: WEBHOOKS.filter((slug) => !without.has(slug)) } },
    });
    expect(await resend('removed', first.entry_id)).toMatchObject({
      status: 404,
      body: { detail: 'the webhook was not found' },
    });
  });
}
