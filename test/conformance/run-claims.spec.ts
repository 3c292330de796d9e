/**
 * Which run is next, on every database: fair order, exact bounds, one of a group at a time, and a price that does not
 * grow with what waits.
 */
import { NOBODY_SERVED, type LiveBounds } from '#runs';
import type { NewRun } from '../../apps/server/store/runs/new-run.ts';
import { claimRuns } from '../../apps/server/store/runs/run-claims.ts';
import type { ClaimedRun } from '../../apps/server/store/runs/runs.ts';
import type { Outcome, Statement, Transaction } from '../../apps/server/store/database/transactions.ts';
import { select, meddle, onEachBackend, storesOf, type Stores } from './backends.ts';
import { newId, runOf, unique } from './seeds.ts';

const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
const ids = (count: number): string[] => Array.from({ length: count }, () => newId());

await onEachBackend('claims', (world) => {
  let stores: Stores;
  beforeEach(async () => {
    stores = storesOf(world.stores.database); // whose turn it was is a process's own knowledge
    await meddle(
      stores,
      "UPDATE run SET state = 'CANCELLED', lease_owner = NULL, lease_until = NULL " +
        "WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')",
    );
  });

  const wait = async (...runs: Partial<NewRun>[]): Promise<string[]> => {
    const made = runs.map((more) =>
      runOf({}, { title: `${more.factoryUid ?? ''}${more.automationUid ?? ''}`, ...more }),
    );
    for (const run of made) await stores.runs.create(run);
    return made.map(({ runId }) => runId);
  };
  const times = (count: number, run: Partial<NewRun>): Partial<NewRun>[] => Array.from({ length: count }, () => run);
  const claim = (count: number, bounds: LiveBounds = {}, by = stores): Promise<ClaimedRun[]> =>
    by.runs.claim('engine', 60_000, count, ids(count), bounds);
  const who = (claims: readonly ClaimedRun[]): string =>
    claims.map(({ factoryUid = '-', automationUid = '-' }) => `${factoryUid}${automationUid}`).join(' ');

  it('go to the factory with the fewest live runs, then the automation with the fewest, then the oldest', async () => {
    const runs = await wait(
      ...times(4, { factoryUid: 'A', automationUid: 'x' }),
      { factoryUid: 'A', automationUid: 'y' },
      { factoryUid: 'A' },
      ...times(2, { factoryUid: 'B', automationUid: 'z' }),
      {},
    );
    const claims = await claim(20);
    expect(who(claims)).toBe('-- A- Bz Ax Bz Ay Ax Ax Ax');
    expect(claims.filter(({ automationUid }) => automationUid === 'x').map(({ runId }) => runId)).toEqual(
      runs.slice(0, 4),
    );
    expect(await claim(1)).toEqual([]);
  });

  it(
    'go round between equals from claim to claim: fifty waiting runs of one factory keep no other from the only ' +
      'place',
    async () => {
      await wait(
        ...times(50, { factoryUid: 'A', automationUid: 'x' }),
        { factoryUid: 'B', automationUid: 'x' },
        { factoryUid: 'B', automationUid: 'y' },
        { factoryUid: 'C', automationUid: 'x' },
      );
      const order: string[] = [];
      for (let turn = 0; turn < 7; turn += 1) {
        const [one] = await claim(1);
        order.push(who([one as ClaimedRun]));
        await stores.runs.finish(one as ClaimedRun, { state: 'SUCCEEDED', message: 'done' });
      }
      expect(order.join(' ')).toBe('Ax Bx Cx Ax By Ax Ax');
    },
  );

  it('keep both bounds exactly, whatever other processes claim meanwhile', async () => {
    const other = await world.another();
    const [factory, small] = [unique('fac_'), unique('fac_')];
    await wait(
      ...times(12, { factoryUid: factory, automationUid: 'a' }),
      ...times(12, { factoryUid: factory, automationUid: 'b' }),
      ...times(3, { factoryUid: small, automationUid: 'c' }),
      ...times(4, {}),
    );
    const bounds = { perFactory: 5, perAutomation: 3 };
    const claims = (
      await Promise.all(Array.from({ length: 12 }, (_, turn) => claim(3, bounds, turn % 2 === 0 ? stores : other)))
    ).flat();
    const counted = (of: (run: ClaimedRun) => boolean) => claims.filter(of).length;
    expect(new Set(claims.map(({ runId }) => runId)).size).toBe(claims.length);
    expect([
      counted(({ factoryUid }) => factoryUid === factory),
      counted(({ factoryUid }) => factoryUid === small),
      counted(({ factoryUid }) => factoryUid === undefined),
    ]).toEqual([5, 3, 4]);
    expect(['a', 'b'].map((uid) => counted(({ automationUid }) => automationUid === uid)).toSorted()).toEqual([2, 3]);
    // A place that comes free is given to the same factory again.
    const ended = claims.find(({ factoryUid }) => factoryUid === factory) as ClaimedRun;
    await stores.runs.finish(ended, { state: 'FAILED', message: 'no' });
    expect(await claim(5, bounds)).toMatchObject([{ factoryUid: factory }]);
  });

  it('leave a place of the process that asks to others, whatever runs elsewhere', async () => {
    const [factory, small] = [unique('fac_'), unique('fac_')];
    await wait(...times(9, { factoryUid: factory, automationUid: 'a' }));
    const by = (owner: string, count: number): Promise<ClaimedRun[]> =>
      stores.runs.claim(owner, 60_000, count, ids(count), { perFactoryHere: 3 });
    expect(await by('one', 4)).toHaveLength(3);
    expect(await by('one', 1)).toEqual([]);
    expect(await by('two', 4)).toHaveLength(3);
    await wait({ factoryUid: small, automationUid: 'b' }, {});
    expect((await by('one', 4)).map(({ factoryUid }) => factoryUid).toSorted()).toEqual([small, undefined]);
  });

  it('count no run that waits for people, which has given its place back', async () => {
    const factory = unique('fac_');
    await wait(...times(3, { factoryUid: factory, automationUid: 'a' }));
    const bounds = { perFactory: 1, perAutomation: 1, perFactoryHere: 1 };
    const [asking] = (await claim(1, bounds)) as [ClaimedRun];
    await stores.runs.prepare(asking);
    await stores.runs.begin(asking);
    expect(await claim(1, bounds)).toEqual([]);
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }];
    expect(await stores.permissions.ask(asking, ids(1)[0] as string, { title: 'a tool', options })).toBe(true);
    expect(await claim(3, bounds)).toHaveLength(1);
  });

  it('take one of a group at a time over all processes, and pass over it to what stands behind it', async () => {
    const other = await world.another();
    const grouped = { factoryUid: 'A', automationUid: 'x', concurrencyGroup: unique('g') };
    const [first, second, free, third] = await wait(
      grouped,
      grouped,
      { factoryUid: 'A', automationUid: 'x' },
      { ...grouped, factoryUid: 'B' },
    );
    const claims = (await Promise.all([claim(4), claim(4, {}, other), claim(4), claim(4, {}, other)])).flat();
    expect(claims.map(({ runId }) => runId).toSorted()).toEqual([first, free].toSorted());
    const running = claims.find(({ runId }) => runId === first) as ClaimedRun;
    await stores.runs.prepare(running);
    await stores.runs.begin(running);
    expect(await claim(4)).toEqual([]);
    await stores.runs.finish(running, { state: 'SUCCEEDED', message: 'done' });
    const [next, ...more] = await claim(4);
    expect([second, third]).toContain(next?.runId);
    expect(more).toEqual([]);
    // A run that lost its execution is of the queue again, and its group is free.
    await stores.runs.reclaim(next?.runId ?? '', next?.epoch ?? 0, 'requeue');
    expect(await claim(4)).toHaveLength(1);
    expect(
      await select(
        stores,
        `SELECT concurrency_group FROM run WHERE state IN ${LIVE} AND concurrency_group = ?`,
        grouped.concurrencyGroup,
      ),
    ).toHaveLength(1);
  });

  it('look at a few places of the index, not at what waits', async () => {
    // 20,000 runs of 400 automations in 40 factories; a quarter of the automations wait for groups that are busy.
    const uid = (prefix: string, number: string) => `'${prefix}' || ${number}`;
    const series =
      world.dialect === 'sqlite'
        ? 'WITH RECURSIVE series (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM series WHERE i < 20000)'
        : 'WITH series AS (SELECT generate_series(1, 20000) AS i)';
    await meddle(
      stores,
      `INSERT INTO run (run_id, title, state, prompt, source, creator_uid, agent_config, metadata, factory_uid,
        automation_uid, concurrency_group, epoch, takeovers, created_at, updated_at)
      ${series} SELECT ${uid('many-', '(100000 + i)')}, 't', 'QUEUED', 'p', 'API', 'u', '{}', '{}',
      ${uid('fac_', '(1000 + i % 40)')}, ${uid('auto_', '(1000 + i % 400)')}, CASE WHEN i % 4 = 0
      THEN ${uid('g', '(i % 400)')} END, 0, 0, 1, 1 FROM series`,
    );
    const statements: string[] = [];
    const counting = <T>(work: Transaction<T>): Transaction<T> =>
      watched(work, (statement) => void (statement.kind === 'query' && statements.push(statement.text)));
    const { claimed } = await stores.database.run(() =>
      counting(claimRuns({ owner: 'e', leaseMs: 60_000, executionIds: ids(8), bounds: {} }, NOBODY_SERVED)),
    );
    expect(new Set(claimed.map(({ factoryUid }) => factoryUid)).size).toBe(8);
    // Per run: a page of factories, a page of automations, the run, the oldest reference, its update.
    expect(statements.length).toBeLessThanOrEqual(8 * 5 + 2);
    expect((await stores.runs.waiting()).get('fac_1000')).toBeGreaterThan(400);
    for (const text of new Set(
      statements.filter((one) => one.includes("state = 'QUEUED'") && !one.startsWith('UPDATE')),
    ))
      expect(await plan(text)).not.toMatch(/SCAN run(?! USING)|Seq Scan on run/);
    await meddle(stores, "UPDATE run SET state = 'CANCELLED', lease_until = NULL WHERE run_id LIKE 'many-%'");
  }, 120_000);

  /** How the database goes about a statement. */
  async function plan(text: string): Promise<string> {
    const params = (text.match(/\?/g) ?? []).map(() => 'fac_1001');
    const shown =
      world.dialect === 'sqlite' ? `EXPLAIN QUERY PLAN ${text.replace(/ FOR UPDATE.*$/, '')}` : `EXPLAIN ${text}`;
    if (world.dialect === 'postgres') await meddle(stores, 'ANALYZE run');
    return (await select<Record<string, string>>(stores, shown, ...params))
      .map((line) => line['detail'] ?? line['QUERY PLAN'])
      .join('\n');
  }
});

/** Lets every step of a body be seen. */
function* watched<T>(work: Transaction<T>, see: (statement: Statement) => void): Transaction<T> {
  let step = work.next();
  while (!step.done) {
    see(step.value);
    const outcome: Outcome = yield step.value;
    step = work.next(outcome);
  }
  return step.value;
}
