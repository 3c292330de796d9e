/**
 * API keys and the audit trail on every database: who is let in, that somebody always can be, and that every change is
 * written down with itself. contract §2.
 */
import type { ChangedBy } from '../../apps/server/store/access/audit.ts';
import type { ApiKey, NewKey } from '../../apps/server/store/access/keys.ts';
import { count, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId, unique } from './seeds.ts';

const HOUR_MS = 3_600_000;

function by(): ChangedBy {
  return { id: newId(), principalUid: 'user_tester', keyId: 'key_tester', address: '192.0.2.7' };
}

function keyOf(more: Partial<NewKey> = {}): NewKey {
  const principal = { uid: unique('user_'), kind: 'user', displayName: 'Ada', email: 'ada@example.com' } as const;
  return {
    id: newId(),
    name: 'a key',
    role: 'admin',
    hash: Buffer.from(unique('h')),
    hint: 'mw_abcd…',
    principal,
    ...more,
  };
}

await onEachBackend('API keys', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const made = (more: Partial<NewKey> = {}): Promise<ApiKey> => stores.keys.create(keyOf(more), by());
  /** Keys that other tests made let nobody in any more. */
  const onlyThese = async (...wanted: Partial<NewKey>[]): Promise<ApiKey[]> => {
    await meddle(stores, 'UPDATE api_key SET revoked_at = 1 WHERE revoked_at IS NULL');
    return Promise.all(wanted.map(made));
  };

  it('give back what was stored, with their principal', async () => {
    const expiresAtMs = Date.now() + HOUR_MS;
    const wanted = keyOf({ role: 'manager', factories: ['fac_a', 'fac_b'], expiresAtMs });
    const key = await stores.keys.create(wanted, by());
    expect(key).toEqual({
      id: wanted.id,
      name: 'a key',
      role: 'manager',
      principal: wanted.principal,
      factories: ['fac_a', 'fac_b'],
      hint: 'mw_abcd…',
      createdAtMs: expect.any(Number),
      createdBy: 'user_tester',
      expiresAtMs,
      revokedAtMs: undefined,
      lastUsedAtMs: undefined,
    });
    expect(await stores.keys.get(wanted.id)).toEqual(key);
    expect(await stores.keys.find(wanted.hash)).toEqual({
      keyId: wanted.id,
      principal: wanted.principal,
      role: 'manager',
      factories: ['fac_a', 'fac_b'],
    });
    const second = await stores.keys.create(keyOf({ principal: key.principal.uid }), by());
    expect(second).toMatchObject({ principal: wanted.principal, factories: undefined, expiresAtMs: undefined });
  });

  it('are written down with their making, or not at all', async () => {
    const wanted = keyOf();
    await stores.keys.create(wanted, by());
    const again = keyOf({ hash: wanted.hash });
    await expect(stores.keys.create(again, by())).rejects.toThrow(/conflict/);
    expect(await stores.audit.list({ subject: wanted.id }, 10)).toMatchObject([
      { action: 'api_key.create', details: { role: 'admin', principal: (wanted.principal as { uid: string }).uid } },
    ]);
    expect(await stores.audit.list({ subject: again.id }, 10)).toEqual([]);
    expect(await count(stores, 'principal WHERE uid = ?', (again.principal as { uid: string }).uid)).toBe(0);
  });

  it('are listed newest first, revoked ones on request', async () => {
    const keys = [await made(), await made(), await made()];
    await stores.keys.revoke(String(keys[1]?.id), by());
    const ids = async (includeRevoked: boolean, after?: string): Promise<string[]> =>
      (await stores.keys.list({ limit: 2, includeRevoked, after })).map(({ id }) => id);
    expect(await ids(true)).toEqual([keys[2]?.id, keys[1]?.id]);
    expect(await ids(false)).toEqual([keys[2]?.id, keys[0]?.id]);
    expect((await ids(true, keys[1]?.id))[0]).toBe(keys[0]?.id);
  });

  it('that are revoked let nobody in from the commit on, on every replica; once', async () => {
    await onlyThese({});
    const other = await world.another();
    const wanted = keyOf({ role: 'viewer' });
    await stores.keys.create(wanted, by());
    expect(await other.keys.find(wanted.hash)).toBeDefined();
    expect([
      await stores.keys.revoke(wanted.id, by()),
      await stores.keys.revoke(wanted.id, by()),
      await stores.keys.revoke('nobody', by()),
    ]).toEqual(['revoked', 'revoked', 'unknown']);
    expect(await other.keys.find(wanted.hash)).toBeUndefined();
    expect(await stores.audit.list({ subject: wanted.id, action: 'api_key.revoke' }, 10)).toHaveLength(1);
  });

  it.each([
    { beside: [{ role: 'manager' }], why: 'managers make no keys' },
    { beside: [{ factories: ['fac_a'] }], why: 'limited to factories, an admin is a manager' },
    { beside: [{ expiresAtMs: 1 }], why: 'it has run out' },
    { beside: [], why: 'there is no other' },
  ] as { beside: Partial<NewKey>[]; why: string }[])('of the last admin stay: $why', async ({ beside }) => {
    const [last] = await onlyThese({}, ...beside);
    expect(await stores.keys.revoke(String(last?.id), by())).toBe('last');
    expect(await stores.keys.edit(String(last?.id), { expiresAtMs: Date.now() + HOUR_MS }, by())).toBe('last');
    expect(await stores.keys.edit(String(last?.id), { name: 'renamed' }, by())).toMatchObject({
      name: 'renamed',
      expiresAtMs: undefined,
    });
    expect(await stores.audit.list({ subject: String(last?.id), action: 'api_key.revoke' }, 10)).toEqual([]);
    await made();
    expect(await stores.keys.revoke(String(last?.id), by())).toBe('revoked');
  });

  it('of the last two admins, revoked at once, end as one', async () => {
    const other = await world.another();
    for (let round = 0; round < 10; round += 1) {
      const [first, second] = await onlyThese({}, {});
      const outcomes = await Promise.all([
        stores.keys.revoke(String(first?.id), by()),
        other.keys.revoke(String(second?.id), by()),
      ]);
      expect(outcomes.toSorted()).toEqual(['last', 'revoked']);
      expect(await count(stores, "api_key WHERE role = 'admin' AND revoked_at IS NULL")).toBe(1);
    }
  });

  it('that have ended are changed no more', async () => {
    await onlyThese({});
    const expired = await made({ expiresAtMs: 1 });
    const revoked = await made();
    await stores.keys.revoke(revoked.id, by());
    for (const { id } of [expired, revoked])
      expect(await stores.keys.edit(id, { expiresAtMs: null }, by())).toBe('ended');
    expect(await stores.keys.edit('nobody', { name: 'x' }, by())).toBe('unknown');
  });

  it('keep what an edit does not name, and tell of it', async () => {
    await onlyThese({});
    const expiresAtMs = Date.now() + HOUR_MS;
    const { id } = await made({ role: 'viewer' });
    expect(await stores.keys.edit(id, { expiresAtMs }, by())).toMatchObject({ name: 'a key', expiresAtMs });
    expect(await stores.keys.edit(id, { name: 'other' }, by())).toMatchObject({ name: 'other', expiresAtMs });
    expect(await stores.keys.edit(id, { expiresAtMs: null }, by())).toMatchObject({
      name: 'other',
      expiresAtMs: undefined,
    });
    const details = (await stores.audit.list({ subject: id, action: 'api_key.change' }, 10)).map(
      (entry) => entry.details,
    );
    expect(details).toEqual([
      { expires_at: 'never' },
      { name: 'other' },
      { expires_at: new Date(expiresAtMs).toISOString() },
    ]);
  });

  it('know when they were last used; an older note changes nothing', async () => {
    const [first, second] = [await made(), await made()];
    await stores.keys.noteUses(
      new Map([
        [second.id, 2_000],
        [first.id, 5_000],
      ]),
    );
    await stores.keys.noteUses(
      new Map([
        [first.id, 4_000],
        [second.id, 6_000],
        ['nobody', 1],
      ]),
    );
    expect([(await stores.keys.get(first.id))?.lastUsedAtMs, (await stores.keys.get(second.id))?.lastUsedAtMs]).toEqual(
      [5_000, 6_000],
    );
  });
});

await onEachBackend('the audit trail', (world) => {
  it('tells who, what, when and from where, newest first, by any of its members', async () => {
    const { stores } = world;
    const first = await stores.keys.create(keyOf(), by());
    const second = await stores.keys.create(keyOf(), { ...by(), principalUid: first.principal.uid });
    await stores.keys.edit(second.id, { name: 'x' }, { id: newId(), principalUid: 'system' });
    const all = await stores.audit.list({}, 100);
    expect(all.map(({ action, subject }) => [action, subject])).toEqual([
      ['api_key.change', second.id],
      ['api_key.create', second.id],
      ['api_key.create', first.id],
    ]);
    expect(all[2]).toEqual({
      id: expect.any(String),
      atMs: expect.any(Number),
      principal: { uid: 'user_tester', displayName: 'user_tester' },
      keyId: 'key_tester',
      action: 'api_key.create',
      subject: first.id,
      factoryUid: undefined,
      address: '192.0.2.7',
      details: { name: 'a key', role: 'admin', principal: first.principal.uid },
    });
    expect(all[1]?.principal).toEqual({ uid: first.principal.uid, displayName: 'Ada' });
    expect(all[0]).toMatchObject({
      principal: { uid: 'system', displayName: 'system' },
      keyId: undefined,
      address: undefined,
    });

    const ids = async (
      filter: Parameters<Stores['audit']['list']>[0],
      after?: readonly [number, string],
    ): Promise<string[]> => (await stores.audit.list(filter, 100, after)).map(({ id }) => id);
    const [newest, middle, oldest] = all.map(({ id }) => id);
    expect(await ids({ principalUid: first.principal.uid })).toEqual([middle]);
    expect(await ids({ action: 'api_key.create' })).toEqual([middle, oldest]);
    expect(await ids({ subject: second.id, action: 'api_key.change' })).toEqual([newest]);
    expect(await ids({ factoryUid: 'fac_a' })).toEqual([]);
    // of one moment: the ID decides
    await meddle(stores, 'UPDATE audit_entry SET at = 1000 WHERE id IN (?, ?)', String(oldest), String(middle));
    expect(await ids({ untilMs: 1_000 })).toEqual([]);
    expect(await ids({ sinceMs: 1_000, untilMs: 1_001 })).toEqual([middle, oldest]);
    expect(await ids({}, [1_000, String(middle)])).toEqual([oldest]);
  });
});
