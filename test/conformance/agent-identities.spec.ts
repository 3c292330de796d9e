/** Agent identities on every database: made, changed, deleted, and gone with their factory. contract §3.14. */
import { AGENT_IDENTITIES_MAX } from '../../apps/server/store/runs/agent-identities.ts';
import { count, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId } from './seeds.ts';

const BY = (): { id: string; principalUid: string; keyId: string; address: string } => ({
  id: newId(),
  principalUid: 'user_admin',
  keyId: 'key',
  address: '192.0.2.1',
});

await onEachBackend('agent identities', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });
  const make = (name: string, settings = {}, factoryUid?: string, by = stores) =>
    by.identities.create({ uid: newId(), name, settings, factoryUid }, BY());

  it('are what was stored, in the order in which they were made', async () => {
    const [first, second] = [await make('first', { prompt: 'Read.' }), await make('second')];
    if (typeof first === 'string' || typeof second === 'string') throw new Error('it is full');
    expect(await stores.identities.find(first.uid)).toEqual(first);
    const changed = await stores.identities.change(
      first.uid,
      ({ name, settings }) => ({ name: `${name}!`, settings: { ...settings, description: 'Reads.' } }),
      BY(),
    );
    expect(changed).toMatchObject({ name: 'first!', settings: { prompt: 'Read.', description: 'Reads.' } });
    expect(changed?.updatedAtMs).toBeGreaterThan(first.updatedAtMs);
    const listed = (await stores.identities.list(undefined)).map(({ name }) => name);
    expect(listed.slice(-2)).toEqual(['first!', 'second']);
    expect(await stores.identities.list(['another'])).toEqual([]);
    expect(await stores.identities.remove(first.uid, BY())).toBe(true);
    expect(await stores.identities.remove(first.uid, BY())).toBe(false);
    expect(await stores.identities.find(first.uid)).toBeUndefined();
    expect(await stores.identities.change(first.uid, (before) => before, BY())).toBeUndefined();
    expect(await count(stores, "audit_entry WHERE action LIKE 'agent_identity.%' AND subject = ?", first.uid)).toBe(3);
  });

  it('belong to a factory that is there, and are gone with it', async () => {
    const uid = newId();
    expect(await make('nowhere', {}, uid)).toBe('no-factory');
    await meddle(
      stores,
      'INSERT INTO agent_identity (uid, factory_uid, name, settings, created_at, created_by, updated_at) ' +
        "VALUES (?, ?, 'left', '{}', 1, 'user_admin', 1)",
      uid,
      uid,
    );
    expect(await stores.identities.find(uid)).toBeUndefined();
    expect((await stores.identities.list(undefined)).map(({ name }) => name)).not.toContain('left');
  });

  it('are bounded', async () => {
    const there = (await stores.identities.list(undefined)).length;
    for (let made = there; made < AGENT_IDENTITIES_MAX - 1; made += 1) await make(`number ${made}`);
    const others = await Promise.all([world.another(), world.another(), world.another()]);
    const atOnce = await Promise.all([stores, ...others].map((each) => make('the last one', {}, undefined, each)));
    expect(atOnce.filter((made) => made !== 'full')).toHaveLength(1);
    expect(await make('one more')).toBe('full');
    expect(await count(stores, 'agent_identity WHERE factory_uid IS NULL')).toBe(AGENT_IDENTITIES_MAX);
  });
});
