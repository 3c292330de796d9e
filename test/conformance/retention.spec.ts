/**
 * Pruning of the delivery log on every database: at least 7 days, at least the latest 50 of each class, nothing that a
 * run needs. spec: Limits (Delivery log retention); contract §5.9 (Log).
 */
import { identityKey, RETAINED_ENTRIES_MIN } from '#deliveries';
import { count, identityCount, select, meddle, onEachBackend, type Stores } from './backends.ts';
import { deliverySweep } from '../../apps/server/store/retention/delivery-sweeps.ts';
import { identitySweep } from '../../apps/server/store/retention/identity-sweeps.ts';
import { SweepStore, type Sweep } from '../../apps/server/store/retention/sweeps.ts';
import { DAY_MS, idAt, seedEntries, sweepState, sweepAll, sweeperOf } from './sweep-runs.ts';
import { arrivalAt, claimRun, runOf, seedServed, type Served } from './seeds.ts';

const NOW_MS = Date.now();

await onEachBackend('retention', (world) => {
  let stores: Stores;
  let served: Served;
  beforeEach(async () => {
    stores = world.stores;
    served = await seedServed(stores);
  });

  /** Entries of one outcome, a minute apart, the newest of them `ageDays` old; oldest first. */
  async function entries(outcome: string, howMany: number, ageDays: number): Promise<string[]> {
    const seeded = Array.from({ length: howMany }, (_, n) => {
      const receivedAtMs = NOW_MS - ageDays * DAY_MS - (howMany - n) * 60_000;
      return { entryId: idAt(receivedAtMs), outcome, receivedAtMs };
    });
    await seedEntries(stores, served, seeded);
    return seeded.map(({ entryId }) => entryId);
  }

  const pruneAll = (): Promise<void> => sweepAll(stores, deliverySweep());

  const keyOf = (identity: string): Buffer => Buffer.from(identityKey(served.webhookUid, identity), 'latin1');

  const left = async (): Promise<string[]> =>
    (
      await select<{ entry_id: string }>(
        stores,
        'SELECT entry_id FROM delivery WHERE webhook_uid = ? ORDER BY entry_id',
        served.webhookUid,
      )
    ).map(({ entry_id: id }) => id);

  it('keeps the latest 50, however old', async () => {
    const ids = await entries('accepted', 80, 30);
    await pruneAll();
    expect(await left()).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
  });

  it('keeps 7 days, however many', async () => {
    const ids = await entries('accepted', 80, 6.9);
    await pruneAll();
    expect(await left()).toEqual(ids);
  });

  it('keeps what is either young or among the latest', async () => {
    await entries('accepted', 40, 30);
    const young = await entries('accepted', 60, 1);
    await pruneAll();
    expect(await left()).toEqual(young);
  });

  it('counts the two classes apart, so that refusals push nothing accepted out', async () => {
    const accepted = await entries('accepted', 25, 30);
    const duplicates = await entries('duplicate', 30, 29);
    for (const outcome of ['rejectedAuth', 'rejectedInvalidJson', 'rejectedTooLarge']) await entries(outcome, 100, 20);
    await pruneAll();
    expect(await left()).toEqual(expect.arrayContaining([...accepted.slice(5), ...duplicates]));
    expect(await count(stores, "delivery WHERE webhook_uid = ? AND outcome LIKE 'rejected%'", served.webhookUid)).toBe(
      RETAINED_ENTRIES_MIN,
    );
    expect(await left()).toHaveLength(2 * RETAINED_ENTRIES_MIN);
  });

  it('keeps the payload that a live run needs, and lets it go afterwards', async () => {
    const ids = await entries('accepted', 60, 30);
    const run = runOf(served, { entryId: ids[0], automationUid: served.automationUid });
    await stores.runs.create(run);
    await pruneAll();
    expect(await left()).toEqual([ids[0], ...ids.slice(-RETAINED_ENTRIES_MIN)]);
    const claim = await claimRun(stores, run.runId);
    await pruneAll();
    expect(await stores.deliveries.payload(ids[0] as string)).toBeDefined();
    await stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'done' });
    await pruneAll();
    expect(await left()).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
  });

  it('prunes a deleted webhook’s log too, and every webhook in turn', async () => {
    const first = served;
    await entries('accepted', 60, 30);
    for (let n = 0; n < 25; n += 1) await seedServed(stores);
    served = await seedServed(stores);
    await entries('accepted', 60, 30);
    await meddle(stores, 'UPDATE webhook SET deleted_at = 1 WHERE uid = ?', first.webhookUid);
    await pruneAll();
    for (const { webhookUid } of [first, served])
      expect(await count(stores, 'delivery WHERE webhook_uid = ?', webhookUid)).toBe(RETAINED_ENTRIES_MIN);
  });

  it('keeps an entry until its time of receipt is old, whatever its ID says of it', async () => {
    const ids = await entries('accepted', 60, 30);
    await meddle(
      stores,
      'UPDATE delivery SET received_at = ? WHERE entry_id = ?',
      NOW_MS - 6 * DAY_MS,
      ids[0] as string,
    );
    await pruneAll();
    expect(await left()).toEqual([ids[0], ...ids.slice(-RETAINED_ENTRIES_MIN)]);
  });

  it('removes a flood in steps, and one that is full of large payloads in smaller ones', async () => {
    const old = Array.from({ length: 2_300 }, (_, n) => ({
      entryId: idAt(NOW_MS - 20 * DAY_MS + n),
      outcome: 'rejectedAuth',
      receivedAtMs: NOW_MS - 20 * DAY_MS + n,
    }));
    const large = Array.from({ length: 60 }, (_, n) => ({
      entryId: idAt(NOW_MS - 10 * DAY_MS + n),
      outcome: 'accepted',
      receivedAtMs: NOW_MS - 10 * DAY_MS + n,
      sizeBytes: 262_144,
    }));
    await seedEntries(stores, served, [...old, ...large]);
    let steps = 0;
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    const flood = sweeperOf(stores, [deliverySweep()], { stepMs: 0, pause: async () => void (steps += 1) });
    await flood.ask();
    expect(await left()).toHaveLength(2 * RETAINED_ENTRIES_MIN);
    // 128 small rows at most, or 7 of 256 KiB.
    expect(steps).toBeGreaterThanOrEqual(Math.ceil((2_300 - RETAINED_ENTRIES_MIN) / 128) + 2);
  });

  it('goes on where a sweeper was killed between two steps, and loses and repeats nothing', async () => {
    const ids = await entries('accepted', 400, 30);
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    const killed = new SweepStore(stores.database, 'killed');
    const sweep = deliverySweep();
    let place = (await killed.claim(sweep)) as string;
    let found = await killed.scan(sweep, place);
    for (
      ;
      !found.isOver && !found.targets.some(({ target }) => ids.includes(target));
      found = await killed.scan(sweep, place)
    )
      place = found.place;
    const some = found.targets.slice(0, 100).map(({ target }) => target);
    expect(await killed.remove(sweep, place, some)).toBe(100);
    // It is gone without a word: its lease is what others wait for.
    const other = sweeperOf(stores, [sweep], { owner: 'other' });
    await other.ask();
    expect(await left()).toHaveLength(300);
    await meddle(stores, 'UPDATE sweep SET lease_until = 0');
    await other.ask();
    expect(await left()).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
    // Were it only asleep, it removes nothing more.
    expect(await killed.remove(sweep, place, ids.slice(-2))).toBeUndefined();
    expect(await killed.renew(sweep, place)).toBe(false);
    expect(await left()).toHaveLength(RETAINED_ENTRIES_MIN);
  });

  it('is done by one of two replicas at a time', async () => {
    await entries('accepted', 1_500, 30);
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    const replicas = [stores, await world.another()];
    const removed = new Map<string, number>();
    const sweeps = replicas.map((replica, n) =>
      sweeperOf(
        replica,
        [counting(deliverySweep(), (entryId) => removed.set(entryId, (removed.get(entryId) ?? 0) + 1))],
        { owner: `replica ${n}`, stepMs: 0 },
      ),
    );
    await Promise.all(sweeps.map((sweeper) => sweeper.ask()));
    expect(await left()).toHaveLength(RETAINED_ENTRIES_MIN);
    expect([...removed.values()].filter((times) => times > 1)).toEqual([]);
    // What was just done is not due again, for nobody.
    await entries('accepted', 60, 20);
    await Promise.all(sweeps.map((sweeper) => sweeper.ask()));
    expect(await left()).toHaveLength(RETAINED_ENTRIES_MIN + 60);
  });

  it('takes a sweep over whose lease a clock that was wrong has made to last for years', async () => {
    const ids = await entries('accepted', 60, 30);
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    expect(await new SweepStore(stores.database, 'killed').claim(deliverySweep())).toBeDefined();
    const other = sweeperOf(stores, [deliverySweep()], { owner: 'other' });
    await other.ask();
    expect(await left()).toEqual(ids);
    await meddle(stores, 'UPDATE sweep SET lease_until = ?', NOW_MS + 1_000 * DAY_MS);
    await other.ask();
    expect(await left()).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
  });

  it('lets go of a sweep that is stopped, at its place', async () => {
    const ids = await entries('accepted', 600, 30);
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    const stopped = sweeperOf(stores, [deliverySweep()], {
      stepMs: 0,
      pause: async () => {
        if ((await left()).length < 600) void stopped.stop();
      },
    });
    await stopped.ask();
    expect((await left()).length).toBeGreaterThan(RETAINED_ENTRIES_MIN);
    expect(await sweepState(stores, deliverySweep())).toMatchObject({ owner: null, done_at: 0 });
    await sweeperOf(stores, [deliverySweep()], { owner: 'next' }).ask();
    expect(await left()).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
  });

  it('keeps identities for ever by default, and as long as it is told otherwise', async () => {
    const before = await identityCount(stores);
    for (const days of [1, 20, 40]) {
      const identity = `${days}`;
      await stores.deliveries.acceptOnce(await arrivalAt(stores, served, { identity }));
      const acceptedAt = NOW_MS - days * DAY_MS;
      await meddle(stores, 'UPDATE identity_batch SET accepted_at = ? WHERE keys = ?', acceptedAt, keyOf(identity));
    }
    await pruneAll();
    expect(await identityCount(stores)).toBe(before + 3);
    await sweepAll(stores, identitySweep(30));
    expect(await identityCount(stores)).toBe(before + 2);
  });
});

function counting<T>(sweep: Sweep<T>, count: (target: T) => void): Sweep<T> {
  return {
    ...sweep,
    *remove(targets, nowMs) {
      for (const target of targets) count(target);
      return yield* sweep.remove(targets, nowMs);
    },
  };
}
