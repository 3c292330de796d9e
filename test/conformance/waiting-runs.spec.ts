/**
 * Runs that wait as references are the runs that they become: every read, every count and the order of claims are the
 * same before and after their rows are made. contract §3.6 (States), §3.7 (List), §5.8 (Transaction).
 */
import * as fc from 'fast-check';
import {
  envelope,
  firstUuidv7,
  type NewWebhookRun,
  NOBODY_SERVED,
  timeBuckets,
  uuidv7TimeMs,
  webhookPrompt,
} from '#runs';
import { claimRuns } from '../../apps/server/store/runs/run-claims.ts';
import type { RunOrder } from '../../apps/server/store/runs/run-branches.ts';
import type { RunFilter } from '../../apps/server/store/runs/run-filters.ts';
import { RunLists, type RunListKey } from '../../apps/server/store/runs/run-lists.ts';
import { Outbox } from '../../apps/server/store/runs/outbox.ts';
import { FACTORY_OF_WAITING, materializeRuns, toWaitingRow } from '../../apps/server/store/runs/waiting-runs.ts';
import { StoreError } from '../../apps/server/store/database/store-errors.ts';
import { RUN, type RunRow, WAITING_RUN } from '../../apps/server/store/runs/run.entities.ts';
import { insertInto } from '../../apps/server/store/database/table.ts';
import { StatisticsStore } from '../../apps/server/store/reports/statistics.ts';
import { TrafficStore } from '../../apps/server/store/factories/traffic.ts';
import { snapshotSweep } from '../../apps/server/store/retention/run-sweeps.ts';
import { deliverySweep } from '../../apps/server/store/retention/delivery-sweeps.ts';
import { count, meddle, onEachBackend, select, type Stores } from './backends.ts';
import { idAt, seedEntries, sweepAll } from './sweep-runs.ts';
import { arrivalAt, newId, runOf, seedServed, startedBy, unique, type Served, type StartOptions } from './seeds.ts';

const DAY_MS = 86_400_000;

await onEachBackend('runs that wait as references', (world) => {
  let stores: Stores;
  beforeAll(() => {
    stores = world.stores;
  });

  /** Accepts a delivery that starts these. */
  async function deliver(served: Served, wish: Omit<StartOptions, 'entryId'> = {}): Promise<NewWebhookRun[]> {
    const entryId = newId();
    const receivedAtMs = wish.receivedAtMs ?? Date.now();
    const deliveryId = wish.deliveryId ?? unique('d');
    const runs = startedBy(served, { ...wish, entryId, receivedAtMs, deliveryId });
    const arrival = await arrivalAt(stores, served, { entryId, receivedAtMs, runs });
    const acceptance = await stores.deliveries.acceptOnce({ ...arrival, deliveryId });
    expect(acceptance.kind).toBe('accepted');
    return runs;
  }

  const waiting = () => count(stores, 'waiting_run');
  const rowsOfRun = (runId: string) => count(stores, 'run WHERE run_id = ?', runId);
  const materialize = (runs: readonly NewWebhookRun[]) =>
    stores.database.run(() => materializeRuns(runs.map(({ runId }) => runId)));

  it('are stored without a row of their own, and read like one', async () => {
    const served = await seedServed(stores);
    const receivedAtMs = Date.UTC(2031, 4, 1, 12, 30, 15, 7);
    const deliveryId = 'a "quoted"\n\u2028id';
    const [run] = await deliver(served, { receivedAtMs, deliveryId, webhookName: 'Orders "live"' });
    const runId = run?.runId ?? '';
    expect(await rowsOfRun(runId)).toBe(0);
    const found = (await stores.runs.find(runId)) as RunRow;
    expect(found).toMatchObject({
      state: 'QUEUED',
      source: 'CUSTOM_WEBHOOK',
      delivery_id: deliveryId,
      entry_id: run?.entryId,
      webhook_uid: served.webhookUid,
      factory_uid: served.factoryUid,
      automation_uid: served.automationUid,
      created_at: uuidv7TimeMs(runId),
      updated_at: uuidv7TimeMs(runId),
      epoch: 0,
    });
    const facts = { webhookName: 'Orders "live"', webhookUid: served.webhookUid, deliveryId, receivedAt: receivedAtMs };
    expect(found.prompt).toBe(webhookPrompt('look', envelope(facts)));
    await materialize([run as NewWebhookRun]);
    expect(await rowsOfRun(runId)).toBe(1);
    expect(await stores.runs.find(runId)).toEqual(found);
  });

  it('have every column of a run in both views, in one order', async () => {
    for (const view of ['waiting_run_row', 'every_run']) {
      await deliver(await seedServed(stores));
      const [found] = await select<Record<string, unknown>>(stores, `SELECT * FROM ${view} LIMIT 1`);
      expect(Object.keys(found ?? {})).toEqual(RUN.columns);
    }
  });

  it('store a snapshot once, whoever needs it again', async () => {
    const served = await seedServed(stores);
    const snapshots = () => count(stores, 'run_snapshot WHERE factory_uid = ?', served.factoryUid);
    await deliver(served);
    await deliver(served);
    expect(await snapshots()).toBe(1);
    await deliver(served, { revision: 'r2' });
    expect(await snapshots()).toBe(2);
    stores = await world.another();
    await deliver(served);
    expect(await snapshots()).toBe(2);
  });

  describe('read the same before and after', () => {
    it('in every list, on every page', async () => {
      const [one, two] = [await seedServed(stores), await seedServed(stores)];
      const automations = [
        { uid: one.automationUid, definition: { prompt: 'Look at THIS.', agent: { model: 'm1' } } },
        { uid: unique('auto_'), definition: { prompt: 'b', agent: { environmentId: 'e1', model: 'm2' } } },
        { uid: unique('auto_'), definition: { prompt: '100_%', agent: { skill: 's2' } } },
      ];
      const runs: NewWebhookRun[] = [];
      for (let at = 0; at < 12; at += 1) {
        const served = at % 3 === 0 ? two : one;
        runs.push(...(await deliver(served, { automations: automations.slice(at % 3), deliveryId: `d-${at}` })));
        if (at % 4 === 0) await stores.runs.create(runOf(served, { title: 'B', source: 'API' }));
        if (at === 5) await materialize(runs.slice(3, 7));
        if (at === 8) await stores.runs.cancel(runs[1]?.runId ?? '');
      }
      const asked = fc.sample(filters(runs, [one, two]), { numRuns: 60, seed: 11 });
      const lists = new RunLists(stores.database, { branches: 3, few: 4, candidates: 7, statements: 1 });
      const before = [];
      for (const wish of asked) before.push(await readAll(lists, wish));
      expect(before.flat().length).toBeGreaterThan(100);
      await materialize(runs);
      for (const [at, wish] of asked.entries()) expect([wish, await readAll(lists, wish)]).toEqual([wish, before[at]]);
    });

    it('as the root of what was started by one, as far as it may be seen', async () => {
      const [served, other] = [await seedServed(stores), await seedServed(stores)];
      const [parent] = await deliver(served);
      const [child, below] = [runOf(other, { parentRunId: parent?.runId }), runOf(other)];
      await stores.runs.create(child);
      await stores.runs.create({ ...below, parentRunId: child.runId });
      const roots = async (factoryUids?: string[]) => {
        const found = await stores.runs.roots([child.runId, below.runId], factoryUids);
        return [found.get(child.runId), found.get(below.runId)];
      };
      const read = async () => [
        await roots(),
        await roots([served.factoryUid, other.factoryUid]),
        await roots([other.factoryUid]),
      ];
      const before = await read();
      const top = parent?.runId;
      expect(before).toEqual([
        [top, top],
        [top, top],
        [child.runId, child.runId],
      ]);
      await materialize([parent as NewWebhookRun]);
      expect(await read()).toEqual(before);
    });

    it('in statistics, traffic, last fired and waiting counts', async () => {
      const served = await seedServed(stores);
      const runs: NewWebhookRun[] = [];
      for (let at = 0; at < 5; at += 1) runs.push(...(await deliver(served)));
      // IDs run ahead of the clock where another suite made some of a later time.
      const now = runs[0]?.createdAtMs ?? 0;
      const own = { automationUid: served.automationUid, source: 'API', createdAtMs: now } as const;
      await stores.runs.create(runOf(served, own));
      const statistics = new StatisticsStore(stores.database);
      const traffic = new TrafficStore(stores.database);
      const buckets = timeBuckets(now - DAY_MS, now + 60_000, 24);
      const read = async () => {
        const wanted = { webhookUids: [served.webhookUid], automationUids: [served.automationUid] };
        return {
          ofFactory: await statistics.runs({ factoryUids: [served.factoryUid] }, buckets),
          ofWebhook: await statistics.runs({ factoryUids: undefined, webhookUid: served.webhookUid }, buckets),
          traffic: await traffic.since(served.factoryUid, now - DAY_MS, {
            ...wanted,
            environmentIds: [],
            skills: [],
            whole: true,
          }),
          recent: await stores.automations.recentRuns(served.factoryUid, [served.automationUid], now - DAY_MS),
          fired: await stores.automations.lastFired(served.factoryUid, [served.automationUid]),
          waiting: (await stores.runs.waiting()).get(served.factoryUid),
          history: await stores.histories.history(runs[2]?.runId ?? ''),
          spoken: await stores.histories.spoken(runs[2]?.runId ?? ''),
          conversation: await stores.histories.runsIn(runs[2]?.runId ?? '', [served.factoryUid], 5),
          status: await stores.runs.status(runs[2]?.runId ?? ''),
        };
      };
      const summed = (found: Awaited<ReturnType<typeof read>>) => ({
        ...found,
        ofFactory: tallied(found.ofFactory.counts),
        ofWebhook: tallied(found.ofWebhook.counts),
      });
      const before = summed(await read());
      expect(before).toMatchObject({ waiting: 6, ofFactory: { QUEUED: 6 }, ofWebhook: { QUEUED: 6 } });
      await materialize(runs.slice(1, 3));
      expect(summed(await read())).toEqual(before);
      await materialize(runs);
      expect(summed(await read())).toEqual(before);
    });
  });

  describe('are claimed like rows', () => {
    it('behind which a start reads none of the queue again that a claim has looked at', async () => {
      if (world.dialect === 'postgres') return; // the queue is an index there
      const served = await seedServed(stores);
      for (let at = 0; at < 5; at += 1) {
        await deliver(served);
        await stores.runs.claim('a', 60_000, 1, [newId()]);
      }
      const [last] = await deliver(served);
      const marker = "(SELECT marker FROM deferred WHERE name = 'waiting_queue')";
      expect(await count(stores, `waiting_run WHERE run_id >= ${marker}`)).toBeLessThanOrEqual(2);
      expect(await count(stores, `waiting_run WHERE run_id = ? AND run_id >= ${marker}`, last?.runId ?? '')).toBe(1);
      expect(await count(stores, `deferred WHERE name = 'waiting_queue' AND marker <> ''`)).toBe(1);
    });

    it('in the same fair order, oldest first, whichever wait as references', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ factory: fc.nat(2), automation: fc.nat(1), row: fc.boolean() }), {
            minLength: 1,
            maxLength: 14,
          }),
          fc.integer({ min: 1, max: 4 }),
          async (wishes, places) => {
            await empty();
            const factories = [await seedServed(stores), await seedServed(stores), await seedServed(stores)];
            const runs: NewWebhookRun[] = [];
            for (const { factory, automation } of wishes) {
              const served = factories[factory] as Served;
              const uid = automation === 0 ? served.automationUid : `${served.automationUid}x`;
              runs.push(...(await deliver(served, { automations: [{ uid }] })));
            }
            const order = await claimOrder(runs, places, () => materialize(runs));
            const mixed = await claimOrder(runs, places, () => materialize(runs.filter((_, at) => wishes[at]?.row)));
            expect(mixed).toEqual(order);
            expect(order).toHaveLength(runs.length);
          },
        ),
        { numRuns: 8, seed: 3 },
      );
    }, 120_000);

    it('oldest first over minutes and days, in whatever order they came', async () => {
      await empty();
      const served = await seedServed(stores);
      const other = `${served.automationUid}x`;
      const automations = [{ uid: served.automationUid }, { uid: other }];
      const runs: NewWebhookRun[] = [];
      for (let n = 0; n < 5; n += 1) runs.push(...(await deliver(served, { automations })));
      await meddle(stores, 'DELETE FROM waiting_run');
      const startMs = Date.now() - 2 * DAY_MS;
      const ages = [0, 1, 40_000, 65_535, 65_536, 65_537, 131_072, 3_600_000, DAY_MS, DAY_MS + 1];
      const runIds = ages.map((age) => firstUuidv7(startMs + age));
      for (const at of [7, 0, 9, 4, 2, 8, 5, 1, 6, 3])
        await stores.database.run(() =>
          insertInto(WAITING_RUN, [{ ...toWaitingRow(runs[at] as NewWebhookRun), run_id: runIds[at] as string }]),
        );
      const executionIds = runIds.map(() => newId());
      const { claimed } = await stores.database.run(() =>
        claimRuns({ owner: 'e', leaseMs: 60_000, executionIds, bounds: {} }, NOBODY_SERVED),
      );
      for (const [parity, uid] of [served.automationUid, other].entries()) {
        const found = claimed.filter(({ automationUid }) => automationUid === uid).map(({ runId }) => runId);
        expect(found).toEqual(runIds.filter((_, at) => at % 2 === parity));
      }
    });

    it('past one that lacks what it refers to, which waits until it is cancelled', async () => {
      await empty();
      const [damaged, forgotten, whole] = [
        await seedServed(stores),
        await seedServed(stores),
        await seedServed(stores),
      ];
      const [first] = await deliver(damaged);
      const [second] = await deliver(forgotten);
      const [last] = await deliver(whole);
      await meddle(stores, 'DELETE FROM delivery WHERE entry_id = ?', first?.entryId ?? '');
      await meddle(stores, 'DELETE FROM run_snapshot WHERE factory_uid = ?', forgotten.factoryUid);
      const executionIds = [newId(), newId(), newId()];
      const { claimed } = await stores.database.run(() =>
        claimRuns({ owner: 'e', leaseMs: 60_000, executionIds, bounds: {} }, NOBODY_SERVED),
      );
      expect(claimed.map(({ runId }) => runId)).toEqual([last?.runId]);
      expect(await waiting()).toBe(2);
      for (const run of [first, second]) expect(await stores.runs.cancel(run?.runId ?? '')).toBe('cancelled');
      expect([await waiting(), await count(stores, 'waiting_queue')]).toEqual([0, 0]);
    });

    it('with their configuration, and once', async () => {
      await empty();
      const served = await seedServed(stores);
      const [run] = await deliver(served, {
        automations: [{ uid: served.automationUid, definition: { limits: { minutes: 3 } } }],
      });
      const claims = await Promise.all([
        stores.runs.claim('a', 60_000, 1, [newId()]),
        (await world.another()).runs.claim('b', 60_000, 1, [newId()]),
      ]);
      expect(claims.flat()).toMatchObject([{ runId: run?.runId, epoch: 1, limits: '{"minutes":3}' }]);
      expect(await waiting()).toBe(0);
      expect(await count(stores, 'waiting_queue')).toBe(0);
    });

    /** Claims everything in this order, then puts everything back as it was. */
    async function claimOrder(
      runs: readonly NewWebhookRun[],
      places: number,
      prepare: () => Promise<unknown>,
    ): Promise<string[]> {
      const undone = Symbol('undone');
      const order: string[] = [];
      await prepare();
      await stores.database
        .run(function* () {
          order.splice(0);
          let served = NOBODY_SERVED;
          for (;;) {
            const executionIds = Array.from({ length: places }, () => newId());
            const taken = yield* claimRuns({ owner: 'e', leaseMs: 60_000, executionIds, bounds: {} }, served);
            served = taken.served;
            order.push(...taken.claimed.map(({ runId }) => runId));
            if (taken.claimed.length < places) throw undone;
          }
        })
        .catch(() => undefined);
      for (const { runId, entryId, snapshot, automationUid } of runs) {
        if ((await rowsOfRun(runId)) === 0) continue;
        await meddle(stores, 'DELETE FROM run WHERE run_id = ?', runId);
        const waitingRow = {
          run_id: runId,
          entry_id: entryId,
          snapshot: snapshot.digest,
          created_at: uuidv7TimeMs(runId),
          worker_host: '',
          factory_uid: snapshot.factoryUid,
          automation_uid: automationUid,
        };
        await stores.database.run(() => insertInto(WAITING_RUN, [waitingRow]));
      }
      return order;
    }
  });

  describe('get their row with the first change', () => {
    it('a cancel, which ends them', async () => {
      const [run] = await deliver(await seedServed(stores));
      const runId = run?.runId ?? '';
      expect(await stores.runs.cancel(runId)).toBe('cancelled');
      expect(await stores.runs.find(runId)).toMatchObject({ state: 'CANCELLED', entry_id: run?.entryId });
      expect(await stores.runs.cancel(runId)).toBe('repeated');
    });

    it('a follow-up, which joins the prompt', async () => {
      const [run] = await deliver(await seedServed(stores));
      const runId = run?.runId ?? '';
      const decision = await stores.runs.followup(
        { followupId: newId(), runId, principalUid: 'u', message: 'and this' },
        () => ({ ok: true, outcome: 'queued_prompt' }),
      );
      expect(decision).toMatchObject({ ok: true });
      const found = await stores.runs.find(runId);
      expect(found?.submitted_prompt).toBe(`${found?.prompt}\n\nand this`);
    });

    it('the deletion of their factory, which cancels all of them', async () => {
      const served = await seedServed(stores);
      const runs = [...(await deliver(served)), ...(await deliver(served))];
      await stores.factories.remove(served.factoryUid);
      for (const { runId } of runs)
        expect(await stores.runs.find(runId)).toMatchObject({
          state: 'CANCELLED',
          status_message: 'the factory was deleted',
        });
    });

    it('publishing to the queue of a distributed engine', async () => {
      await empty();
      const served = await seedServed(stores);
      const runs = [...(await deliver(served)), ...(await deliver(served)), ...(await deliver(served))];
      const outbox = new Outbox(stores.database);
      expect(await outbox.isAnyWaiting()).toBe(true);
      expect(await outbox.unpublished(2)).toEqual(runs.slice(0, 2).map(({ runId }) => ({ runId, epoch: 0 })));
      await outbox.markPublished(await outbox.unpublished(2));
      expect(await outbox.unpublished(2)).toEqual([{ runId: runs[2]?.runId, epoch: 0 }]);
    });

    it('the removal of log entries that they refer to, which keeps what they need', async () => {
      await empty();
      const served = await seedServed(stores);
      const old = Date.now() - 30 * DAY_MS;
      const entryId = newId(old);
      const runs = startedBy(served, { entryId, receivedAtMs: old, deliveryId: 'kept' });
      const arrival = await arrivalAt(stores, served, { entryId, receivedAtMs: old, runs });
      await stores.deliveries.acceptOnce({ ...arrival, deliveryId: 'kept' });
      // Its ID is of the day of its entry.
      const runId = newId(old + 1);
      await meddle(stores, 'UPDATE waiting_run SET run_id = ? WHERE run_id = ?', runId, runs[0]?.runId ?? '');
      await stores.database.run(() => deliverySweep().remove([entryId], Date.now()));
      expect(await rowsOfRun(runId)).toBe(1);
      expect(await count(stores, 'delivery WHERE entry_id = ?', entryId)).toBe(1);
    });
  });

  it('are counted by factory from themselves, not from each of its snapshots', async () => {
    if (world.dialect === 'postgres') return; // PostgreSQL chooses by the numbers of rows, which a test has few of
    const text =
      'SELECT automation_uid, state, count(*) FROM waiting_run_row ' +
      `WHERE ${FACTORY_OF_WAITING} = ? AND automation_uid IS NOT NULL AND run_id >= ? GROUP BY automation_uid, state`;
    const plan = await select<{ detail: string }>(stores, `EXPLAIN QUERY PLAN ${text}`, 'f', firstUuidv7(1));
    const tables = plan.flatMap(({ detail }) => /^(?:SCAN|SEARCH) (\w)\b/.exec(detail)?.[1] ?? []);
    expect(tables.slice(0, 2)).toEqual(['w', 's']);
  });

  it('keep their log entries, however much later their own IDs are', async () => {
    await empty();
    const served = await seedServed(stores);
    const old = Date.now() - 30 * DAY_MS;
    const entries = Array.from({ length: 60 }, (_, n) => ({
      entryId: idAt(old + n),
      outcome: 'accepted',
      receivedAtMs: old + n,
    }));
    await seedEntries(stores, served, entries);
    const [run] = await deliver(served);
    const entryId = entries[0]?.entryId ?? '';
    await meddle(stores, 'UPDATE waiting_run SET entry_id = ? WHERE run_id = ?', entryId, run?.runId ?? '');
    const left = () => count(stores, 'delivery WHERE webhook_uid = ?', served.webhookUid);
    await sweepAll(stores, deliverySweep());
    expect([await left(), await waiting()]).toEqual([51, 1]);
    const [claim] = await stores.runs.claim('a', 60_000, 1, [newId()]);
    expect(claim).toMatchObject({ runId: run?.runId, entryId });
    await sweepAll(stores, deliverySweep());
    expect(await left()).toBe(51);
  });

  it('leave their snapshot behind, which goes when neither they nor their factory need it', async () => {
    await empty();
    const served = await seedServed(stores);
    const left = async () =>
      (
        await select<{ revision: string }>(
          stores,
          'SELECT definition_revision AS revision FROM run_snapshot WHERE factory_uid = ? ORDER BY 1',
          served.factoryUid,
        )
      ).map(({ revision }) => revision);
    const [old] = await deliver(served, { revision: 'old' });
    await deliver(served, { revision: 'new' });
    await meddle(stores, "UPDATE factory SET revision_applied = 'new' WHERE uid = ?", served.factoryUid);
    await sweepAll(stores, snapshotSweep());
    expect(await left()).toEqual(['new', 'old']);
    await materialize([old as NewWebhookRun]);
    await empty();
    await sweepAll(stores, snapshotSweep());
    expect(await left()).toEqual(['new']);
    await stores.factories.remove(served.factoryUid);
    await sweepAll(stores, snapshotSweep());
    expect(await left()).toEqual([]);
    expect((await stores.runs.find(old?.runId ?? ''))?.prompt).toContain('look');
  });

  it('a run of a group has a row from the beginning: groups are decided by rows', async () => {
    const served = await seedServed(stores);
    const [run] = await deliver(served, {
      automations: [{ uid: served.automationUid, definition: { concurrency: { whenBusy: 'queue' } } }],
    });
    expect(await rowsOfRun(run?.runId ?? '')).toBe(1);
    expect(await stores.runs.find(run?.runId ?? '')).toMatchObject({
      concurrency_group: `automation:${served.automationUid}`,
      source: 'CUSTOM_WEBHOOK',
    });
  });

  it('nothing of a batch that failed is remembered: the next one stores its snapshot again', async () => {
    const served = await seedServed(stores);
    const [lost] = startedBy(served, { entryId: newId() });
    const arrival = await arrivalAt(stores, served, { runs: [lost as NewWebhookRun] });
    // An entry of this ID is there already: the commit fails behind the snapshot.
    const [before] = await deliver(served, { revision: 'other' });
    const failing = stores.deliveries.acceptOnce({ ...arrival, entryId: before?.entryId ?? '' });
    await expect(failing).rejects.toThrow(StoreError);
    const [run] = await deliver(served);
    expect(await stores.runs.find(run?.runId ?? '')).toMatchObject({ state: 'QUEUED' });
  });

  async function empty(): Promise<void> {
    await meddle(stores, "UPDATE run SET state = 'CANCELLED', lease_until = NULL WHERE finished_at IS NULL");
    await meddle(stores, 'DELETE FROM waiting_run');
  }
});

interface Asked {
  filter: RunFilter;
  order: RunOrder;
  limit: number;
}

function filters(runs: readonly NewWebhookRun[], [one, two]: readonly [Served, Served]): fc.Arbitrary<Asked> {
  const run = fc.constantFrom(...runs);
  const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(values, { nil: undefined, freq: 2 });
  const exact = fc.oneof(
    run.map(({ deliveryId }) => ({ delivery_id: deliveryId })),
    run.map(({ automationUid }) => ({ automation_uid: automationUid })),
    fc.constantFrom(one, two).map(({ webhookUid }) => ({ webhook_uid: webhookUid })),
    fc.constantFrom('m1', 'm2').map((model) => ({ model_id: model })),
    fc.constant({ environment_id: 'e1' }),
    fc.constant({ skill_spec: 's2' }),
  );
  const time = run.chain(({ createdAtMs }) => fc.integer({ min: -2, max: 2 }).map((more) => createdAtMs + more));
  return fc.record({
    filter: fc.record({
      factoryUids: fc.constantFrom([one.factoryUid, two.factoryUid], [one.factoryUid], [two.factoryUid]),
      states: maybe(fc.subarray(['QUEUED', 'CANCELLED', 'SUCCEEDED'] as const, { minLength: 1 })),
      sources: maybe(fc.subarray(['API', 'CUSTOM_WEBHOOK'], { minLength: 1 })),
      exact: maybe(exact),
      words: maybe(fc.constantFrom(['this'], ['100_%'], ['d-3"'], ['untrusted'], ['Z'], ['nowhere'])),
      createdAfterMs: maybe(time),
      createdBeforeMs: maybe(time),
      updatedAfterMs: maybe(time),
      withoutEnvironment: maybe(fc.boolean()),
    }),
    order: fc.record({
      by: fc.constantFrom('updated_at' as const, 'created_at' as const, 'title' as const),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
    }),
    limit: fc.integer({ min: 1, max: 5 }),
  });
}

/** All runs of a list with what they are, page by page. */
async function readAll(lists: RunLists, { filter, order, limit }: Asked): Promise<RunRow[]> {
  const seen: RunRow[] = [];
  let after: RunListKey | undefined;
  for (let page = 0; page === 0 || after !== undefined; page += 1) {
    const { runs, next } = await lists.page(filter, order, limit, after);
    seen.push(...runs);
    after = next;
    if (page > 400) throw new Error('the list has no end');
  }
  return seen;
}

function tallied(counts: readonly { state: string; runs: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { state, runs } of counts) sums[state] = (sums[state] ?? 0) + runs;
  return sums;
}
