/**
 * Testing a payload filter against stored deliveries and payloads of the request. spec: Webhook management (Test
 * filter); contract §4, §7.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FilterTestResult } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { call } from '../support/services/recorded-io.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { change } from '../../apps/server/store/database/transactions.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const SECRET_WORD = 'hidden-word-of-a-payload';
const HUGE = { list: Array.from({ length: 2_000 }, (_, n) => ({ n, tag: 'x'.repeat(20) })), last: { kind: 'end' } };
let service: TestService;
const folders: FactoryFolder[] = [];
let uid: string;
let theirs: string;
let viewer: string;
const entries = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook-token', TOKEN);
  const made = async (slug: string): Promise<string> => {
    const folder = await factoryFolder({
      webhooks: { orders: { secretName: 'hook-token' }, sales: { secretName: 'hook-token' } },
    });
    folders.push(folder);
    return service.factory(slug, folder.source);
  };
  [uid, theirs] = [await made('shop'), await made('theirs')];
  viewer = await makeKey(service, 'viewer', { factories: [uid] });
  const newestOf = async (factory: string, slug: string): Promise<string> => {
    const { body } = await service.api(
      'GET',
      `/factory/${factory}/webhooks/${service.webhookUid(slug, 'orders')}/deliveries?limit=1`,
    );
    return (body['deliveries'] as { entry_id: string }[])[0]?.entry_id ?? '';
  };
  const url = service.ingressUrl('shop', 'orders');
  const keep = async (name: string): Promise<unknown> => entries.set(name, await newestOf(uid, 'shop'));
  await deliver(url, TOKEN, { action: 'opened', user: { name: SECRET_WORD, tags: [{ id: 1 }, { id: 2 }] } });
  await keep('accepted');
  await deliver(url, TOKEN, { action: 'opened', user: { name: SECRET_WORD, tags: [{ id: 1 }, { id: 2 }] } });
  await keep('duplicate');
  await deliver(url, 'a-wrong-token-of-length');
  await keep('refused');
  await deliver(url, TOKEN, HUGE);
  await keep('huge');
  await deliver(service.ingressUrl('theirs', 'orders'), TOKEN, { action: 'opened' });
  entries.set('theirs', await newestOf(theirs, 'theirs'));
});

afterAll(async () => {
  await service.stop();
  await Promise.all(folders.map((folder) => folder.remove()));
});

const test = (body: unknown, factory = uid): Promise<ApiAnswer> =>
  service.api('POST', `/factory/${factory}/filters/test`, body, viewer);

async function result(body: unknown): Promise<FilterTestResult> {
  const answer = await test(body);
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).not.toContain(SECRET_WORD);
  return answer.body as unknown as FilterTestResult;
}

const WOULD = { result: 'Would trigger', webhook_check: { passed: true }, payload_check: { passed: true } };

describe('a payload of the request', () => {
  it.each<[unknown, unknown, string | undefined, string | undefined]>([
    [{}, null, undefined, undefined],
    [{}, [], undefined, undefined],
    [{ a: [1] }, { a: 1.0 }, undefined, undefined],
    [{ a: { exists: false } }, {}, undefined, undefined],
    [{ a: ['x'] }, { a: 'y' }, '/a', 'in'],
    [{ a: { not_in: ['y'] } }, { a: 'y' }, '/a', 'not_in'],
    [{ a: { b: { exists: true } } }, { a: {} }, '/a/b', 'exists'],
    [{ a: ['x'] }, 7, '', 'nested'],
    [{ a: ['x'] }, null, '', 'nested'],
    [{ 'a/b': { '~': ['x'] } }, { 'a/b': {} }, '/a~1b/~0', 'in'],
    [{ constructor: { exists: true } }, {}, '/constructor', 'exists'],
    [{ constructor: ['x'], prototype: { exists: true } }, { constructor: 'x', prototype: null }, undefined, undefined],
    [JSON.parse('{"__proto__": ["x"]}'), JSON.parse('{"__proto__": "x"}'), undefined, undefined],
    [JSON.parse('{"__proto__": {"a": ["x"]}}'), { a: 'x' }, '/__proto__', 'nested'],
  ])('filter %j on %j fails at %j (%s)', async (filter, payload, pointer, operator) => {
    const failed = {
      result: 'Would not trigger',
      webhook_check: { passed: true },
      payload_check: { passed: false, failed_pointer: pointer, operator },
    };
    expect(await result({ filter, payload })).toEqual(pointer === undefined ? WOULD : failed);
  });
});

describe('a stored delivery', () => {
  it('is tested with its exact payload', async () => {
    expect(
      await result({ filter: { action: ['opened'], user: { tags: { id: [2] } } }, entry_id: entries.get('accepted') }),
    ).toEqual(WOULD);
    expect(await result({ filter: { user: { name: ['somebody'] } }, entry_id: entries.get('accepted') })).toMatchObject(
      { result: 'Would not trigger', payload_check: { failed_pointer: '/user/name', operator: 'in' } },
    );
    expect(
      await result({ filter: { last: { kind: ['end'] }, list: { n: [1_999] } }, entry_id: entries.get('huge') }),
    ).toEqual(WOULD);
  });

  it.each(['duplicate', 'refused'])('that is %s has no payload: 422, in words', async (name) => {
    const answer = await test({ filter: {}, entry_id: entries.get(name) });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: 'operation_not_supported',
        detail: expect.stringContaining('its payload was not kept'),
        errors: [{ pointer: '/entry_id' }],
      },
    });
  });

  it('whose payload was damaged at rest cannot be tested: 422, in words', async () => {
    await deliver(service.ingressUrl('shop', 'sales'), TOKEN, { action: 'opened' });
    const { body } = await service.api(
      'GET',
      `/factory/${uid}/webhooks/${service.webhookUid('shop', 'sales')}/deliveries?limit=1`,
    );
    const [{ entry_id: entryId } = { entry_id: '' }] = body['deliveries'] as { entry_id: string }[];
    await service.service.database.run(() =>
      change(
        "UPDATE delivery SET payload = ?, payload_encoding = 'deflate-raw' WHERE entry_id = ?",
        Buffer.from('no deflate stream'),
        entryId,
      ),
    );
    const answer = await test({ filter: {}, entry_id: entryId });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: 'operation_not_supported',
        detail: expect.stringContaining('cannot be read any more'),
        errors: [{ pointer: '/entry_id' }],
      },
    });
  });

  it('of another factory is 404, like one that does not exist', async () => {
    const answers = await Promise.all(
      [entries.get('theirs'), '00000000-0000-7000-8000-000000000000', 'x'].map((entry_id) =>
        test({ filter: {}, entry_id }),
      ),
    );
    for (const { status, body } of answers)
      expect({ status, detail: body['detail'] }).toEqual({ status: 404, detail: 'the delivery was not found' });
  });
});

describe('the webhook check', () => {
  const orders = (): string => service.webhookUid('shop', 'orders');
  const sales = (): string => service.webhookUid('shop', 'sales');

  it('passes where the webhook of the delivery is selected', async () => {
    expect(await result({ filter: {}, entry_id: entries.get('accepted'), webhook_uids: [sales(), orders()] })).toEqual(
      WOULD,
    );
    const other = await result({ filter: {}, entry_id: entries.get('accepted'), webhook_uids: [sales()] });
    expect(other).toEqual({
      result: 'Would not trigger',
      webhook_check: { passed: false, reason: expect.any(String) },
      payload_check: { passed: true },
    });
    expect(await result({ filter: {}, entry_id: entries.get('accepted'), webhook_uids: [] })).toMatchObject({
      webhook_check: { passed: false },
    });
  });

  it('passes for a payload where any webhook of this factory is selected, and tells nothing of others', async () => {
    expect(await result({ filter: {}, payload: 1, webhook_uids: [sales()] })).toEqual(WOULD);
    const [foreign, unknown] = await Promise.all(
      [service.webhookUid('theirs', 'orders'), 'wh_00000000000000000000000000'].map((each) =>
        result({ filter: {}, payload: 1, webhook_uids: [each] }),
      ),
    );
    expect(foreign).toMatchObject({ result: 'Would not trigger', webhook_check: { passed: false } });
    expect(foreign).toEqual(unknown);
  });

  it('and the payload check are told apart when both fail', async () => {
    expect(
      await result({ filter: { a: ['x'] }, entry_id: entries.get('accepted'), webhook_uids: [sales()] }),
    ).toMatchObject({ webhook_check: { passed: false }, payload_check: { passed: false, failed_pointer: '/a' } });
  });
});

describe('a malformed request', () => {
  it.each<[string, unknown, string[]]>([
    ['no filter', { payload: 1 }, ['/filter']],
    ['neither payload nor entry', { filter: {} }, ['/entry_id', '/payload']],
    ['both', { filter: {}, payload: null, entry_id: 'x' }, ['/entry_id', '/payload']],
    ['a filter that is none', { filter: 'x', payload: 1 }, ['/filter']],
    [
      'every problem of a filter',
      { filter: { a: 1, b: { c: {} }, d: { in: ['x'], e: ['y'] } }, payload: 1 },
      ['/filter/a', '/filter/b/c', '/filter/d'],
    ],
    [
      'problems of filter, entry and webhooks at once',
      { filter: { a: 1 }, entry_id: 5, webhook_uids: ['x', 7] },
      ['/entry_id', '/filter/a', '/webhook_uids/1'],
    ],
    ['NUL', { filter: {}, entry_id: 'a\0', webhook_uids: ['\0'] }, ['/entry_id', '/webhook_uids/0']],
    [
      'an endless list',
      { filter: {}, payload: 1, webhook_uids: Array.from({ length: 101 }, () => 'x') },
      ['/webhook_uids'],
    ],
    ['no object', [], ['']],
  ])('(%s) is 400 with every pointer', async (_what, body, pointers) => {
    const answer = await test(body);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(pointers);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET_WORD);
  });

  it('is judged only for a factory that the key may see', async () => {
    for (const factory of [theirs, 'fac_00000000000000000000000000'])
      expect(await test({ filter: {}, payload: 1 }, factory)).toMatchObject({
        status: 404,
        body: { detail: 'the factory was not found' },
      });
  });
});

describe('millwright filter test --entry', () => {
  it('tests against the stored payload', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'filter-entry-'));
    const run = (filter: string, ...argv: string[]) => {
      writeFileSync(join(folder, 'filter.yaml'), filter);
      return call(['filter', 'test', 'filter.yaml', '--factory', 'shop', ...argv], {
        cwd: folder,
        environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: viewer },
      });
    };
    const entry = entries.get('accepted') ?? '';
    expect(await run('action: [opened]', '--entry', entry)).toEqual({ code: 0, out: 'Would trigger\n', err: '' });
    expect(await run('action: [closed]', '--entry', entry)).toEqual({
      code: 1,
      out: 'Would not trigger\n  failed at /action (in)\n',
      err: '',
    });
    expect(await run('', '--entry', entry)).toMatchObject({ code: 0 });
    expect(await run('action: opened\nuser: x', '--entry', entry)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/\/filter\/action: .*\n  \/filter\/user: /),
    });
    expect(await run('{}', '--entry', entries.get('refused') ?? '')).toMatchObject({
      code: 1,
      err: expect.stringContaining('its payload was not kept'),
    });
    expect(await run('{}', '--entry', 'nope')).toMatchObject({
      code: 5,
      err: expect.stringContaining('the delivery was not found'),
    });
    rmSync(folder, { recursive: true });
  });
});
