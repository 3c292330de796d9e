/** What an operator's figures read of a database: live runs, conditions, size. contract §1.7 (Metrics). */
import { InstallationFigureStore } from '../../apps/server/store/reports/installation-figures.ts';
import { meddle, onEachBackend, type Stores } from './backends.ts';
import { arrivalAt, claimedRun, newId, runOf, seedServed, startedBy, unique } from './seeds.ts';

const HOUR_MS = 3_600_000;

await onEachBackend('figures of an installation', (world) => {
  let stores: Stores;
  let figures: InstallationFigureStore;
  beforeAll(() => {
    stores = world.stores;
    figures = new InstallationFigureStore(stores.database);
  });

  it('count live runs by state, and since when the oldest waits, whether it has a row of its own or not', async () => {
    expect(await figures.liveRuns()).toEqual({ byState: new Map([['QUEUED', 0]]) });
    const served = await seedServed(stores);
    const ended = await claimedRun(stores, runOf(served), true);
    await stores.runs.finish(ended, { state: 'SUCCEEDED', message: 'done' });
    await claimedRun(stores, runOf(served), true);
    expect((await figures.liveRuns()).byState).toEqual(
      new Map([
        ['QUEUED', 0],
        ['INPROGRESS', 1],
      ]),
    );
    const entryId = newId();
    const runs = startedBy(served, { entryId, receivedAtMs: Date.now(), deliveryId: unique('d') });
    await stores.deliveries.acceptOnce(await arrivalAt(stores, served, { entryId, runs }));
    const referring = await figures.liveRuns();
    expect(referring.byState.get('QUEUED')).toBe(1);
    expect(referring.oldestWaitMs).toBeGreaterThanOrEqual(0);
    expect(referring.oldestWaitMs).toBeLessThan(HOUR_MS);
    const old = runOf(served);
    await stores.runs.create(old);
    await meddle(stores, 'UPDATE run SET updated_at = ? WHERE run_id = ?', Date.now() - HOUR_MS, old.runId);
    const queued = await figures.liveRuns();
    expect(queued.byState.get('QUEUED')).toBe(2);
    expect(queued.oldestWaitMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(queued.oldestWaitMs).toBeLessThan(HOUR_MS + 60_000);
  });

  it('tell the conditions of factories as their last pass left them, not those of deleted ones', async () => {
    const served = await seedServed(stores);
    const gone = await seedServed(stores);
    const stored = { Ready: { status: 'False', reason: 'r', message: 'm', sinceMs: 1 } };
    await meddle(
      stores,
      'UPDATE factory SET conditions = ?, suspended = 1 WHERE uid = ?',
      JSON.stringify(stored),
      served.factoryUid,
    );
    await meddle(stores, 'UPDATE factory SET deleted_at = 1 WHERE uid = ?', gone.factoryUid);
    const slug = (await stores.factories.find(served.factoryUid))?.slug;
    const found = await figures.conditions();
    expect(found).toContainEqual({ slug, suspended: true, conditions: { Ready: 'False' } });
    const slugs = found.map((each) => each.slug);
    expect(slugs).toEqual([...slugs].sort());
    expect(slugs).toHaveLength(2);
  });

  it('know what the database takes', async () => {
    expect(await figures.sizeBytes()).toBeGreaterThan(100_000);
  });
});
