/** Factories on every database: lease and fence, passes, approvals, generations, deletion. contract 4, 9. */
import { FenceLost, type Lease, type PassRecord } from '../../apps/server/store/factories.ts';
import { count, look, meddle, onEachBackend, type Stores } from './backends.ts';
import { apply, arrivalAt, claimedRun, newId, runOf, sealing, seedFactory, seedServed, servingVersion, unique, webhookOf } from './seeds.ts';

await onEachBackend('factories', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const expire = (uid: string): Promise<number> => meddle(stores, 'UPDATE factory SET lease_until = 1 WHERE uid = ?', uid);
  const record = (more: Partial<PassRecord> = {}): PassRecord => ({
    id: newId(), triggers: ['api'], startedAtMs: 1, finishedAtMs: 2, ending: 'applied', problems: [{ rule: 'x' }], changes: [], held: [], timings: { fetch: 1.5 }, ...more,
  });
  const condition = { ending: 'applied' as const, sinceMs: 1, checkedMs: 2 };

  it('gives a slug to one live factory, also when two ask at once', async () => {
    const other = await world.another();
    for (let round = 0; round < 5; round += 1) {
      const slug = unique('f-');
      const wish = () => ({ uid: unique('fac_'), slug, name: slug, description: '', source: { kind: 'directory' as const, path: '/x' }, serviceAccountUid: unique('sa_') });
      const made = await Promise.all([stores, other, stores].map(({ factories }) => factories.create(wish())));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect((await stores.factories.findBySlug(slug))?.slug).toBe(slug);
    }
  });

  it('keeps what it was made with, and answers it by uid and slug', async () => {
    const { uid, slug } = await seedFactory(stores);
    const factory = await stores.factories.find(uid);
    expect(factory).toMatchObject({ uid, slug, source: { kind: 'directory', path: '/srv/x' }, suspended: false, generationRequested: 1, generationHandled: 0, condition: { ending: 'none' } });
    expect(await stores.factories.findBySlug(slug)).toEqual(factory);
    expect(await stores.factories.find('fac_unknown')).toBeUndefined();
    expect((await stores.access.principal(`sa_${uid}`))?.kind).toBe('service_account');
  });

  it('brings a deleted factory back under its uid, without anything applied', async () => {
    const { uid, slug } = await seedFactory(stores);
    await stores.factories.remove(uid);
    expect(await stores.factories.find(uid)).toBeUndefined();
    expect(await stores.factories.findBySlug(slug)).toBeUndefined();
    expect(await stores.factories.create({ uid, slug, name: 'again', description: '', source: { kind: 'directory', path: '/y' }, serviceAccountUid: `sa_${uid}` })).toBe(true);
    expect(await stores.factories.find(uid)).toMatchObject({ name: 'again', source: { path: '/y' }, revisionApplied: undefined });
  });

  describe('lease', () => {
    it('belongs to one owner until it runs out; taking and renewing raise the fence', async () => {
      const { uid, fence } = await seedFactory(stores);
      expect(await stores.factories.lease(uid, 'another', 60_000)).toBeUndefined();
      const renewed = (await stores.factories.lease(uid, 'seeds', 60_000)) as Lease;
      expect(renewed.fence).toBeGreaterThan(fence);
      await expire(uid);
      const taken = (await stores.factories.lease(uid, 'another', 60_000)) as Lease;
      expect(taken.fence).toBeGreaterThan(renewed.fence);
      expect(await stores.factories.lease(uid, 'seeds', 60_000)).toBeUndefined();
    });

    it('that is released is free, but only its own fence releases it', async () => {
      const { uid, fence } = await seedFactory(stores);
      await stores.factories.release(uid, fence - 1);
      expect(await stores.factories.lease(uid, 'another', 60_000)).toBeUndefined();
      await stores.factories.release(uid, fence);
      expect(await stores.factories.lease(uid, 'another', 60_000)).toBeDefined();
    });

    it('goes to one of many who ask at once', async () => {
      const other = await world.another();
      const { uid } = await seedFactory(stores);
      await expire(uid);
      const leases = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? stores : other).factories.lease(uid, `owner ${n}`, 60_000)));
      expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it('is not given for a deleted factory', async () => {
      const { uid } = await seedFactory(stores);
      await stores.factories.remove(uid);
      expect(await stores.factories.lease(uid, 'another', 60_000)).toBeUndefined();
    });

    it('that was lost writes nothing: no pass, no definitions, no secret versions', async () => {
      const served = await seedServed(stores);
      const { factoryUid, fence, webhookUid, secretName } = served;
      await expire(factoryUid);
      await stores.factories.lease(factoryUid, 'another', 60_000);
      await stores.secrets.remove(served.secretId);
      const before = [await stores.factories.find(factoryUid), await stores.definitions.actual(factoryUid), await servingVersion(stores, factoryUid)];
      await expect(stores.factories.recordPass(factoryUid, fence, { generationHandled: 9, condition, failures: 3, record: record() })).rejects.toThrow(FenceLost);
      await expect(apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName, { enabled: false })])).rejects.toThrow(FenceLost);
      await expect(stores.definitions.rebindSecrets(factoryUid, fence)).rejects.toThrow(FenceLost);
      expect([await stores.factories.find(factoryUid), await stores.definitions.actual(factoryUid), await servingVersion(stores, factoryUid)]).toEqual(before);
      expect(await stores.factories.passes(factoryUid, 10)).toEqual([]);
    });
  });

  it('records passes, newest first, and where the factory stands', async () => {
    const { uid, fence } = await seedFactory(stores);
    const records = [record(), record({ ending: 'blocked', reason: 'mass-deletion', message: 'm', revision: 'r', digest: 'd', held: [{ uid: 'w' }] }), record({ ending: 'failed' })];
    for (const one of records) {
      await stores.factories.recordPass(uid, fence, { generationHandled: 3, condition: { ...condition, fingerprint: one.id }, failures: 2, revisionSeen: 'seen', revisionAttempted: 'tried', record: one });
    }
    await stores.factories.recordPass(uid, fence, { generationHandled: 4, condition, failures: 0 });
    expect(await stores.factories.find(uid)).toMatchObject({ generationHandled: 4, failures: 0, condition, revisionSeen: 'seen', revisionAttempted: 'tried' });
    const listed = await stores.factories.passes(uid, 2);
    expect([...listed, ...(await stores.factories.passes(uid, 2, listed.at(-1)?.id))]).toEqual(records.toReversed());
    expect(await stores.factories.pass(uid, (records[1] as PassRecord).id)).toEqual(records[1]);
    expect(await stores.factories.pass('fac_other', (records[1] as PassRecord).id)).toBeUndefined();
  });

  it('counts every question, and none is lost when many ask at once', async () => {
    const other = await world.another();
    const { uid } = await seedFactory(stores);
    const asked = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? stores : other).factories.ask(uid)));
    expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 2));
    expect(await stores.factories.ask('fac_unknown')).toBe(0);
  });

  it.each([
    { act: 'suspend', by: (uid: string) => world.stores.factories.setSuspended(uid, true) },
    { act: 'approve', by: (uid: string) => world.stores.factories.approve(uid, 'digest', 'user_admin') },
    { act: 'another source', by: (uid: string) => world.stores.factories.edit(uid, { source: { kind: 'directory', path: '/elsewhere' } }) },
  ])('asks for a pass on $act', async ({ by }) => {
    const { uid } = await seedFactory(stores);
    await by(uid);
    expect((await stores.factories.find(uid))?.generationRequested).toBe(2);
  });

  it('does not ask for a pass when the source stays the same', async () => {
    const { uid } = await seedFactory(stores);
    await stores.factories.edit(uid, { source: { kind: 'directory', path: '/srv/x' } });
    expect((await stores.factories.find(uid))?.generationRequested).toBe(1);
  });

  it('edits name and source together, each alone, and asks for a pass only for another source', async () => {
    const { uid } = await seedFactory(stores);
    await stores.factories.edit(uid, { name: 'Label', source: { kind: 'directory', path: '/srv/x' } });
    expect(await stores.factories.find(uid)).toMatchObject({ name: 'Label', generationRequested: 1 });
    await stores.factories.edit(uid, { source: { kind: 'directory', path: '/elsewhere' } });
    expect(await stores.factories.find(uid)).toMatchObject({ name: 'Label', source: { path: '/elsewhere' }, generationRequested: 2 });
    expect([...(await stores.definitions.factories([uid, 'fac_unknown'])).keys()]).toEqual([uid]);
    expect(await stores.definitions.factories([])).toEqual(new Map());
  });

  it('keeps approvals per factory; approving twice is one approval', async () => {
    const [one, other] = [await seedFactory(stores), await seedFactory(stores)];
    await stores.factories.approve(one.uid, 'digest', 'user_admin');
    await stores.factories.approve(one.uid, 'digest', 'user_admin');
    expect(await stores.factories.approvals(one.uid)).toEqual(new Set(['digest']));
    expect(await stores.factories.approvals(other.uid)).toEqual(new Set());
  });

  it('deletes its own secrets and approvals along: the slug made again inherits nothing', async () => {
    const { uid, slug, fence } = await seedFactory(stores);
    const [own, team, bound] = [unique('s'), unique('s'), unique('wh_')];
    const { secret } = await stores.secrets.put({ id: newId(), owner: uid, name: own, value: sealing('own') });
    await stores.secrets.put({ id: newId(), owner: 'team', name: team, value: sealing('team') });
    await apply(stores, uid, fence, [webhookOf(bound, 'orders', own)]);
    await stores.factories.approve(uid, 'digest', 'user_admin');
    expect((await stores.secrets.usersOf(secret.id)).map(({ webhookUid }) => webhookUid)).toEqual([bound]);
    await stores.factories.remove(uid);
    await stores.factories.create({ uid, slug, name: slug, description: '', source: { kind: 'directory', path: '/y' }, serviceAccountUid: `sa_${uid}` });
    expect(await stores.secrets.list(uid)).toEqual([]);
    expect(await count(stores, 'secret_value WHERE secret_id = ?', secret.id)).toBe(0);
    expect(await count(stores, 'webhook WHERE secret_id = ?', secret.id)).toBe(0);
    expect(await stores.factories.approvals(uid)).toEqual(new Set());
    expect(await stores.secrets.find('team', team)).toMatchObject({ version: 1 });
  });

  it('deletes: nothing is served, waiting runs are cancelled, live ones go on', async () => {
    const served = await seedServed(stores);
    const { factoryUid } = served;
    const live = await claimedRun(stores, { factoryUid }, true);
    const waiting = runOf({ factoryUid });
    await stores.runs.create(waiting);
    const accepted = await arrivalAt(stores, served);
    await stores.factories.remove(factoryUid);
    expect((await stores.runs.find(waiting.runId))?.state).toBe('CANCELLED');
    expect((await stores.runs.find(live.runId))?.state).toBe('INPROGRESS');
    expect((await stores.definitions.actual(factoryUid)).objects).toEqual([]);
    expect(await stores.webhooks.find(served.webhookUid)).toBeUndefined();
    expect(await stores.deliveries.acceptOnce(accepted)).toEqual({ kind: 'stale' });
    await expect(apply(stores, factoryUid, served.fence, [])).rejects.toThrow(FenceLost);
    expect(await stores.runs.finish(live, { state: 'SUCCEEDED', message: 'done' })).toBe(true);
  });

  it('lists live factories by uid, page by page, and searches names literally', async () => {
    const tag = unique('tag');
    const slugs = [`${tag}_a`, `${tag}xb`, `${tag}%c`];
    for (const slug of slugs) await seedFactory(stores, slug);
    const gone = await seedFactory(stores, `${tag}gone`);
    await stores.factories.remove(gone.uid);
    const found = async (search: string): Promise<string[]> => (await stores.factories.list(100, '', search)).map(({ slug }) => slug).toSorted();
    expect(await found(tag.toUpperCase())).toEqual(slugs.toSorted());
    expect(await found(`${tag}_`)).toEqual([`${tag}_a`]);
    expect(await found(`${tag}%`)).toEqual([`${tag}%c`]);
    const [first] = await stores.factories.list(1);
    const second = await stores.factories.list(1000, first?.uid);
    expect(second.map(({ uid }) => uid)).toEqual((await stores.factories.list(1000)).slice(1).map(({ uid }) => uid));
  });

  it('leaves one admin key when two replicas start on an empty database at once', async () => {
    if (await count(stores, 'api_key')) throw new Error('this suite makes no other keys');
    const other = await world.another();
    const key = () => ({ id: newId(), principalUid: 'user_admin', hash: Buffer.from(unique('h')) });
    const made = await Promise.all([stores, other, stores, other].map(({ access }) => access.createFirstKey(key())));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await count(stores, 'api_key')).toBe(1);
    expect(await look(stores, 'SELECT role FROM api_key')).toEqual([{ role: 'admin' }]);
  });
});
