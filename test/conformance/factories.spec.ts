/** Factories on every database: lease and fence, passes, approvals, generations, deletion. contract §4, §9. */
import { bySystem } from '../../apps/server/store/access/audit.ts';
import type { PassRecord } from '#reconcile';
import { FenceLostError } from '../../apps/server/store/database/store-errors.ts';
import type { FactoryLease } from '../../apps/server/store/factories/factories.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import {
  apply,
  arrivalAt,
  automationOf,
  claimedRun,
  newId,
  runOf,
  sealing,
  seedFactory,
  seedServed,
  servingVersion,
  unique,
  webhookOf,
} from './seeds.ts';
import { approve, hold } from './held-digests.ts';

await onEachBackend('factories', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const expire = (uid: string): Promise<number> =>
    meddle(stores, 'UPDATE factory SET lease_until = 1 WHERE uid = ?', uid);
  const record = (more: Partial<PassRecord> = {}): PassRecord => ({
    id: newId(),
    triggers: ['api'],
    startedAtMs: 1,
    finishedAtMs: 2,
    ending: 'applied',
    problems: [{ rule: 'x' }],
    changes: [],
    held: [],
    superseded: 0,
    timings: { fetch: 1.5 },
    ...more,
  });
  const condition = { ending: 'applied' as const, sinceMs: 1, checkedMs: 2 };

  it('gives a slug to one live factory, also when two ask at once', async () => {
    const other = await world.another();
    for (let round = 0; round < 5; round += 1) {
      const slug = unique('f-');
      const wish = () => ({
        uid: unique('fac_'),
        slug,
        name: slug,
        description: '',
        source: { kind: 'directory' as const, path: '/x' },
        serviceAccountUid: unique('sa_'),
      });
      const made = await Promise.all([stores, other, stores].map(({ factories }) => factories.create(wish())));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect((await stores.factories.findBySlug(slug))?.slug).toBe(slug);
    }
  });

  it('keeps what it was made with, and answers it by uid and slug', async () => {
    const { uid, slug } = await seedFactory(stores);
    const factory = await stores.factories.find(uid);
    expect(factory).toMatchObject({
      uid,
      slug,
      source: { kind: 'directory', path: '/srv/x' },
      suspended: false,
      generationRequested: 1,
      generationHandled: 0,
      condition: { ending: 'none' },
    });
    expect(await stores.factories.findBySlug(slug)).toEqual(factory);
    expect(await stores.factories.find('fac_unknown')).toBeUndefined();
    expect((await stores.access.principal(`sa_${uid}`))?.kind).toBe('service_account');
  });

  it('brings a deleted factory back under its uid, without anything applied', async () => {
    const { uid, slug } = await seedFactory(stores);
    await stores.factories.remove(uid);
    expect(await stores.factories.find(uid)).toBeUndefined();
    expect(await stores.factories.findBySlug(slug)).toBeUndefined();
    expect(
      await stores.factories.create({
        uid,
        slug,
        name: 'again',
        description: '',
        source: { kind: 'directory', path: '/y' },
        serviceAccountUid: `sa_${uid}`,
      }),
    ).toBe(true);
    expect(await stores.factories.find(uid)).toMatchObject({
      name: 'again',
      source: { path: '/y' },
      revisionApplied: undefined,
    });
  });

  describe('lease', () => {
    it('belongs to one owner until it runs out; taking and renewing raise the fence', async () => {
      const { uid, fence } = await seedFactory(stores);
      expect(await stores.factories.acquireLease(uid, 'another', 60_000)).toBeUndefined();
      const renewed = (await stores.factories.acquireLease(uid, 'seeds', 60_000)) as FactoryLease;
      expect(renewed.fence).toBeGreaterThan(fence);
      await expire(uid);
      const taken = (await stores.factories.acquireLease(uid, 'another', 60_000)) as FactoryLease;
      expect(taken.fence).toBeGreaterThan(renewed.fence);
      expect(await stores.factories.acquireLease(uid, 'seeds', 60_000)).toBeUndefined();
    });

    it('that is released is free, but only its own fence releases it', async () => {
      const { uid, fence } = await seedFactory(stores);
      await stores.factories.releaseLease(uid, fence - 1);
      expect(await stores.factories.acquireLease(uid, 'another', 60_000)).toBeUndefined();
      await stores.factories.releaseLease(uid, fence);
      expect(await stores.factories.acquireLease(uid, 'another', 60_000)).toBeDefined();
    });

    it('is renewed by its own fence, and by no other nor for a deleted factory', async () => {
      const { uid, fence } = await seedFactory(stores);
      expect(await stores.factories.renewLease(uid, fence, 60_000)).toBe(true);
      await expire(uid);
      expect(await stores.factories.renewLease(uid, fence, 60_000)).toBe(true); // nobody took it meanwhile
      expect(await stores.factories.acquireLease(uid, 'another', 60_000)).toBeUndefined();
      expect(await stores.factories.renewLease(uid, fence - 1, 60_000)).toBe(false);
      await stores.factories.remove(uid);
      expect(await stores.factories.renewLease(uid, fence, 60_000)).toBe(false);
    });

    it('goes to one of many who ask at once', async () => {
      const other = await world.another();
      const { uid } = await seedFactory(stores);
      await expire(uid);
      const leases = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? stores : other).factories.acquireLease(uid, `owner ${n}`, 60_000),
        ),
      );
      expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it('is not given for a deleted factory', async () => {
      const { uid } = await seedFactory(stores);
      await stores.factories.remove(uid);
      expect(await stores.factories.acquireLease(uid, 'another', 60_000)).toBeUndefined();
    });

    it('that was lost writes nothing: no pass, no definitions, no secret versions', async () => {
      const served = await seedServed(stores);
      const { factoryUid, fence, webhookUid, secretName } = served;
      await expire(factoryUid);
      await stores.factories.acquireLease(factoryUid, 'another', 60_000);
      await stores.secrets.remove({ owner: 'team', name: secretName, force: true }, undefined);
      const before = [
        await stores.factories.find(factoryUid),
        await stores.definitions.actual(factoryUid),
        await servingVersion(stores, factoryUid),
      ];
      await expect(
        stores.factories.recordPass(factoryUid, fence, {
          generationHandled: 9,
          condition,
          failures: 3,
          record: record(),
        }),
      ).rejects.toThrow(FenceLostError);
      await expect(
        apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName, { enabled: false })]),
      ).rejects.toThrow(FenceLostError);
      await expect(stores.definitions.rebindSecrets(factoryUid, fence)).rejects.toThrow(FenceLostError);
      expect([
        await stores.factories.find(factoryUid),
        await stores.definitions.actual(factoryUid),
        await servingVersion(stores, factoryUid),
      ]).toEqual(before);
      expect(await stores.factories.passes(factoryUid, 10)).toEqual([]);
    });
  });

  it('records passes, newest first, and where the factory stands', async () => {
    const { uid, fence } = await seedFactory(stores);
    const records = [
      record(),
      record({
        ending: 'blocked',
        reason: 'mass-deletion',
        message: 'm',
        revision: 'r',
        digest: 'd',
        held: [{ uid: 'w' }],
      }),
      record({ ending: 'failed' }),
    ];
    for (const one of records) {
      await stores.factories.recordPass(uid, fence, {
        generationHandled: 3,
        condition: { ...condition, fingerprint: one.id },
        failures: 2,
        revisionSeen: 'seen',
        revisionAttempted: 'tried',
        record: one,
      });
    }
    await stores.factories.recordPass(uid, fence, { generationHandled: 4, condition, failures: 0 });
    expect(await stores.factories.find(uid)).toMatchObject({
      generationHandled: 4,
      failures: 0,
      condition,
      revisionSeen: 'seen',
      revisionAttempted: 'tried',
    });
    const listed = await stores.factories.passes(uid, 2);
    expect([...listed, ...(await stores.factories.passes(uid, 2, listed.at(-1)?.id))]).toEqual(records.toReversed());
    expect(await stores.factories.pass(uid, (records[1] as PassRecord).id)).toEqual(records[1]);
    expect(await stores.factories.pass('fac_other', (records[1] as PassRecord).id)).toBeUndefined();
  });

  it('pages passes, and ends a page early where they say a lot', async () => {
    const { uid, fence } = await seedFactory(stores);
    const large = { problems: Array.from({ length: 4_000 }, () => ({ rule: 'x' })) };
    const records = Array.from({ length: 60 }, (_, n) => record(n < 6 ? large : {}));
    for (const one of records)
      await stores.factories.recordPass(uid, fence, { generationHandled: 1, condition, failures: 0, record: one });
    const pages = async (limit: number): Promise<number[]> => {
      const sizes: number[] = [];
      const seen: string[] = [];
      for (;;) {
        const { passes, hasMore } = await stores.factories.passPage(uid, limit, seen.at(-1));
        sizes.push(passes.length);
        seen.push(...passes.map(({ id }) => id));
        if (!hasMore) break;
      }
      expect(seen).toEqual(records.map(({ id }) => id).toReversed());
      return sizes;
    };
    expect(await pages(500)).toEqual([57, 3]);
    expect(await pages(54)).toEqual([54, 3, 3]);
    expect(await pages(30)).toEqual([30, 27, 3]);
    expect(await stores.factories.passPage('fac_unknown', 10)).toEqual({ passes: [], hasMore: false });
  });

  it('counts every question, and none is lost when many ask at once', async () => {
    const other = await world.another();
    const { uid } = await seedFactory(stores);
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? stores : other).factories.requestSync(uid)),
    );
    expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 2));
    expect(await stores.factories.requestSync('fac_unknown')).toBe(0);
  });

  it.each([
    { act: 'suspend', by: (uid: string) => world.stores.factories.setSuspended(uid, true) },
    {
      act: 'approve',
      by: async (uid: string, fence: number) => {
        await hold(world.stores, { uid, fence }, 'digest');
        await approve(world.stores, uid, 'digest');
      },
    },
    {
      act: 'another source',
      by: (uid: string) => world.stores.factories.edit(uid, { source: { kind: 'directory', path: '/elsewhere' } }),
    },
  ])('asks for a pass on $act', async ({ by }) => {
    const { uid, fence } = await seedFactory(stores);
    await by(uid, fence);
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
    expect(await stores.factories.find(uid)).toMatchObject({
      name: 'Label',
      source: { path: '/elsewhere' },
      generationRequested: 2,
    });
    expect([...(await stores.definitions.factories([uid, 'fac_unknown'])).keys()]).toEqual([uid]);
    expect(await stores.definitions.factories([])).toEqual(new Map());
  });

  it('keeps approvals per factory; approving twice is one approval', async () => {
    const [one, other] = [await seedFactory(stores), await seedFactory(stores)];
    await hold(stores, one, 'digest');
    expect([await approve(stores, one.uid, 'digest'), await approve(stores, one.uid, 'digest')]).toEqual([
      'approved',
      'approved',
    ]);
    expect(await stores.factories.approvals(one.uid)).toEqual(new Set(['digest']));
    expect(await stores.factories.approvals(other.uid)).toEqual(new Set());
  });

  it('approves nothing that is not held, and asks for no pass then', async () => {
    const seeded = await seedFactory(stores);
    const { uid } = seeded;
    expect(await approve(stores, uid, 'digest')).toBe('not-held');
    await hold(stores, seeded, 'digest');
    expect(await approve(stores, uid, 'another')).toBe('not-held');
    await hold(stores, seeded, 'later');
    expect(await approve(stores, uid, 'digest')).toBe('not-held');
    expect(await stores.factories.approvals(uid)).toEqual(new Set());
    expect(await stores.factories.find(uid)).toMatchObject({ generationRequested: 1 });
  });

  it('leaves growth to an admin where the policy wants that, also while the repository is away', async () => {
    const seeded = await seedFactory(stores);
    const { uid } = seeded;
    await stores.factories.edit(uid, { syncPolicy: { growthApproval: 'admin' } });
    const { fence } = (await stores.factories.acquireLease(uid, 'seeds', 60_000)) as FactoryLease;
    const asked = (isAdmin: boolean) =>
      stores.factories.approve(uid, { digest: 'growth', principalUid: 'user_admin', isAdmin });
    await hold(stores, { uid, fence }, 'growth', { ending: 'failed', reason: 'unreachable', heldForGrowth: true });
    expect(await asked(false)).toBe('needs-admin');
    expect(await stores.factories.approvals(uid)).toEqual(new Set());
    expect(await asked(true)).toBe('approved');
    expect(await stores.factories.approvals(uid)).toEqual(new Set(['growth']));
  });

  it('approves before the pass that lets go of the digest, or not at all', async () => {
    const other = await world.another();
    for (let round = 0; round < 10; round += 1) {
      const seeded = await seedFactory(stores);
      const { uid, fence } = seeded;
      await hold(stores, seeded, 'digest');
      const [result] = await Promise.all([
        approve(other, uid, 'digest'),
        stores.factories.recordPass(uid, fence, { generationHandled: 1, condition, failures: 0 }),
      ]);
      expect(['approved', 'not-held']).toContain(result);
      const isApproved = result === 'approved';
      expect((await stores.factories.approvals(uid)).has('digest')).toBe(isApproved);
      expect((await stores.factories.find(uid))?.generationRequested).toBe(isApproved ? 2 : 1);
      expect(await approve(other, uid, 'digest')).toBe('not-held');
    }
  });

  it('deletes its own secrets and approvals along: the slug made again inherits nothing', async () => {
    const { uid, slug, fence } = await seedFactory(stores);
    const [own, team, bound] = [unique('s'), unique('s'), unique('wh_')];
    const { secret } = await stores.secrets.put(
      { id: newId(), owner: uid, name: own, value: sealing('own') },
      undefined,
    );
    await stores.secrets.put({ id: newId(), owner: 'team', name: team, value: sealing('team') }, undefined);
    await apply(stores, uid, fence, [webhookOf(bound, 'orders', own)]);
    await hold(stores, { uid, fence }, 'digest');
    await approve(stores, uid, 'digest');
    expect((await stores.secrets.usersOf(secret.id)).map(({ webhookUid }) => webhookUid)).toEqual([bound]);
    await stores.factories.remove(uid);
    await stores.factories.create({
      uid,
      slug,
      name: slug,
      description: '',
      source: { kind: 'directory', path: '/y' },
      serviceAccountUid: `sa_${uid}`,
    });
    expect(await stores.secrets.list(uid, 10)).toEqual([]);
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
    await expect(apply(stores, factoryUid, served.fence, [])).rejects.toThrow(FenceLostError);
    expect(await stores.runs.finish(live, { state: 'SUCCEEDED', message: 'done' })).toBe(true);
  });

  it('lists live factories by uid, page by page, and searches names literally', async () => {
    const tag = unique('tag');
    const slugs = [`${tag}_a`, `${tag}xb`, `${tag}%c`];
    for (const slug of slugs) await seedFactory(stores, slug);
    const gone = await seedFactory(stores, `${tag}gone`);
    await stores.factories.remove(gone.uid);
    const found = async (search: string): Promise<string[]> =>
      (await stores.factories.list(100, '', search)).map(({ slug }) => slug).toSorted();
    expect(await found(tag.toUpperCase())).toEqual(slugs.toSorted());
    expect(await found(`${tag}_`)).toEqual([`${tag}_a`]);
    expect(await found(`${tag}%`)).toEqual([`${tag}%c`]);
    const [first] = await stores.factories.list(1);
    const second = await stores.factories.list(1000, first?.uid);
    expect(second.map(({ uid }) => uid)).toEqual((await stores.factories.list(1000)).slice(1).map(({ uid }) => uid));
  });

  it('lists those among the given ones only, whatever the search and page', async () => {
    const tag = unique('tag');
    const made = [
      await seedFactory(stores, `${tag}-a`),
      await seedFactory(stores, `${tag}-b`),
      await seedFactory(stores, `${tag}-c`),
    ]
      .map(({ uid }) => uid)
      .toSorted();
    const among = [made[0] as string, made[2] as string, 'fac_unknown'];
    const uids = async (...asked: Parameters<typeof stores.factories.list>): Promise<string[]> =>
      (await stores.factories.list(...asked)).map(({ uid }) => uid);
    expect(await uids(100, undefined, tag, among)).toEqual([made[0], made[2]]);
    expect(await uids(1, undefined, undefined, among)).toEqual([made[0]]);
    expect(await uids(1, made[0], undefined, among)).toEqual([made[2]]);
    expect(await uids(100, undefined, 'no such', among)).toEqual([]);
    expect(await uids(100, undefined, undefined, [])).toEqual([]);
  });

  describe('the audit entry of a change', () => {
    const by = () => ({ id: newId(), principalUid: 'user_admin', keyId: 'key_1', address: '192.0.2.1' });
    const entriesOf = (uid: string) =>
      select(stores, 'SELECT action, details, key_id, address FROM audit_entry WHERE factory_uid = ? ORDER BY id', uid);

    it('is written with it, and only when something changes', async () => {
      const [uid, slug] = [unique('fac_'), unique('f-')];
      const wish = {
        uid,
        slug,
        name: slug,
        description: '',
        source: { kind: 'dashboard' as const },
        serviceAccountUid: `sa_${uid}`,
      };
      expect([await stores.factories.create(wish, by()), await stores.factories.create(wish, by())]).toEqual([
        true,
        false,
      ]);
      expect([
        await stores.factories.edit(uid, { name: slug }, by()),
        await stores.factories.edit(uid, { name: 'Label', source: { kind: 'dashboard' } }, by()),
      ]).toEqual(['done', 'done']);
      expect([
        await stores.factories.setSuspended(uid, true, by()),
        await stores.factories.setSuspended(uid, false, by()),
      ]).toEqual([true, true]);
      await hold(stores, { uid, fence: 0 }, 'digest');
      expect([await stores.factories.requestSync(uid, by()), await approve(stores, uid, 'digest', by())]).toEqual([
        4,
        'approved',
      ]);
      expect([await stores.factories.remove(uid, by()), await stores.factories.remove(uid, by())]).toEqual([
        true,
        false,
      ]);
      const from = { key_id: 'key_1', address: '192.0.2.1' };
      expect(await entriesOf(uid)).toEqual([
        { action: 'factory.create', details: JSON.stringify({ slug, source: 'dashboard' }), ...from },
        { action: 'factory.change', details: '{"changed":["name"]}', ...from },
        { action: 'factory.suspend', details: '{}', ...from },
        { action: 'factory.resume', details: '{}', ...from },
        { action: 'factory.sync', details: '{"generation":4}', ...from },
        { action: 'factory.approve', details: '{"plan":"digest"}', ...from },
        { action: 'factory.delete', details: JSON.stringify({ slug }), ...from },
      ]);
    });

    it('is not written for a factory that is gone, whose state stays as it is', async () => {
      const { uid } = await seedFactory(stores);
      await stores.factories.remove(uid);
      const before = await select(stores, 'SELECT * FROM factory WHERE uid = ?', uid);
      for (const each of [uid, 'fac_unknown']) {
        expect(await stores.factories.edit(each, { name: 'x', source: { kind: 'dashboard' } }, by())).toBe('gone');
        expect([
          await stores.factories.setSuspended(each, true, by()),
          await approve(stores, each, 'digest', by()),
          await stores.factories.remove(each, by()),
        ]).toEqual([false, 'gone', false]);
        expect(await stores.factories.requestSync(each, by())).toBe(0);
        expect(await entriesOf(each)).toEqual([]);
      }
      expect(await select(stores, 'SELECT * FROM factory WHERE uid = ?', uid)).toEqual(before);
      expect(await stores.factories.approvals(uid)).toEqual(new Set());
    });
  });

  it('leaves a name to the file that decides it, and changes nothing else with it', async () => {
    const { uid, fence } = await seedFactory(stores);
    await stores.definitions.apply({
      factoryUid: uid,
      fence,
      revision: 'r',
      factory: { applyMode: 'atomic', name: 'Of the file' },
      upserts: [],
      deletions: [],
    });
    expect(await stores.factories.edit(uid, { name: 'Mine', source: { kind: 'directory', path: '/elsewhere' } })).toBe(
      'named-by-file',
    );
    expect(await stores.factories.find(uid)).toMatchObject({ name: 'Of the file', source: { path: '/srv/x' } });
    expect(
      await stores.factories.edit(uid, { name: 'Of the file', source: { kind: 'directory', path: '/elsewhere' } }),
    ).toBe('done');
    expect(await stores.factories.find(uid)).toMatchObject({ source: { path: '/elsewhere' } });
    // no file decides any more
    expect(await stores.factories.edit(uid, { name: 'Mine', source: { kind: 'dashboard' } })).toBe('done');
    expect(await stores.factories.find(uid)).toMatchObject({ name: 'Mine', source: { kind: 'dashboard' } });
  });

  it('made again, has nothing of its former life', async () => {
    const { uid, slug, fence } = await seedFactory(stores);
    await stores.definitions.apply({
      factoryUid: uid,
      fence,
      revision: 'r',
      factory: { applyMode: 'perFile', agentDefaults: { model: 'm' } },
      upserts: [],
      deletions: [],
    });
    await stores.factories.recordPass(uid, fence, {
      generationHandled: 1,
      condition,
      failures: 0,
      revisionSeen: 'r',
      revisionAttempted: 'r',
    });
    await stores.factories.remove(uid);
    await stores.factories.create({
      uid,
      slug,
      name: slug,
      description: '',
      source: { kind: 'dashboard' },
      serviceAccountUid: `sa_${uid}`,
    });
    expect(await stores.factories.find(uid)).toMatchObject({
      condition: { ending: 'none' },
      revisionApplied: undefined,
      revisionAttempted: undefined,
      revisionSeen: undefined,
    });
    expect((await stores.definitions.factories([uid])).get(uid)).toEqual({ applyMode: 'atomic' });
  });

  it('has an inventory of what is live: kinds, files, revisions, and who lost a secret', async () => {
    const { uid, fence } = await seedFactory(stores);
    const name = unique('s');
    await stores.secrets.put({ id: newId(), owner: 'team', name, value: sealing('value') }, undefined);
    const uids = [unique('wh_'), unique('wh_'), unique('auto_'), unique('env_'), unique('wh_')] as const;
    await apply(
      stores,
      uid,
      fence,
      [
        webhookOf(uids[0], 'orders', name, { enabled: false }),
        webhookOf(uids[1], 'lost', 'no-such-secret'),
        automationOf(uids[2], 'triage', []),
        webhookOf(uids[4], 'gone', name),
        {
          kind: 'environment',
          uid: uids[3],
          slug: 'box',
          path: 'environments/box.yaml',
          definition: { name: 'box', path: 'environments/box.yaml' },
        },
      ],
      [],
      'r1',
    );
    await apply(stores, uid, fence, [], [{ kind: 'webhook', uid: uids[4] }], 'r2');
    const entry = { revision: 'r1', enabled: true, hasSecret: true };
    expect(await stores.inventory.list(uid)).toEqual([
      { ...entry, kind: 'webhook', uid: uids[1], slug: 'lost', path: 'webhooks/lost.yaml', hasSecret: false },
      { ...entry, kind: 'webhook', uid: uids[0], slug: 'orders', path: 'webhooks/orders.yaml', enabled: false },
      { ...entry, kind: 'automation', uid: uids[2], slug: 'triage', path: 'automations/triage/automation.md' },
      { ...entry, kind: 'environment', uid: uids[3], slug: 'box', path: 'environments/box.yaml' },
    ]);
    expect(await stores.inventory.list('fac_unknown')).toEqual([]);
  });

  it('leaves one admin key when two replicas start on an empty database at once', async () => {
    if (await count(stores, 'api_key')) throw new Error('this suite makes no other keys');
    const other = await world.another();
    const key = () => ({ id: newId(), principalUid: 'user_admin', hash: Buffer.from(unique('h')), hint: 'mw_first…' });
    const made = await Promise.all(
      [stores, other, stores, other].map(({ keys }) => keys.createFirst(key(), bySystem(newId()))),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await count(stores, 'api_key')).toBe(1);
    expect(await select(stores, 'SELECT role FROM api_key')).toEqual([{ role: 'admin' }]);
    expect(await count(stores, "audit_entry WHERE action = 'api_key.create' AND principal_uid = 'system'")).toBe(1);
  });
});
