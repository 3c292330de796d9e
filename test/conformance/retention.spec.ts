/** Pruning of the delivery log on every database: at least 7 days, at least the latest 50 of each class, nothing that a run needs. spec: Delivery log retention; contract 5 (Log). */
import { RETAINED_ENTRIES_MIN } from '#deliveries';
import { count, look, meddle, onEachBackend, type Stores } from './backends.ts';
import { claimRun, newId, runOf, seedServed, type Served } from './seeds.ts';

const DAY_MS = 86_400_000;
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
    const ids: string[] = [];
    const values = Array.from({ length: howMany }, (_, n) => {
      const at = NOW_MS - ageDays * DAY_MS - (howMany - n) * 60_000;
      const hex = at.toString(16).padStart(12, '0');
      ids.push(`${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`);
      return [ids[n] as string, served.webhookUid, served.factoryUid, 'd', outcome, 1, 1, at, '192.0.2.1', 'r', 1, outcome === 'accepted' ? Buffer.from('{}') : null];
    });
    await stores.database.run(function* () {
      yield {
        kind: 'insert', table: 'delivery', rows: values, ignoreConflicts: false,
        columns: ['entry_id', 'webhook_uid', 'factory_uid', 'delivery_id', 'outcome', 'size', 'size_exact', 'received_at', 'client_address', 'revision', 'entries', 'payload'],
      };
    });
    return ids;
  }

  async function pruneAll(identityRetentionDays?: number): Promise<void> {
    const rounds = 2 + Math.ceil((await count(stores, 'webhook')) / 20) * 2;
    for (let step = 0; step < rounds; step += 1) await stores.deliveries.prune(NOW_MS, identityRetentionDays);
  }

  const left = async (): Promise<string[]> => (await look<{ entry_id: string }>(stores, 'SELECT entry_id FROM delivery WHERE webhook_uid = ? ORDER BY entry_id', served.webhookUid)).map(({ entry_id: id }) => id);

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
    expect(await count(stores, "delivery WHERE webhook_uid = ? AND outcome LIKE 'rejected%'", served.webhookUid)).toBe(RETAINED_ENTRIES_MIN);
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
    for (const { webhookUid } of [first, served]) expect(await count(stores, 'delivery WHERE webhook_uid = ?', webhookUid)).toBe(RETAINED_ENTRIES_MIN);
  });

  it('tells how many it removed', async () => {
    await pruneAll();
    await entries('accepted', 70, 30);
    let removed = 0;
    for (let step = 0; step < 10; step += 1) removed += await stores.deliveries.prune(NOW_MS);
    expect(removed).toBe(20);
  });

  it('keeps identities for ever by default, and as long as it is told otherwise', async () => {
    await stores.database.run(function* () {
      const rows = [1, 20, 40].map((days) => [served.webhookUid, Buffer.from(`${days}`), NOW_MS - days * DAY_MS]);
      yield { kind: 'insert', table: 'identity', columns: ['webhook_uid', 'hash', 'accepted_at'], rows, ignoreConflicts: false };
    });
    await pruneAll();
    expect(await count(stores, 'identity WHERE webhook_uid = ?', served.webhookUid)).toBe(3);
    await pruneAll(30);
    expect(await count(stores, 'identity WHERE webhook_uid = ?', served.webhookUid)).toBe(2);
  });
});
