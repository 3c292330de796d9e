/**
 * acceptOnce, the door behind every 202, on every database. spec: Delivery identity, Limits (Delivery rate); contract
 * §5.
 */
import { randomBytes } from 'node:crypto';
import { DELIVERIES_PER_MINUTE_MAX } from '#deliveries';
import { uuidv7, UUID_RANDOM_BYTES } from '#runs';
import type { DeliveryOutcome, PendingDelivery } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import type { DeliveryFilter, RefusedEntry } from '../../apps/server/store/deliveries/deliveries.ts';
import { decodePayload } from '../../apps/server/store/deliveries/delivery-entries.ts';
import { count, identityCount, select, onEachBackend, storesOf, type Stores } from './backends.ts';
import {
  ageSlots,
  apply,
  arrival,
  arrivalAt,
  newId,
  runOf,
  sealing,
  seedServed,
  servingVersion,
  slotsOf,
  unique,
  webhookOf,
  type Served,
} from './seeds.ts';

await onEachBackend('acceptOnce', (world) => {
  let served: Served;
  let stores: Stores;
  beforeEach(async () => {
    stores = world.stores;
    served = await seedServed(stores);
  });

  const logRefused = (entry: RefusedEntry): Promise<void> =>
    new Promise((committed, failed) => stores.deliveries.logRefused(entry, { committed, failed }));
  const accept = (one: PendingDelivery): Promise<DeliveryOutcome> => stores.deliveries.acceptOnce(one);
  const acceptAll = (arrivals: readonly PendingDelivery[]): Promise<DeliveryOutcome[]> =>
    Promise.all(arrivals.map(accept));
  const kinds = (acceptances: readonly DeliveryOutcome[]): string[] => acceptances.map(({ kind }) => kind);
  const logged = (): Promise<{ entry_id: string; outcome: string }[]> =>
    select(stores, 'SELECT entry_id, outcome FROM delivery WHERE webhook_uid = ? ORDER BY entry_id', served.webhookUid);

  it('commits identity, entry, payload, runs and slot before it answers', async () => {
    const one = await arrivalAt(stores, served, { runs: 2 });
    const before = await identityCount(stores);
    expect(await accept(one)).toEqual({ kind: 'accepted' });
    expect(await logged()).toEqual([{ entry_id: one.entryId, outcome: 'accepted' }]);
    expect(await count(stores, 'run WHERE entry_id = ?', one.entryId)).toBe(2);
    expect(await identityCount(stores)).toBe(before + 1);
    expect(await slotsOf(stores, served.webhookUid)).toHaveLength(1);
  });

  it('answers the second of two identical deliveries as a duplicate, which starts nothing', async () => {
    await accept(await arrivalAt(stores, served, { identity: 'same' }));
    const again = await arrivalAt(stores, served, { identity: 'same' });
    expect(await accept(again)).toEqual({ kind: 'duplicate' });
    expect(await count(stores, 'run WHERE entry_id = ?', again.entryId)).toBe(0);
    expect(await logged()).toContainEqual({ entry_id: again.entryId, outcome: 'duplicate' });
    expect(await stores.deliveries.payload(again.entryId)).toBeUndefined();
    expect(await slotsOf(stores, served.webhookUid)).toHaveLength(2);
  });

  it.each([
    {
      first: ['a', 'signed'],
      second: ['b', 'signed'],
      kind: 'duplicate',
      why: 'a captured request replayed under another unsigned id',
    },
    {
      first: ['a', 'signed'],
      second: ['a', 'signed-2'],
      kind: 'duplicate',
      why: 'the visible identity counts by itself',
    },
    { first: ['a', 'signed'], second: ['b', 'signed-2'], kind: 'accepted', why: 'nothing in common' },
  ])('looks at every identity: $why', async ({ first, second, kind }) => {
    await accept(await arrivalAt(stores, served, { identities: first }));
    expect((await accept(await arrivalAt(stores, served, { identities: second }))).kind).toBe(kind);
  });

  it('does not remember the identities of a duplicate', async () => {
    await accept(await arrivalAt(stores, served, { identities: ['a'] }));
    await accept(await arrivalAt(stores, served, { identities: ['a', 'new'] }));
    expect((await accept(await arrivalAt(stores, served, { identities: ['new'] }))).kind).toBe('accepted');
  });

  it('keeps identities of two webhooks apart', async () => {
    const other = await seedServed(stores);
    const arrivals = [
      await arrivalAt(stores, served, { identity: 'same' }),
      await arrivalAt(stores, other, { identity: 'same' }),
    ];
    expect(kinds(await acceptAll(arrivals))).toEqual(['accepted', 'accepted']);
  });

  it('accepts one of several identical deliveries of one batch, the first', async () => {
    const arrivals = await Promise.all(
      Array.from({ length: 5 }, () => arrivalAt(stores, served, { identity: 'same' })),
    );
    expect(kinds(await acceptAll(arrivals))).toEqual(['accepted', 'duplicate', 'duplicate', 'duplicate', 'duplicate']);
    expect(await count(stores, 'run WHERE webhook_uid = ?', served.webhookUid)).toBe(1);
  });

  it.each(['rejectedInvalidJson', 'rejectedTooLarge'] as const)(
    'lets %s keep its slot, log itself and be no identity',
    async (refuse) => {
      const refused = await arrivalAt(stores, served, { refuse, identity: 'same' });
      expect(await accept(refused)).toEqual({ kind: 'refused' });
      expect(await slotsOf(stores, served.webhookUid)).toHaveLength(1);
      expect(await logged()).toEqual([{ entry_id: refused.entryId, outcome: refuse }]);
      expect((await accept(await arrivalAt(stores, served, { identity: 'same' }))).kind).toBe('accepted');
    },
  );

  it('lets exactly 60 of a batch in, in order of arrival, and stores nothing of the others', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const before = await identityCount(stores);
    const arrivals = Array.from({ length: DELIVERIES_PER_MINUTE_MAX + 10 }, () => arrival(served, { version }));
    const acceptances = await acceptAll(arrivals);
    expect(kinds(acceptances)).toEqual([
      ...Array<string>(DELIVERIES_PER_MINUTE_MAX).fill('accepted'),
      ...Array<string>(10).fill('throttled'),
    ]);
    for (const throttled of acceptances.slice(DELIVERIES_PER_MINUTE_MAX))
      expect(throttled).toMatchObject({ kind: 'throttled', retryAfterSeconds: 60 });
    const entries = await logged();
    expect(entries.map(({ entry_id: id }) => id)).toEqual(
      arrivals.slice(0, DELIVERIES_PER_MINUTE_MAX).map(({ entryId }) => entryId),
    );
    expect(await count(stores, 'run WHERE webhook_uid = ?', served.webhookUid)).toBe(DELIVERIES_PER_MINUTE_MAX);
    expect(await identityCount(stores)).toBe(before + DELIVERIES_PER_MINUTE_MAX);
  });

  it('counts duplicates and refused bodies among the 60', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const arrivals = [
      ...Array.from({ length: 20 }, () => arrival(served, { version, identity: 'same' })),
      ...Array.from({ length: 20 }, () => arrival(served, { version, refuse: 'rejectedInvalidJson' })),
      ...Array.from({ length: 20 }, () => arrival(served, { version, refuse: 'rejectedTooLarge' })),
      arrival(served, { version }),
      arrival(served, { version, identity: 'same' }),
      arrival(served, { version, refuse: 'rejectedInvalidJson' }),
    ];
    const acceptances = kinds(await acceptAll(arrivals));
    expect(acceptances.slice(0, 60)).toEqual([
      'accepted',
      ...Array<string>(19).fill('duplicate'),
      ...Array<string>(40).fill('refused'),
    ]);
    expect(acceptances.slice(60)).toEqual(['throttled', 'throttled', 'throttled']);
  });

  it('gives a slot back when 60 s have passed since it was taken, not before', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    await acceptAll(Array.from({ length: DELIVERIES_PER_MINUTE_MAX }, () => arrival(served, { version })));
    stores = await ageSlots(stores, served.webhookUid, 30_000);
    const throttled = await accept(arrival(served, { version }));
    expect(throttled).toMatchObject({ kind: 'throttled' });
    expect((throttled as { retryAfterSeconds: number }).retryAfterSeconds).toBeLessThanOrEqual(30);
    stores = await ageSlots(stores, served.webhookUid, 30_000);
    expect((await accept(arrival(served, { version }))).kind).toBe('accepted');
  });

  it('holds the 60 across a restart', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    await acceptAll(Array.from({ length: 40 }, () => arrival(served, { version })));
    stores = storesOf(stores.database);
    const acceptances = await acceptAll(Array.from({ length: 40 }, () => arrival(served, { version })));
    expect(kinds(acceptances)).toEqual([...Array<string>(20).fill('accepted'), ...Array<string>(20).fill('throttled')]);
  });

  it('gives the slots of a batch back that could not be committed', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const taken = newId();
    await stores.runs.create(runOf({}, { runId: taken }));
    const bad = () => arrival(served, { version, runs: [runOf(served, { runId: taken })] });
    await Promise.allSettled(Array.from({ length: 30 }, bad).map(accept));
    expect(kinds(await acceptAll(Array.from({ length: 61 }, () => arrival(served, { version }))))).toEqual([
      ...Array<string>(60).fill('accepted'),
      'throttled',
    ]);
  });

  it('holds the 60 across replicas', async () => {
    const other = await world.another();
    const version = await servingVersion(stores, served.factoryUid);
    const acceptances = await Promise.all(
      Array.from({ length: 90 }, (_, turn) =>
        (turn % 2 === 0 ? stores : other).deliveries.acceptOnce(arrival(served, { version })),
      ),
    );
    expect(acceptances.filter(({ kind }) => kind === 'accepted')).toHaveLength(60);
    expect(acceptances.filter(({ kind }) => kind === 'throttled')).toHaveLength(30);
    expect(await logged()).toHaveLength(60);
  });

  it.each([
    { act: 'disable', why: 'the webhook is gone for its senders' },
    { act: 'rotate', why: 'the old secret is dead' },
    { act: 'remove secret', why: 'nobody can prove anything any more' },
    { act: 'delete webhook', why: '404 from now on' },
    { act: 'delete factory', why: 'all its webhooks are gone' },
  ])('is stale when a "$act" committed first: $why', async ({ act }) => {
    const one = await arrivalAt(stores, served);
    await moved(act);
    expect(await accept(one)).toEqual({ kind: 'stale' });
    expect(await logged()).toEqual([]);
    expect(await slotsOf(stores, served.webhookUid)).toEqual([]);
    expect(await count(stores, 'run WHERE entry_id = ?', one.entryId)).toBe(0);
  });

  async function moved(act: string): Promise<void> {
    const { factoryUid, fence, secretName, webhookUid } = served;
    if (act === 'disable')
      await apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName, { enabled: false })]);
    if (act === 'rotate') {
      await stores.secrets.put({ id: newId(), owner: 'team', name: secretName, value: sealing('rotated') }, undefined);
      expect(await stores.definitions.rebindSecrets(factoryUid, fence)).toHaveLength(1);
    }
    if (act === 'remove secret')
      await stores.secrets.remove({ owner: 'team', name: secretName, force: true }, undefined);
    if (act === 'delete webhook') await apply(stores, factoryUid, fence, [], [{ kind: 'webhook', uid: webhookUid }]);
    if (act === 'delete factory') await stores.factories.remove(factoryUid);
  }

  it('settles the fresh ones of a batch whose others are stale', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    expect(
      kinds(
        await acceptAll([
          arrival(served, { version: version - 1 }),
          arrival(served, { version }),
          arrival(served, { version: version + 1 }),
        ]),
      ),
    ).toEqual(['stale', 'accepted', 'stale']);
  });

  it('fails only the delivery whose row is bad', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const twice = newId();
    await stores.runs.create(runOf({}, { runId: twice }));
    const bad = arrival(served, { version, runs: [runOf(served, { runId: twice })] });
    const arrivals = [arrival(served, { version }), bad, arrival(served, { version }), arrival(served, { version })];
    const outcomes = await Promise.allSettled(arrivals.map(accept));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.kind] : []))).toEqual([
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect(await count(stores, 'delivery WHERE entry_id = ?', bad.entryId)).toBe(0);
    expect(await slotsOf(stores, served.webhookUid)).toHaveLength(3);
  });

  it('starts at most one run per automation and delivery, whoever asks for two', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const entryId = newId();
    const runs = [1, 2].map(() => runOf(served, { entryId, automationUid: served.automationUid }));
    await expect(accept(arrival(served, { version, entryId, runs }))).rejects.toThrow(/conflict/);
    expect(await count(stores, 'run WHERE entry_id = ?', entryId)).toBe(0);
  });

  it('accepts the second of two identical deliveries when the first one fails', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const taken = newId();
    await stores.runs.create(runOf({}, { runId: taken }));
    const first = accept(arrival(served, { version, identity: 'same', runs: [runOf(served, { runId: taken })] }));
    const second = accept(arrival(served, { version, identity: 'same' }));
    await expect(first).rejects.toThrow(/conflict/);
    expect(await second).toEqual({ kind: 'accepted' });
  });

  it('lets exactly one of two replicas have an identical delivery', async () => {
    const other = await world.another();
    const version = await servingVersion(stores, served.factoryUid);
    for (let round = 0; round < 12; round += 1) {
      const identity = unique('race');
      const acceptances = await Promise.all(
        [stores, other].map(({ deliveries }) => deliveries.acceptOnce(arrival(served, { version, identity }))),
      );
      expect(kinds(acceptances).toSorted()).toEqual(['accepted', 'duplicate']);
    }
    expect(await count(stores, 'run WHERE webhook_uid = ?', served.webhookUid)).toBe(12);
  });

  it('lets two replicas take overlapping batches of many webhooks without losing or doubling one', async () => {
    const other = await world.another();
    const many = [served, await seedServed(stores), await seedServed(stores), await seedServed(stores)];
    const versions = await Promise.all(many.map(({ factoryUid }) => servingVersion(stores, factoryUid)));
    const wanted = many.flatMap((one, position) =>
      Array.from({ length: 12 }, (_, n) => ({ one, version: versions[position] as number, identity: `d${n}` })),
    );
    const sent = [
      ...wanted.map((wish) => ({ to: stores, wish })),
      ...wanted.toReversed().map((wish) => ({ to: other, wish })),
    ];
    const acceptances = await Promise.all(
      sent.map(({ to, wish: { one, ...wish } }) => to.deliveries.acceptOnce(arrival(one, wish))),
    );
    expect(acceptances.filter(({ kind }) => kind === 'accepted')).toHaveLength(wanted.length);
    expect(acceptances.filter(({ kind }) => kind === 'duplicate')).toHaveLength(wanted.length);
  });

  it.each([
    { body: Buffer.from('{"text":"\\u0000 and \0 raw"}'), why: 'NUL, escaped and raw' },
    { body: Buffer.from('["\\ud800","\\udfff"]'), why: 'lone surrogate escapes' },
    { body: Buffer.from(`{"n":1e400,"m":${'9'.repeat(400)}}`), why: 'numbers beyond every type' },
    {
      body: Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
      why: 'nesting beyond every stack, compressed',
    },
    {
      body: Buffer.from(Array.from({ length: 262_144 }, (_, at) => (at * 7_919 + (at >> 8) * 104_729) % 251)),
      why: '256 KiB of every byte',
    },
    { body: Buffer.alloc(0), why: 'nothing at all' },
  ])('gives back the exact bytes: $why', async ({ body }) => {
    const one = await arrivalAt(stores, served, { body });
    await accept(one);
    const stored = await stores.deliveries.payload(one.entryId);
    expect(stored && Buffer.compare(decodePayload(stored), body)).toBe(0);
    expect(await stores.deliveries.find(one.entryId)).toMatchObject({
      size: body.length,
      size_exact: 1,
      payload_encoding: stored?.encoding === 'identity' ? null : stored?.encoding,
    });
  });

  it('remembers identities when the webhook is deleted and added again', async () => {
    await accept(await arrivalAt(stores, served, { identity: 'same' }));
    const { factoryUid, fence, webhookUid } = served;
    const before = await stores.definitions.actual(factoryUid);
    await apply(stores, factoryUid, fence, [], [{ kind: 'webhook', uid: webhookUid }]);
    await apply(stores, factoryUid, fence, before.objects);
    expect((await accept(await arrivalAt(stores, served, { identity: 'same' }))).kind).toBe('duplicate');
    expect(await slotsOf(stores, webhookUid)).toHaveLength(2);
  });

  it('lists the log newest first, page by page', async () => {
    const version = await servingVersion(stores, served.factoryUid);
    const arrivals = Array.from({ length: 7 }, () => arrival(served, { version }));
    await acceptAll(arrivals);
    const first = await stores.deliveries.list(served.webhookUid, 4);
    const second = await stores.deliveries.list(served.webhookUid, 4, first.at(-1)?.entry_id);
    expect([...first, ...second].map(({ entry_id: id }) => id)).toEqual(
      arrivals.map(({ entryId }) => entryId).toReversed(),
    );
    expect(await stores.webhooks.lastDeliveries([served.webhookUid])).toEqual(
      new Map([[served.webhookUid, arrivals.at(-1)?.receivedAtMs]]),
    );
  });

  it('lists the log by outcome and time of receipt', async () => {
    const { webhookUid, factoryUid } = served;
    const startMs = Date.now() - 3_600_000;
    const refused = async (
      minute: number,
      outcome: 'rejectedAuth' | 'rejectedTooLarge',
      leadMs = 20_000, // named after its receipt
    ): Promise<string> => {
      const entryId = uuidv7(startMs + minute * 60_000 + leadMs, randomBytes(UUID_RANDOM_BYTES));
      await logRefused({
        entryId,
        webhookUid,
        factoryUid,
        deliveryId: entryId,
        outcome,
        sizeBytes: 1,
        sizeExact: true,
        receivedAtMs: startMs + minute * 60_000,
        clientAddress: '192.0.2.1',
        revision: 'r',
        reason: 'wrong',
      });
      return entryId;
    };
    const ids = [
      await refused(0, 'rejectedAuth'),
      await refused(1, 'rejectedTooLarge'),
      await refused(2, 'rejectedAuth'),
      await refused(30, 'rejectedAuth'),
    ];
    const listed = async (filter: DeliveryFilter, limit = 100, before?: string): Promise<number[]> =>
      (await stores.deliveries.list(webhookUid, limit, before, filter)).map(({ entry_id: id }) => ids.indexOf(id));
    const at = (minute: number): number => startMs + minute * 60_000;
    expect(await listed({})).toEqual([3, 2, 1, 0]);
    expect(await listed({ outcomes: ['rejectedAuth'] })).toEqual([3, 2, 0]);
    expect(await listed({ outcomes: ['rejectedAuth'] }, 1, ids[3])).toEqual([2]);
    expect(await listed({ outcomes: ['rejectedTooLarge', 'accepted'] })).toEqual([1]);
    expect(await listed({ outcomes: [] })).toEqual([]);
    expect(await listed({ sinceMs: at(1) })).toEqual([3, 2, 1]);
    expect(await listed({ untilMs: at(2) })).toEqual([1, 0]);
    expect(await listed({ sinceMs: at(1), untilMs: at(30), outcomes: ['rejectedAuth'] })).toEqual([2]);
    expect(await listed({ sinceMs: -1e15, untilMs: 1e15 })).toEqual([3, 2, 1, 0]);
    expect(await listed({ sinceMs: 1e15 })).toEqual([]);
    // Received while the clock was set back by 23 hours: it came last, and is found by when it came.
    ids.push(await refused(1, 'rejectedAuth', 23 * 3_600_000));
    expect(await listed({})).toEqual([4, 3, 2, 1, 0]);
    expect(await listed({ untilMs: at(2) })).toEqual([4, 1, 0]);
    expect(await listed({ sinceMs: at(2) })).toEqual([3, 2]);
  });

  it('logs and counts refusals without a slot', async () => {
    const entryId = newId();
    await logRefused({
      entryId,
      webhookUid: served.webhookUid,
      factoryUid: served.factoryUid,
      deliveryId: 'd',
      outcome: 'rejectedAuth',
      sizeBytes: 3,
      sizeExact: false,
      receivedAtMs: Date.now(),
      clientAddress: '192.0.2.1',
      revision: 'r',
      reason: 'wrong',
    });
    await Promise.all([1, 2].map((by) => stores.deliveries.countRefused(new Map([[entryId, by]]))));
    expect(await stores.deliveries.find(entryId)).toMatchObject({
      outcome: 'rejectedAuth',
      entries: 4,
      size: 3,
      size_exact: 0,
      payload_encoding: null,
    });
    expect(await slotsOf(stores, served.webhookUid)).toEqual([]);
  });
});
