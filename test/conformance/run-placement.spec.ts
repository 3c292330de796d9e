/**
 * Where a run may be worked on, on every database: exact, and at a price that does not grow with what waits elsewhere.
 */
import { randomBytes } from 'node:crypto';
import { NOBODY_SERVED, uuidv7 } from '#runs';
import type { NewRun } from '../../apps/server/store/runs/new-run.ts';
import { claimRuns } from '../../apps/server/store/runs/run-claims.ts';
import type { Placement } from '../../apps/server/store/runs/run-placement.ts';
import type { Transaction } from '../../apps/server/store/database/transactions.ts';
import { select, meddle, onEachBackend, storesOf, type Stores } from './backends.ts';
import { arrival, newId, runOf, seedServed, servingVersion, startedBy, unique } from './seeds.ts';

await onEachBackend('placement', (world) => {
  let stores: Stores;
  beforeEach(async () => {
    stores = storesOf(world.stores.database);
    await meddle(
      stores,
      "UPDATE run SET state = 'CANCELLED', lease_owner = NULL, lease_until = NULL " +
        "WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')",
    );
    await meddle(stores, 'DELETE FROM replica');
  });

  const wait = async (...wishes: Partial<NewRun>[]): Promise<string[]> => {
    const made = wishes.map((wish) => runOf({}, wish));
    for (const run of made) await stores.runs.create(run);
    return made.map(({ runId }) => runId);
  };
  const claimed = async (count: number, placement?: Placement): Promise<string[]> =>
    (
      await stores.runs.claim(
        'engine',
        60_000,
        count,
        Array.from({ length: count }, () => newId()),
        {},
        placement,
      )
    ).map(({ runId }) => runId);

  it('keeps the order of age and of turns between what asks for a machine and what does not', async () => {
    const [a, b] = [unique('fac_a'), unique('fac_b')];
    const runIds = (await wait(
      { factoryUid: a, workerHost: 'here' },
      { factoryUid: a },
      { factoryUid: b, workerHost: 'here' },
      { factoryUid: a, workerHost: 'there' },
      { factoryUid: a, workerHost: 'here' },
    )) as [string, string, string, string, string];
    expect(await claimed(10, { environments: [] })).toEqual([runIds[1]]);
    expect(await claimed(10, { host: 'here', environments: [] })).toEqual([runIds[2], runIds[0], runIds[4]]);
    expect(await claimed(10, { host: 'there', environments: [] })).toEqual([runIds[3]]);
  });

  it('merges the names of many factories and automations that wait in both parts, each exactly once', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `fac_${String(index).padStart(3, '0')}${unique('')}`);
    const runIds = await wait(
      ...names.map((factoryUid, index) => ({
        factoryUid,
        automationUid: unique('auto_'),
        ...(index % 3 === 0 ? { workerHost: 'here' } : {}),
      })),
      ...names.filter((_, index) => index % 5 === 0).map((factoryUid) => ({ factoryUid, workerHost: 'here' })),
    );
    expect((await claimed(100, { host: 'here', environments: [] })).toSorted()).toEqual(runIds.toSorted());
  });

  it('costs nothing for what waits for other machines', async () => {
    const series =
      world.dialect === 'sqlite'
        ? 'WITH RECURSIVE series (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM series WHERE i < 20000)'
        : 'WITH series AS (SELECT generate_series(1, 20000) AS i)';
    await meddle(
      stores,
      `INSERT INTO run (run_id, title, state, prompt, source, creator_uid, agent_config, metadata, factory_uid,
        automation_uid, worker_host, epoch, takeovers, created_at, updated_at)
      ${series} SELECT 'there-' || (100000 + i), 't', 'QUEUED', 'p', 'API', 'u', '{}', '{}', 'fac_busy', 'auto_busy',
      'there', 0, 0, 1, 1 FROM series`,
    );
    const [mine, free] = (await wait(
      { factoryUid: 'fac_busy', automationUid: 'auto_busy', workerHost: 'here' },
      { factoryUid: 'fac_busy', automationUid: 'auto_busy' },
    )) as [string, string];
    let rowsSeen = 0;
    const texts: { text: string; params: readonly unknown[] }[] = [];
    function* recorded<T>(work: Transaction<T>): Transaction<T> {
      let step = work.next();
      while (!step.done) {
        if (step.value.kind === 'query' && step.value.text.startsWith('SELECT') && step.value.text.includes("'QUEUED'"))
          texts.push(step.value);
        const outcome = yield step.value;
        rowsSeen += outcome.rows.length;
        step = work.next(outcome);
      }
      return step.value;
    }
    const { claimed: found } = await stores.database.run(() =>
      recorded(
        claimRuns(
          {
            owner: 'e',
            leaseMs: 60_000,
            executionIds: [newId(), newId(), newId()],
            bounds: {},
            placement: { host: 'here', environments: [] },
          },
          NOBODY_SERVED,
        ),
      ),
    );
    expect(found.map(({ runId }) => runId)).toEqual([mine, free]);
    expect(rowsSeen).toBeLessThan(50);
    if (world.dialect === 'sqlite') {
      for (const { text, params } of texts) {
        const plan = (
          await select<{ detail: string }>(
            stores,
            `EXPLAIN QUERY PLAN ${text.replace(/ FOR UPDATE.*$/, '')}`,
            ...(params as string[]),
          )
        )
          .map(({ detail }) => detail)
          .join('\n');
        expect(plan).not.toMatch(/SCAN run/);
      }
    }
    await meddle(stores, "DELETE FROM run WHERE run_id LIKE 'there-%'");
  }, 120_000);

  it('says of runs that wait long for a machine on which nobody works, until somebody does', async () => {
    const [absent, present, young] = (await wait(
      { workerHost: 'absent' },
      { workerHost: 'present' },
      { workerHost: 'absent' },
    )) as [string, string, string];
    await meddle(stores, 'UPDATE run SET updated_at = 1 WHERE run_id IN (?, ?)', absent, present);
    await meddle(stores, 'UPDATE run SET updated_at = updated_at + 1000000 WHERE run_id = ?', young);
    const me = { version: 'v', roles: ['api', 'worker'] };
    await stores.replicas.join({ ...me, owner: 'p', host: 'present' });
    await stores.replicas.join({ ...me, owner: 'q', host: 'absent', roles: ['api'] });
    const said = async (runId: string): Promise<string | null> =>
      (await stores.runs.find(runId))?.status_message ?? null;
    await stores.runs.markUnplaced();
    expect(await said(absent)).toContain('waits for the machine absent');
    expect([await said(present), await said(young)]).toEqual([null, null]);
    await stores.replicas.join({ ...me, owner: 'r', host: 'absent' });
    await stores.runs.markUnplaced();
    expect(await said(absent)).toBeNull();
    await meddle(stores, 'DELETE FROM replica');
    await stores.runs.markUnplaced();
    expect(await said(absent)).toContain('waits for');
    expect(await claimed(1, { host: 'absent', environments: [] })).toEqual([absent]);
    expect(await said(absent)).toBeNull();
  });

  it('says of runs that wait long that no worker lives at all, and takes it back when one does', async () => {
    const [anywhere, bound, young] = (await wait({}, { workerHost: 'absent' }, {})) as [string, string, string];
    await meddle(stores, 'UPDATE run SET updated_at = 1 WHERE run_id IN (?, ?)', anywhere, bound);
    await meddle(stores, 'UPDATE run SET updated_at = updated_at + 1000000 WHERE run_id = ?', young);
    const said = async (runId: string): Promise<string | null> =>
      (await stores.runs.find(runId))?.status_message ?? null;
    await stores.replicas.join({ owner: 'a', version: 'v', roles: ['api', 'sync'], host: 'elsewhere' });
    for (const worker of ['first', 'second']) {
      await stores.runs.markUnplaced();
      expect(await said(anywhere)).toContain('waits for a worker: no process that works on runs is running now');
      expect(await said(bound)).toContain('waits for the machine absent');
      expect(await said(young)).toBeNull();
      await stores.replicas.join({ owner: worker, version: 'v', roles: ['worker'], host: 'elsewhere' });
      await stores.runs.markUnplaced();
      await stores.runs.markUnplaced(); // this time it knows that there is nothing to take back
      expect([await said(anywhere), await said(young)]).toEqual([null, null]);
      await stores.replicas.retire(worker); // lives, and takes nothing more
    }
  });

  it('takes back what another process has told', async () => {
    const [runId] = (await wait({})) as [string];
    await meddle(stores, 'UPDATE run SET updated_at = 1 WHERE run_id = ?', runId);
    await stores.runs.markUnplaced();
    await stores.replicas.join({ owner: 'w', version: 'v', roles: ['worker'], host: 'elsewhere' });
    await storesOf(stores.database).runs.markUnplaced();
    expect((await stores.runs.find(runId))?.status_message ?? null).toBeNull();
  });

  /** Runs of a delivery, which wait since long as references to their snapshots, for a machine each. */
  async function referring(...hosts: (string | undefined)[]): Promise<string[]> {
    const served = await seedServed(stores);
    const entryId = newId();
    const automations = hosts.map((_, at) => ({ uid: `auto_${served.factoryUid}_${at}` }));
    const runs = startedBy(served, { entryId, automations }).map((run, at) => ({
      ...run,
      runId: uuidv7(Date.now() - 60_000, randomBytes(10)),
      createdAtMs: Date.now() - 60_000,
      snapshot: { ...run.snapshot, workerHost: hosts[at], digest: randomBytes(16) },
    }));
    const version = await servingVersion(stores, served.factoryUid);
    await stores.deliveries.acceptOnce(arrival(served, { version, entryId, runs }));
    return runs.map(({ runId }) => runId);
  }

  const messagesOf = async (runIds: readonly string[]): Promise<(string | null)[]> =>
    Promise.all(runIds.map(async (runId) => (await stores.runs.find(runId))?.status_message ?? null));

  it('says it of runs that wait as references, for more machines than are handled at once', async () => {
    await stores.replicas.join({ owner: 'w', version: 'v', roles: ['worker'], host: 'present' });
    const hosts = Array.from({ length: 120 }, (_, at) => `absent-${at}`);
    const [anywhere, present, ...absent] = await referring(undefined, 'present', ...hosts);
    await stores.runs.markUnplaced();
    await stores.runs.markUnplaced();
    expect(await messagesOf(absent)).toEqual(hosts.map((host) => expect.stringContaining(`the machine ${host},`)));
    expect(await messagesOf([anywhere as string, present as string])).toEqual([null, null]);
  });

  it('looks at no references where none of their machines lacks a worker', async () => {
    await stores.replicas.join({ owner: 'w', version: 'v', roles: ['worker'], host: 'present' });
    const [row] = (await wait({ workerHost: 'absent' })) as [string];
    await meddle(stores, 'UPDATE run SET updated_at = 1 WHERE run_id = ?', row);
    const waiting = await referring(undefined, 'present');
    await meddle(stores, "DELETE FROM run_snapshot WHERE worker_host LIKE 'absent-%'"); // of tests before
    await stores.runs.markUnplaced();
    expect(await messagesOf([row, ...waiting])).toEqual([expect.stringContaining('the machine absent'), null, null]);
    if (world.dialect === 'sqlite')
      expect(await select(stores, `SELECT run_id FROM waiting_queue WHERE run_id = '${waiting[0]}'`)).toEqual([]);
  });
});
