/** Sessions of browsers on every database: they are what their keys are, on every replica, and few. contract §2. */
import { randomBytes } from 'node:crypto';
import type { ChangedBy } from '../../apps/server/store/access/audit.ts';
import { StoreError } from '../../apps/server/store/database/store-errors.ts';
import type { ApiKey } from '../../apps/server/store/access/keys.ts';
import { SESSIONS_OF_KEY_MAX } from '../../apps/server/store/access/sessions.ts';
import { count, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId, unique } from './seeds.ts';

const HOUR_MS = 3_600_000;

function by(): ChangedBy {
  return { id: newId(), principalUid: 'user_tester', keyId: 'key_tester', address: '192.0.2.7' };
}

await onEachBackend('sessions', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const keyMade = (more: { expiresAtMs?: number; factories?: string[] } = {}): Promise<ApiKey> =>
    stores.keys.create(
      {
        id: newId(),
        name: 'a key',
        role: 'manager',
        hash: randomBytes(32),
        hint: 'mw_abcd…',
        principal: { uid: unique('user_'), kind: 'user', displayName: 'Ada' },
        ...more,
      },
      by(),
    );
  const opened = async (keyId: string, lifetimeMs = HOUR_MS, of = stores): Promise<Uint8Array> => {
    const hash = randomBytes(32);
    await of.sessions.open({ hash, keyId, lifetimeMs }, by());
    return hash;
  };

  it('may do what their key may, until they or it end', async () => {
    const key = await keyMade({ factories: ['fac_a'] });
    const hash = randomBytes(32);
    const expiresAtMs = await stores.sessions.open({ hash, keyId: key.id, lifetimeMs: HOUR_MS }, by());
    const other = await world.another();
    expect(await other.sessions.find(hash)).toEqual({
      access: { keyId: key.id, principal: key.principal, role: 'manager', factories: ['fac_a'] },
      expiresAtMs,
    });
    expect(Math.abs(expiresAtMs - Date.now() - HOUR_MS)).toBeLessThan(60_000);
    expect(await stores.sessions.find(randomBytes(32))).toBeUndefined();
    const soon = Date.now() + 60_000;
    const short = await keyMade({ expiresAtMs: soon });
    expect((await stores.sessions.find(await opened(short.id)))?.expiresAtMs).toBe(soon);
  });

  it('end with their key and with themselves, on every replica', async () => {
    const [revoked, expired, closed, old, other] = [
      await keyMade(),
      await keyMade({ expiresAtMs: Date.now() + HOUR_MS }),
      await keyMade(),
      await keyMade(),
      await world.another(),
    ];
    const hashes = [await opened(revoked.id), await opened(expired.id), await opened(closed.id), await opened(old.id)];
    for (const hash of hashes) expect(await other.sessions.find(hash)).toBeDefined();
    await stores.keys.revoke(revoked.id, by());
    await meddle(stores, 'UPDATE api_key SET expires_at = 1 WHERE id = ?', expired.id);
    await stores.sessions.close(hashes[2] as Uint8Array, by());
    await meddle(stores, 'UPDATE browser_session SET expires_at = 1 WHERE key_id = ?', old.id);
    for (const hash of hashes) expect(await other.sessions.find(hash)).toBeUndefined();
  });

  it('are signed out once, and written down with it', async () => {
    const key = await keyMade();
    const hash = await opened(key.id);
    const other = await world.another();
    await Promise.all([stores.sessions.close(hash, by()), other.sessions.close(hash, by())]);
    expect((await stores.audit.list({ subject: key.id }, 10)).map(({ action }) => action).toSorted()).toEqual([
      'api_key.create',
      'session.create',
      'session.delete',
    ]);
  });

  it('are twenty of a key at most, also when many sign in at once; another key’s stay', async () => {
    const [key, neighbour, other] = [await keyMade(), await keyMade(), await world.another()];
    const stays = await opened(neighbour.id);
    const first = await opened(key.id);
    await meddle(stores, 'UPDATE browser_session SET created_at = 1 WHERE key_id = ?', key.id);
    await Promise.all(
      Array.from({ length: SESSIONS_OF_KEY_MAX + 4 }, (_, index) =>
        opened(key.id, HOUR_MS, index % 2 === 0 ? stores : other),
      ),
    );
    expect(await count(stores, 'browser_session WHERE key_id = ?', key.id)).toBe(SESSIONS_OF_KEY_MAX);
    expect(await stores.sessions.find(first)).toBeUndefined();
    expect(await stores.sessions.find(stays)).toBeDefined();
    const latest = await opened(key.id);
    expect(await stores.sessions.find(latest)).toBeDefined();
  });

  it('are forgotten when they have run out, and only then', async () => {
    const key = await keyMade();
    const [lasting, over] = [await opened(key.id), await opened(key.id)];
    await meddle(stores, 'UPDATE browser_session SET expires_at = 1 WHERE hash = ?', over);
    expect(await stores.sessions.prune()).toBeGreaterThanOrEqual(1);
    expect(await stores.sessions.prune()).toBe(0);
    expect(await stores.sessions.find(lasting)).toBeDefined();
  });

  it('of no key there are none', async () => {
    await expect(
      stores.sessions.open({ hash: randomBytes(32), keyId: 'nobody', lifetimeMs: HOUR_MS }, by()),
    ).rejects.toThrow(StoreError);
    expect(await count(stores, 'browser_session WHERE key_id = ?', 'nobody')).toBe(0);
  });
});
