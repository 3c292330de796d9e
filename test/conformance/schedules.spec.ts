/**
 * Schedules as rows: of all processes that see a tick one handles it, whatever happens to clock, factory and automation
 * meanwhile. contract §12.3 (schedule trigger).
 */
import type { Schedule, Tick, TickOutcome } from '../../apps/server/store/definitions/schedules.ts';
import { count, meddle, onEachBackend, type Stores } from './backends.ts';
import { apply, automationOf, newId, runOf, seedFactory, servingVersion, unique } from './seeds.ts';

const TICK_MS = 1_800_000_000_000;

await onEachBackend('schedules', (world) => {
  let stores: Stores;
  let factoryUid: string;
  let fence: number;
  let schedule: Schedule;
  beforeEach(async () => {
    stores = world.stores;
    ({ uid: factoryUid, fence } = await seedFactory(stores));
    const automation = automationOf(unique('auto_'), 'nightly', [], {
      triggers: [{ provider: 'schedule', name: 'n', cron: '@daily' }],
    });
    await apply(stores, factoryUid, fence, [automation]);
    schedule = {
      scheduleId: unique('sched_'),
      automationUid: automation.uid,
      factoryUid,
      name: 'n',
      cron: '@daily',
      handledUntilMs: TICK_MS - 60_000,
      missed: 0,
    };
    await stores.schedules.update([schedule], []);
  });

  const stored = async (): Promise<Schedule | undefined> => (await stores.schedules.of([schedule.automationUid]))[0];
  const run = (more: Parameters<typeof runOf>[1] = {}) =>
    runOf(
      { factoryUid },
      {
        source: 'SCHEDULED_AGENT',
        automationUid: schedule.automationUid,
        schedule: { id: schedule.scheduleId, name: 'n', cron: '@daily', atMs: TICK_MS },
        ...more,
      },
    );
  const tick = async (more: Partial<Tick> = {}): Promise<Tick> => ({
    schedule,
    atMs: TICK_MS,
    missed: 0,
    start: { run: run(), servingVersion: await servingVersion(stores, factoryUid) },
    ...more,
  });
  const handle = (one: Tick, by = stores): Promise<TickOutcome> => by.schedules.handle(one, TICK_MS);
  const runs = (): Promise<number> => count(stores, 'run WHERE schedule_id = ?', schedule.scheduleId);

  it('one of many processes fires a tick, and remembers what was missed before it', async () => {
    const other = await world.another();
    const ticks = await Promise.all(Array.from({ length: 12 }, () => tick({ missed: 3, lastMissedMs: TICK_MS - 5 })));
    const outcomes = await Promise.all(ticks.map((one, at) => handle(one, at % 2 === 0 ? stores : other)));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      ...Array.from({ length: 11 }, () => 'lost'),
      'started',
    ]);
    expect(await runs()).toBe(1);
    expect(await stored()).toMatchObject({
      handledUntilMs: TICK_MS,
      lastFiredMs: TICK_MS,
      missed: 3,
      lastMissedMs: TICK_MS - 5,
    });
  });

  it('a tick that comes too late is counted and starts nothing', async () => {
    expect(await handle(await tick({ start: undefined, missed: 2, lastMissedMs: TICK_MS }))).toEqual({
      kind: 'missed',
    });
    expect(await stored()).toMatchObject({
      handledUntilMs: TICK_MS,
      lastFiredMs: undefined,
      missed: 2,
      lastMissedMs: TICK_MS,
    });
    expect(await runs()).toBe(0);
  });

  it('a schedule that comes back, with a clock that was set back, fires no tick twice', async () => {
    expect((await handle(await tick())).kind).toBe('started');
    await stores.schedules.update([], [schedule.scheduleId]);
    expect(await stored()).toBeUndefined();
    await stores.schedules.update([schedule], []);
    expect((await handle(await tick())).kind).toBe('lost');
    expect(await runs()).toBe(1);
    expect(await stored()).toMatchObject({ handledUntilMs: TICK_MS });
  });

  it('adding it again changes nothing of it', async () => {
    await handle(await tick());
    await stores.schedules.update([{ ...schedule, handledUntilMs: 5 }], []);
    expect(await stored()).toMatchObject({ handledUntilMs: TICK_MS, lastFiredMs: TICK_MS });
  });

  it.each<{ why: string; happens: () => Promise<unknown> }>([
    { why: 'the factory was deleted', happens: () => stores.factories.remove(factoryUid) },
    {
      why: 'the automation was edited',
      happens: () => apply(stores, factoryUid, fence, [automationOf(schedule.automationUid, 'nightly', [])]),
    },
    {
      why: 'the automation was deleted',
      happens: () => apply(stores, factoryUid, fence, [], [{ kind: 'automation', uid: schedule.automationUid }]),
    },
    { why: 'the schedule was forgotten', happens: () => stores.schedules.update([], [schedule.scheduleId]) },
  ])('nothing is started once $why', async ({ happens }) => {
    const decided = await tick();
    await happens();
    expect(await handle(decided)).toEqual({ kind: 'lost' });
    expect(await runs()).toBe(0);
  });

  it('runs of a busy group are skipped or replaced, and the tick is handled either way', async () => {
    const group = unique('g');
    const open = runOf({ factoryUid }, { concurrencyGroup: group });
    await stores.runs.create(open);
    const servedAt = await servingVersion(stores, factoryUid);
    expect(
      await handle(
        await tick({ start: { run: run({ concurrencyGroup: group, whenBusy: 'skip' }), servingVersion: servedAt } }),
      ),
    ).toEqual({ kind: 'busy' });
    expect(await stored()).toMatchObject({ handledUntilMs: TICK_MS, lastFiredMs: undefined, missed: 0 });
    schedule = (await stored()) as Schedule;
    const next = run({
      concurrencyGroup: group,
      whenBusy: 'replace',
      schedule: { id: schedule.scheduleId, cron: '@daily', atMs: TICK_MS + 1 },
    });
    expect(
      await handle({ schedule, atMs: TICK_MS + 1, missed: 0, start: { run: next, servingVersion: servedAt } }),
    ).toEqual({ kind: 'started', replaced: [open.runId] });
    expect((await stores.runs.find(open.runId))?.state).toBe('CANCELLED');
    await stores.runs.cancel(next.runId);
  });

  it('are of enabled automations of live factories, suspended ones included', async () => {
    const listed = async () => (await stores.schedules.scheduled()).some(({ uid }) => uid === schedule.automationUid);
    expect(await listed()).toBe(true);
    expect((await stores.schedules.loadFacts(schedule.automationUid))?.automation.slug).toBe('nightly');
    await stores.factories.setSuspended(factoryUid, true);
    expect(await listed()).toBe(true);
    await meddle(stores, 'UPDATE automation SET enabled = 0 WHERE uid = ?', schedule.automationUid);
    expect([await listed(), await stores.schedules.loadFacts(schedule.automationUid)]).toEqual([false, undefined]);
    await meddle(stores, 'UPDATE automation SET enabled = 1 WHERE uid = ?', schedule.automationUid);
    await stores.factories.remove(factoryUid);
    expect([await listed(), await stores.schedules.loadFacts(schedule.automationUid)]).toEqual([false, undefined]);
  });

  it('of an automation without schedule triggers there are none', async () => {
    const { uid } = automationOf(unique('auto_'), 'plain', ['wh_1'], { prompt: 'write "provider":"schedule" into it' });
    await apply(stores, factoryUid, fence, [
      automationOf(uid, 'plain', ['wh_1'], { prompt: 'write "provider":"schedule" into it' }),
    ]);
    expect((await stores.schedules.scheduled()).map((one) => one.uid)).not.toContain(uid);
    expect(await stores.schedules.definitions([uid, newId()])).toMatchObject([{ uid, version: 1 }]);
  });
});
