/**
 * API keys over the API: shown once, limited, expiring, ended at once, and never the last one that lets an admin in.
 * contract §2.
 */
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const KEY = /^mw_[A-Za-z0-9_-]{43}$/;
const NOWHERE = 'fac_00000000000000000000000000';
let nowMs = Date.now();
let service: TestService;
let ours: string;
let theirs: string;

beforeAll(async () => {
  service = await bootService({
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32' },
    nowMs: () => nowMs,
  });
  ours = await service.factory('ours', { kind: 'directory', path: '/nowhere/a' });
  theirs = await service.factory('theirs', { kind: 'directory', path: '/nowhere/b' });
});

afterAll(() => service.stop());

const create = (body: Record<string, unknown>, key?: string): Promise<ApiAnswer> =>
  service.api('POST', '/api-keys', { name: 'a key', role: 'viewer', ...body }, key);
const textOf = ({ body }: ApiAnswer): string => String(body['key']);
const idOf = ({ body }: ApiAnswer): string => String(body['id']);
const current = (key: string): Promise<ApiAnswer> => service.api('GET', '/api-keys/current', undefined, key);
const pointersOf = ({ body }: ApiAnswer): string[] =>
  ((body['errors'] ?? []) as { pointer: string }[]).map(({ pointer }) => pointer).toSorted();

describe('a new key', () => {
  it('is shown once, with everything that is known of it', async () => {
    const answer = await create({
      name: 'for CI',
      role: 'operator',
      principal: { type: 'service_account', display_name: 'CI', email: 'ci@example.com' },
      factories: [ours],
      expires_in_days: 30,
    });
    expect(answer.status).toBe(200);
    const { key, ...shown } = answer.body;
    expect(key).toMatch(KEY);
    expect(shown).toEqual({
      id: expect.any(String),
      name: 'for CI',
      role: 'operator',
      factories: [ours],
      hint: `${String(key).slice(0, 7)}…`,
      created_at: new Date(nowMs).toISOString(),
      created_by: 'user_admin',
      principal: {
        uid: expect.stringMatching(/^svc_[0-9a-f]{26}$/),
        type: 'service_account',
        display_name: 'CI',
        email: 'ci@example.com',
      },
      expires_at: new Date(nowMs + 30 * 86_400_000).toISOString(),
      revoked_at: null,
      last_used_at: null,
    });
    expect((await service.api('GET', `/api-keys/${idOf(answer)}`)).body).toEqual(shown);
    expect((await service.api('GET', '/api-keys')).body['api_keys']).toEqual(expect.arrayContaining([shown]));
    expect((await current(textOf(answer))).body).toEqual(shown);
  });

  it('is not shown again to whoever repeats the request by its idempotency key', async () => {
    const ask = async (): Promise<{ status: number; retry: string | null; body: Record<string, unknown> }> => {
      const headers = {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'one-key-please',
      };
      const answer = await fetch(`${service.url}/api/v1/api-keys`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'once', role: 'viewer' }),
      });
      return {
        status: answer.status,
        retry: answer.headers.get('x-should-retry'),
        body: (await answer.json()) as Record<string, unknown>,
      };
    };
    const [first, second] = [await ask(), await ask()];
    expect(first).toMatchObject({ status: 200, body: { key: expect.stringMatching(KEY) } });
    expect(second).toMatchObject({
      status: 409,
      retry: 'false',
      body: { resource: `/api/v1/api-keys/${String(first.body['id'])}` },
    });
    const all = (await service.api('GET', '/api-keys?limit=500')).body['api_keys'] as { name: string }[];
    expect(all.filter(({ name }) => name === 'once')).toHaveLength(1);
    const kept = JSON.stringify(await service.service.database.source.query('SELECT answer FROM idempotency'));
    expect(kept).toContain(String(first.body['id']));
    expect(kept).not.toContain(String(first.body['key']));
  });

  it('is stored as a digest only', async () => {
    const text = textOf(await create({}));
    const rows = (await service.service.database.source.query('SELECT * FROM api_key')) as Record<string, unknown>[];
    const everything = JSON.stringify([
      rows,
      await service.service.database.source.query('SELECT * FROM audit_entry'),
      (await service.api('GET', '/api-keys?limit=500')).body,
      service.logged,
    ]);
    expect(everything).not.toContain(text);
    expect(everything).not.toContain(text.slice(3, 20));
  });

  it('belongs to its maker, to a new principal, or to one that exists', async () => {
    const own = await create({});
    expect(own.body['principal']).toMatchObject({ uid: 'user_admin' });
    const fresh = await create({ principal: { type: 'user', display_name: 'Ada' } });
    const { uid } = fresh.body['principal'] as { uid: string };
    expect(fresh.body['principal']).toEqual({
      uid: expect.stringMatching(/^user_[0-9a-f]{26}$/),
      type: 'user',
      display_name: 'Ada',
      email: null,
    });
    expect((await create({ principal_uid: uid })).body['principal']).toEqual(fresh.body['principal']);
  });

  it('has its role and no more', async () => {
    const manager = textOf(await create({ role: 'manager', factories: [ours] }));
    expect((await service.api('GET', `/factory/${ours}/secrets`, undefined, manager)).status).toBe(200);
    expect((await service.api('GET', `/factory/${theirs}/secrets`, undefined, manager)).status).toBe(404);
    expect((await service.api('GET', '/api-keys', undefined, manager)).status).toBe(403);
    expect((await create({}, manager)).status).toBe(403);
    const admin = textOf(await create({ role: 'admin' }));
    expect((await service.api('GET', '/api-keys', undefined, admin)).status).toBe(200);
  });

  it.each<[body: Record<string, unknown>, pointers: string[], why: string]>([
    [{ name: undefined, role: undefined }, ['/name', '/role'], 'both are required, and both are named'],
    [{ name: '' }, ['/name'], 'nobody would know what it is for'],
    [{ name: 'a\0b' }, ['/name'], 'PostgreSQL cannot store it'],
    [{ name: 'x'.repeat(201) }, ['/name'], 'a label has bounds'],
    [{ role: 'root' }, ['/role'], 'no such role'],
    [{ role: 'admin', factories: ['OURS'] }, ['/role'], 'a limited key governs no team'],
    [{ factories: [] }, ['/factories'], 'it could see nothing'],
    [{ factories: ['ours'] }, ['/factories/0'], 'a slug is no UID'],
    [{ factories: ['OURS', NOWHERE] }, ['/factories/1'], 'no such factory'],
    [{ factories: ['OURS', 'OURS'] }, ['/factories/1'], 'twice the same'],
    [{ factories: 'OURS' }, ['/factories'], 'no list'],
    [{ principal_uid: 'user_nobody' }, ['/principal_uid'], 'no such principal'],
    [
      { principal_uid: 'user_admin', principal: { type: 'user', display_name: 'Ada' } },
      ['/principal_uid'],
      'which one?',
    ],
    [{ principal: { type: 'robot' } }, ['/principal/display_name', '/principal/type'], 'no such kind, and no name'],
    [{ principal: { type: 'user', display_name: 'Ada', email: 'nowhere' } }, ['/principal/email'], 'no address'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, ['/expires_at'], 'it would have ended'],
    [{ expires_at: '2999-01-01' }, ['/expires_at'], 'no time'],
    [{ expires_at: 4_000_000_000 }, ['/expires_at'], 'no text'],
    [{ expires_in_days: 0 }, ['/expires_in_days'], 'it would have ended'],
    [{ expires_in_days: 1.5 }, ['/expires_in_days'], 'whole days'],
    [{ expires_in_days: 1, expires_at: '2999-01-01T00:00:00Z' }, ['/expires_in_days'], 'which one?'],
    [
      { role: 'admin', factories: [NOWHERE], principal_uid: 'user_nobody', expires_at: '2020-01-01T00:00:00Z' },
      ['/expires_at', '/factories/0', '/principal_uid', '/role'],
      'everything at once',
    ],
  ])('of %j is refused, every bad member named, and nothing is made (%#)', async (body, pointers, why) => {
    expect(why).not.toBe('');
    const before = await countOf();
    const answer = await create(
      JSON.parse(
        JSON.stringify(body, (_, value: unknown) => (value === undefined ? null : value)).replaceAll('OURS', ours),
      ) as Record<string, unknown>,
    );
    expect({ status: answer.status, pointers: pointersOf(answer) }).toEqual({ status: 400, pointers });
    expect(await countOf()).toEqual(before);
  });

  async function countOf(): Promise<unknown> {
    return service.service.database.source.query(
      'SELECT (SELECT count(*) FROM api_key) AS keys, (SELECT count(*) ' +
        'FROM principal) AS principals, (SELECT count(*) FROM audit_entry) AS entries',
    );
  }
});

describe('a key ends', () => {
  it('when it is revoked: the next request is refused, and repeating it changes nothing', async () => {
    const made = await create({});
    expect((await current(textOf(made))).status).toBe(200);
    expect((await service.api('DELETE', `/api-keys/${idOf(made)}`)).status).toBe(204);
    expect((await current(textOf(made))).status).toBe(401);
    const { body } = await service.api('GET', `/api-keys/${idOf(made)}`);
    expect(body['revoked_at']).toEqual(expect.any(String));
    expect((await service.api('DELETE', `/api-keys/${idOf(made)}`)).status).toBe(204);
    expect((await service.api('GET', `/api-keys/${idOf(made)}`)).body).toEqual(body);
    expect((await service.api('DELETE', '/api-keys/nobody')).status).toBe(404);
  });

  it('when its time has come, to the millisecond', async () => {
    const key = textOf(await create({ expires_at: new Date(nowMs + 60_000).toISOString() }));
    nowMs += 59_999;
    expect((await current(key)).status).toBe(200);
    nowMs += 1;
    expect((await current(key)).status).toBe(401);
  });

  it('and tells nobody why: unknown, revoked and expired look the same', async () => {
    const [expired, revoked] = [
      await makeKey(service, 'viewer', { expiresAtMs: 1 }),
      await makeKey(service, 'viewer', { revokedAtMs: 1 }),
    ];
    const answers = await Promise.all([expired, revoked, `mw_${'x'.repeat(43)}`].map(current));
    const [first, ...others] = answers.map(({ status, body: { detail, error } }) => ({ status, detail, error }));
    expect(first).toMatchObject({ status: 401, error: 'authentication_required' });
    for (const other of others) expect(other).toEqual(first);
  });

  it('never as the last one that lets an admin in', async () => {
    const world = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    try {
      const own = String((await world.api('GET', '/api-keys/current')).body['id']);
      const keep = async (): Promise<void> => {
        for (const answer of [
          await world.api('DELETE', `/api-keys/${own}`),
          await world.api('PATCH', `/api-keys/${own}`, { expires_at: '2999-01-01T00:00:00Z' }),
        ]) {
          expect(answer).toMatchObject({
            status: 409,
            body: {
              error: 'conflict',
              retryable: false,
              detail: expect.stringMatching(/last key that lets an admin in.*POST \/api\/v1\/api-keys/),
            },
          });
          expect(answer.headers.get('x-should-retry')).toBe('false');
        }
        expect((await world.api('GET', '/api-keys/current')).status).toBe(200);
      };
      await keep();
      await makeKey(world, 'manager');
      await makeKey(world, 'admin', { factories: [NOWHERE] });
      await makeKey(world, 'admin', { revokedAtMs: 1 });
      await makeKey(world, 'admin', { expiresAtMs: 1 });
      await keep();
      const second = await makeKey(world, 'admin');
      expect((await world.api('DELETE', `/api-keys/${own}`)).status).toBe(204);
      expect((await world.api('GET', '/api-keys/current')).status).toBe(401);
      expect((await world.api('GET', '/api-keys', undefined, second)).status).toBe(200);
    } finally {
      await world.stop();
    }
  });
});

describe('a key in use', () => {
  it('is renamed, and its end moved', async () => {
    const made = await create({ expires_in_days: 1 });
    const path = `/api-keys/${idOf(made)}`;
    expect((await service.api('PATCH', path, { name: 'renamed' })).body).toMatchObject({
      name: 'renamed',
      expires_at: made.body['expires_at'],
    });
    expect((await service.api('PATCH', path, { expires_at: '2999-01-01T00:00:00Z' })).body).toMatchObject({
      name: 'renamed',
      expires_at: '2999-01-01T00:00:00.000Z',
    });
    expect((await service.api('PATCH', path, { expires_at: null })).body).toMatchObject({
      name: 'renamed',
      expires_at: null,
    });
    expect(pointersOf(await service.api('PATCH', path, { name: '', expires_at: 5 }))).toEqual(['/expires_at', '/name']);
    expect(pointersOf(await service.api('PATCH', path, { expires_at: '2020-01-01T00:00:00Z' }))).toEqual([
      '/expires_at',
    ]);
    expect((await service.api('PATCH', path, {})).status).toBe(400);
    // What would be kept without a word is said.
    const refused = await service.api('PATCH', path, { name: 'less', role: 'viewer', factories: [], nonsense: 1 });
    expect([refused.status, pointersOf(refused).sort()]).toEqual([400, ['/factories', '/nonsense', '/role']]);
    expect((await service.api('GET', '/api-keys')).body['api_keys']).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'renamed' })]),
    );
    expect((await service.api('PATCH', '/api-keys/nobody', { name: 'x' })).status).toBe(404);
    await service.api('DELETE', path);
    expect((await service.api('PATCH', path, { expires_at: '2999-01-01T00:00:00Z' })).status).toBe(409);
    expect((await current(textOf(made))).status).toBe(401);
  });

  it('shows when it was last used, written down together with others and not by the request', async () => {
    const made = await create({});
    await current(textOf(made));
    expect((await service.api('GET', `/api-keys/${idOf(made)}`)).body['last_used_at']).toBeNull();
    await service.service.keyUses.write();
    expect((await service.api('GET', `/api-keys/${idOf(made)}`)).body['last_used_at']).toBe(
      new Date(nowMs).toISOString(),
    );
    nowMs += 5_000;
    expect((await current(textOf(made))).body['last_used_at']).toBe(new Date(nowMs - 5_000).toISOString());
  });
});

describe('a key is rotated', () => {
  const rotate = (id: string, body: Record<string, unknown> = {}): Promise<ApiAnswer> =>
    service.api('POST', `/api-keys/${id}/rotate`, body);

  it('and both let in until the overlap ends, to the millisecond; the new one may the same', async () => {
    const old = await create({ name: 'of CI', role: 'operator', factories: [ours] });
    const made = await rotate(idOf(old), { overlap_seconds: 60 });
    expect(made.status).toBe(200);
    const { key, ...shown } = made.body;
    expect(key).toMatch(KEY);
    const same = { name: 'of CI', role: 'operator', factories: [ours], principal: old.body['principal'] };
    expect(shown).toMatchObject({ ...same, expires_at: null, revoked_at: null });
    expect(idOf(made)).not.toBe(idOf(old));
    nowMs += 59_999;
    expect([(await current(textOf(old))).status, (await current(textOf(made))).status]).toEqual([200, 200]);
    nowMs += 1;
    expect([(await current(textOf(old))).status, (await current(textOf(made))).status]).toEqual([401, 200]);
  });

  it('for a day, if nothing is said, and never beyond its own end', async () => {
    const old = await create({});
    await rotate(idOf(old));
    const ends = (await service.api('GET', `/api-keys/${idOf(old)}`)).body['expires_at'];
    expect(ends).toBe(new Date(nowMs + 86_400_000).toISOString());
    const short = await create({ expires_at: new Date(nowMs + 60_000).toISOString() });
    nowMs += 20_000;
    const made = await rotate(idOf(short));
    // Made for a minute, as the one of before was.
    expect(made.body['expires_at']).toBe(new Date(nowMs + 60_000).toISOString());
    const own = (await service.api('GET', `/api-keys/${idOf(short)}`)).body['expires_at'];
    expect(own).toBe(new Date(nowMs + 40_000).toISOString());
  });

  it('at once where there is no overlap', async () => {
    const old = await create({});
    const made = await rotate(idOf(old), { overlap_seconds: 0 });
    expect([(await current(textOf(old))).status, (await current(textOf(made))).status]).toEqual([401, 200]);
  });

  it('once where the request is repeated by its idempotency key', async () => {
    const old = await create({});
    const headers = { 'idempotency-key': 'rotated-once', 'content-type': 'application/json' };
    const ask = () =>
      fetch(`${service.url}/api/v1/api-keys/${idOf(old)}/rotate`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${service.adminKey}` },
        body: '{}',
      });
    expect((await ask()).status).toBe(200);
    const again = await ask();
    expect(again.status).toBe(409);
    expect(await again.text()).not.toMatch(/mw_[A-Za-z0-9_-]{43}/);
  });

  it('not when it has ended, nor for longer than a week', async () => {
    const old = await create({});
    await service.api('DELETE', `/api-keys/${idOf(old)}`);
    expect((await rotate(idOf(old))).status).toBe(409);
    expect((await rotate('nobody')).status).toBe(404);
    const other = await create({});
    const refused = await rotate(idOf(other), { overlap_seconds: 604_801 });
    expect([refused.status, pointersOf(refused)]).toEqual([400, ['/overlap_seconds']]);
  });

  it('and the trail tells of both keys and when the one of before ends', async () => {
    const old = await create({ name: 'told of' });
    const made = await rotate(idOf(old), { overlap_seconds: 60 });
    const trail = await service.api('GET', `/audit?action=api_key.rotate&subject=${idOf(old)}`);
    expect(trail.body['entries']).toEqual([
      expect.objectContaining({
        subject: idOf(old),
        details: { name: 'told of', next: idOf(made), old_ends_at: new Date(nowMs + 60_000).toISOString() },
      }),
    ]);
  });
});

describe('the list of keys', () => {
  it('is paged by key: newest first, nothing twice, nothing missed while keys are made', async () => {
    const made = [await create({ name: 'one' }), await create({ name: 'two' }), await create({ name: 'three' })].map(
      idOf,
    );
    const ids = (answer: ApiAnswer): string[] => (answer.body['api_keys'] as { id: string }[]).map(({ id }) => id);
    const first = await service.api('GET', '/api-keys?limit=2');
    expect(ids(first)).toEqual([made[2], made[1]]);
    const { next_cursor: cursor, has_next_page: more } = first.body['page_info'] as {
      next_cursor: string;
      has_next_page: boolean;
    };
    expect(more).toBe(true);
    await create({ name: 'meanwhile' });
    expect(ids(await service.api('GET', `/api-keys?limit=2&cursor=${cursor}`))[0]).toBe(made[0]);
    const all = await service.api('GET', '/api-keys?limit=500');
    expect(all.body['page_info']).toEqual({ has_next_page: false });
    expect(new Set(ids(all)).size).toBe(ids(all).length);
    for (const query of [
      `cursor=${cursor}&include_revoked=true`,
      'cursor=nonsense',
      'limit=0',
      'limit=501',
      'limit=x',
      'include_revoked=maybe',
    ]) {
      expect({ query, status: (await service.api('GET', `/api-keys?${query}`)).status }).toEqual({
        query,
        status: 400,
      });
    }
  });

  it('holds revoked ones on request', async () => {
    const id = idOf(await create({}));
    await service.api('DELETE', `/api-keys/${id}`);
    const holds = async (query: string): Promise<boolean> =>
      ((await service.api('GET', `/api-keys?limit=500${query}`)).body['api_keys'] as { id: string }[]).some(
        (key) => key.id === id,
      );
    expect([await holds(''), await holds('&include_revoked=false'), await holds('&include_revoked=true')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
