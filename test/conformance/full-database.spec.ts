/**
 * A database whose disk is full: the log is read without copies that need room, and what makes room goes on. contract
 * §5.9 (Log).
 */
import { RETAINED_ENTRIES_MIN, type OutcomeKind } from '#deliveries';
import type { DeliveryFilter } from '../../apps/server/store/deliveries/deliveries.ts';
import { TrafficStore } from '../../apps/server/store/factories/traffic.ts';
import { ExplanationStore } from '../../apps/server/store/reports/explanations.ts';
import { type DeliveryScope, StatisticsStore } from '../../apps/server/store/reports/statistics.ts';
import { deliverySweep } from '../../apps/server/store/retention/delivery-sweeps.ts';
import { onEachBackend, select, type Stores } from './backends.ts';
import { seedServed, type Served } from './seeds.ts';
import { DAY_MS, idAt, seedEntries, sweepAll, type SeededEntry } from './sweep-runs.ts';

const NOW_MS = Date.now();
const [OLD, YOUNG] = [80, 3_000];

await onEachBackend('a database without room', (world) => {
  let stores: Stores;
  let served: Served;
  let other: Served;
  let entries: SeededEntry[];

  async function seeded(count: number, ageDays: number, outcomes: readonly OutcomeKind[]): Promise<SeededEntry[]> {
    const made = Array.from({ length: count }, (_, n) => {
      const receivedAtMs = NOW_MS - ageDays * DAY_MS - (count - n) * 1_000;
      return { entryId: idAt(receivedAtMs), outcome: outcomes[n % outcomes.length] as string, receivedAtMs };
    });
    await seedEntries(stores, served, made);
    return made;
  }

  const pagesMax = (pages: number) => select(stores, `PRAGMA max_page_count = ${pages}`);

  beforeEach(async () => {
    stores = world.stores;
    [served, other] = [await seedServed(stores), await seedServed(stores)];
    entries = await seeded(OLD, 30, ['accepted']);
    await stores.deliveries.list(served.webhookUid, 1); // copies these
    entries.push(...(await seeded(YOUNG, 1, ['rejectedAuth', 'rejectedTooLarge'])));
    if (world.dialect === 'postgres') return; // its log is an index, which copies nothing
    const [found] = await select<{ page_count: number }>(stores, 'PRAGMA page_count');
    await pagesMax(found?.page_count ?? 0);
  });
  afterEach(async () => {
    if (world.dialect === 'sqlite') await pagesMax(1_000_000_000);
  });

  const listed = async (limit: number, before?: string, filter?: DeliveryFilter): Promise<string[]> =>
    (await stores.deliveries.list(served.webhookUid, limit, before, filter)).map(({ entry_id: id }) => id);

  it('lists the log as before, each entry once', async () => {
    const read = async () => [
      await listed(OLD + YOUNG + 1),
      await listed(7),
      await listed(20, entries.at(-5)?.entryId, { outcomes: ['accepted', 'rejectedTooLarge'] }),
      await listed(9, undefined, { untilMs: NOW_MS - 2 * DAY_MS }),
      await listed(9, entries[OLD + 3]?.entryId),
    ];
    const full = await read();
    expect(full[0]).toEqual(entries.map(({ entryId }) => entryId).toReversed());
    expect(full.map(({ length }) => length)).toEqual([OLD + YOUNG, 7, 20, 9, 9]);
    if (world.dialect === 'sqlite') await pagesMax(1_000_000_000);
    expect(await read()).toEqual(full);
  });

  it('counts, explains and shows the newest as before', async () => {
    const { webhookUid, factoryUid } = served;
    const uids = [webhookUid, other.webhookUid];
    const traffic = new TrafficStore(stores.database);
    const statistics = new StatisticsStore(stores.database);
    const wanted = { webhookUids: uids, automationUids: [], environmentIds: [], skills: [], whole: false };
    const buckets = { fromMs: NOW_MS - 40 * DAY_MS, lengthMs: DAY_MS, count: 41 };
    const sorted = async (scope: DeliveryScope) =>
      (await statistics.deliveries(scope, buckets)).counts
        .map(({ bucket, outcome, deliveries }) => `${bucket} ${outcome} ${deliveries}`)
        .sort();
    const read = async () => ({
      last: await stores.webhooks.lastDeliveries(uids),
      newest: await stores.deliveries.newestAccepted(uids, 3),
      traffic: (await traffic.since(factoryUid, NOW_MS - 7 * DAY_MS, wanted)).deliveriesOfWebhook,
      ofAll: await sorted({ factoryUids: undefined }),
      ofOne: await sorted({ factoryUids: [factoryUid], webhookUid }),
      original: await new ExplanationStore(stores.database).original(webhookUid, 'd', entries.at(-1)?.entryId ?? ''),
    });
    const full = await read();
    expect(full.last).toEqual(new Map([[webhookUid, entries.at(-1)?.receivedAtMs]]));
    expect(full.newest.map(({ entryId }) => entryId)).toEqual(
      entries
        .slice(OLD - 3, OLD)
        .map(({ entryId }) => entryId)
        .toReversed(),
    );
    expect(full.traffic.get(webhookUid)).toMatchObject({ deliveries: YOUNG, accepted: 0 });
    expect(full.ofAll.length).toBeGreaterThan(2);
    if (world.dialect === 'sqlite') await pagesMax(1_000_000_000);
    expect(await read()).toEqual(full);
  });

  it('lets old entries go', async () => {
    const old = entries.slice(0, OLD - RETAINED_ENTRIES_MIN).map(({ entryId }) => entryId);
    await sweepAll(stores, deliverySweep());
    expect(await listed(OLD + YOUNG)).toEqual(
      entries
        .map(({ entryId }) => entryId)
        .filter((id) => !old.includes(id))
        .toReversed(),
    );
  });
});
