/**
 * skip and replace in the transaction that accepts a delivery: exact under concurrent acceptance, told in the log of
 * delivery and run. contract §8.3 (concurrency).
 */
import type { DeliveryOutcome, Accepted } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import type { NewRun } from '../../apps/server/store/runs/new-run.ts';
import type { RunRow } from '../../apps/server/store/runs/run.entities.ts';
import { count, onEachBackend, type Stores } from './backends.ts';
import { arrival, begin, claimRun, newId, runOf, seedServed, servingVersion, unique, type Served } from './seeds.ts';

const REPLACED = 'replaced by a newer run of its group';

await onEachBackend('groups', (world) => {
  let stores: Stores;
  let group: string;
  beforeEach(() => {
    stores = world.stores;
    group = unique('g');
  });

  interface Sent {
    runIds: string[];
    entryId: string;
    acceptance: Promise<DeliveryOutcome>;
  }

  /** Delivers, one automation of its own for each wish. */
  function send(served: Served, version: number, wishes: readonly Partial<NewRun>[], by = stores): Sent {
    const entryId = newId();
    const runs = wishes.map((more) =>
      runOf(served, { entryId, automationUid: unique('auto_'), concurrencyGroup: group, ...more }),
    );
    const made = arrival(served, { version, entryId, runs });
    const decision = JSON.stringify({
      started: runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId })),
      skipped: [{ automation_id: 'auto_off', reason: 'disabled' }],
    });
    const acceptance = by.deliveries.acceptOnce({
      ...made,
      verdict: { ...made.verdict, decision } as typeof made.verdict,
    });
    return { runIds: runs.map(({ runId }) => runId), entryId, acceptance };
  }
  const accepted = async (sent: Sent): Promise<Accepted> => {
    const acceptance = await sent.acceptance;
    expect(acceptance.kind).toBe('accepted');
    return acceptance as Accepted;
  };
  const decisionOf = async ({
    entryId,
  }: Sent): Promise<{ started: { run_id: string }[]; skipped: { reason: string }[] }> =>
    JSON.parse((await stores.deliveries.find(entryId))?.decision ?? '{}') as never;
  const found = async (runId: string | undefined): Promise<RunRow | undefined> => stores.runs.find(runId ?? '');
  const world1 = async () => {
    const served = await seedServed(stores);
    return { served, version: await servingVersion(stores, served.factoryUid) };
  };

  it('skip starts one of many deliveries at once, over two processes and webhooks; the others say why', async () => {
    const other = await world.another();
    const [one, two] = [await world1(), await world1()];
    const sent = Array.from({ length: 24 }, (_, turn) => {
      const { served, version } = turn % 3 === 0 ? one : two;
      return send(served, version, [{ whenBusy: 'skip' }], turn % 2 === 0 ? stores : other);
    });
    const acceptances = await Promise.all(sent.map(accepted));
    const started = sent.filter((_, at) => acceptances[at]?.busy === undefined);
    expect(started).toHaveLength(1);
    expect(await count(stores, 'run WHERE concurrency_group = ?', group)).toBe(1);
    for (const [at, one] of sent.entries()) {
      const { started: runs, skipped } = await decisionOf(one);
      expect(acceptances[at]?.busy ?? []).toEqual(runs.length === 1 ? [] : one.runIds);
      expect(skipped.map(({ reason }) => reason)).toEqual(runs.length === 1 ? ['disabled'] : ['disabled', 'busy']);
    }
    // Live it is as busy as waiting; ended it is free.
    const [runId = ''] = started[0]?.runIds ?? [];
    const claim = await claimRun(stores, runId);
    expect((await accepted(send(one.served, one.version, [{ whenBusy: 'skip' }]))).busy).toHaveLength(1);
    await stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'done' });
    expect(await accepted(send(one.served, one.version, [{ whenBusy: 'skip' }]))).toEqual({ kind: 'accepted' });
  });

  it('skip gives way only to its own group, and what only waits is not looked at', async () => {
    const { served, version } = await world1();
    const sent = send(served, version, [
      {},
      { whenBusy: 'queue' },
      { whenBusy: 'skip', concurrencyGroup: unique('g') },
      { whenBusy: 'skip', concurrencyGroup: undefined },
      { whenBusy: 'skip' },
    ]);
    expect((await accepted(sent)).busy).toEqual([sent.runIds[4]]);
    expect((await decisionOf(sent)).started.map(({ run_id: runId }) => runId)).toEqual(sent.runIds.slice(0, 4));
    expect(await count(stores, 'run WHERE entry_id = ?', sent.entryId)).toBe(4);
  });

  it('replace cancels what waits at once and asks what is live, whose end then says so', async () => {
    const { served, version } = await world1();
    const first = send(served, version, [{ whenBusy: 'replace' }]);
    await accepted(first);
    const claim = await claimRun(stores, first.runIds[0] ?? '');
    await begin(stores, claim);
    const second = send(served, version, [{ whenBusy: 'queue' }]);
    await accepted(second);
    const third = send(served, version, [{ whenBusy: 'replace' }]);
    expect((await accepted(third)).replaced?.toSorted()).toEqual([...first.runIds, ...second.runIds].toSorted());
    expect(await found(second.runIds[0])).toMatchObject({
      state: 'CANCELLED',
      status_message: REPLACED,
      finished_at: expect.any(Number),
    });
    expect(await found(first.runIds[0])).toMatchObject({
      state: 'INPROGRESS',
      cancel_requested_at: expect.any(Number),
    });
    expect(await stores.runs.events(second.runIds[0] ?? '', 0, 10)).toMatchObject([
      {
        seq: 1,
        kind: 'status',
        executionId: undefined,
        body: JSON.stringify({ state: 'CANCELLED', message: REPLACED }),
      },
    ]);
    expect((await stores.runs.events(first.runIds[0] ?? '', 0, 10)).at(-1)).toMatchObject({
      kind: 'status',
      executionId: claim.executionId,
      body: expect.stringContaining(REPLACED),
    });
    expect(await stores.runs.renew(claim, 60_000)).toEqual({ cancelRequested: true });
    // It waits until the live one is gone.
    expect(await found(third.runIds[0])).toMatchObject({ state: 'QUEUED' });
    expect(
      (await stores.runs.claim('e', 60_000, 5, [newId()])).filter(({ runId }) => runId === third.runIds[0]),
    ).toEqual([]);
    await stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'done' });
    expect(await found(first.runIds[0])).toMatchObject({ state: 'CANCELLED', status_message: REPLACED });
    await claimRun(stores, third.runIds[0] ?? '');
  });

  it('replace leaves the last of many at once over two processes', async () => {
    const other = await world.another();
    const one = await world1();
    const sent = Array.from({ length: 20 }, (_, turn) =>
      send(one.served, one.version, [{ whenBusy: 'replace' }], turn % 2 === 0 ? stores : other),
    );
    const acceptances = await Promise.all(sent.map(accepted));
    expect(await count(stores, "run WHERE concurrency_group = ? AND state = 'CANCELLED'", group)).toBe(19);
    expect(await count(stores, "run WHERE concurrency_group = ? AND state = 'QUEUED'", group)).toBe(1);
    expect(new Set(acceptances.flatMap(({ replaced = [] }) => replaced)).size).toBe(19);
    expect(
      await count(
        stores,
        "run_event WHERE kind = 'status' AND run_id IN (SELECT run_id FROM run WHERE concurrency_group = ?)",
        group,
      ),
    ).toBe(19);
  });

  it('replace leaves a run alone that is being cancelled already, and its own words', async () => {
    const { served, version } = await world1();
    const first = send(served, version, [{}]);
    await accepted(first);
    const claim = await claimRun(stores, first.runIds[0] ?? '');
    await stores.runs.cancel(claim.runId);
    expect(await accepted(send(served, version, [{ whenBusy: 'replace' }]))).toEqual({ kind: 'accepted' });
    await stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'done' });
    expect(await found(claim.runId)).toMatchObject({ state: 'CANCELLED', status_message: 'cancelled on request' });
  });

  it('a duplicate replaces and skips nothing', async () => {
    const { served, version } = await world1();
    const runs = () => [
      runOf(served, {
        entryId: newId(),
        automationUid: served.automationUid,
        concurrencyGroup: group,
        whenBusy: 'replace' as const,
      }),
    ];
    const identity = unique('id');
    expect(await stores.deliveries.acceptOnce(arrival(served, { version, identity, runs: runs() }))).toEqual({
      kind: 'accepted',
    });
    expect(await stores.deliveries.acceptOnce(arrival(served, { version, identity, runs: runs() }))).toEqual({
      kind: 'duplicate',
    });
    expect(await count(stores, "run WHERE concurrency_group = ? AND state = 'QUEUED'", group)).toBe(1);
  });
});
