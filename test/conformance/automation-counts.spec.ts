/**
 * Runs that automations started lately, on every database: by state, within the days, along indexes, up to a bound.
 * contract §4.1 (automations).
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '#runs';
import { RECENT_RUNS_MAX, recentRunsOf } from '../../apps/server/store/definitions/automations.ts';
import { runSteps, type Statement } from '../../apps/server/store/database/transactions.ts';
import { select, meddle, onEachBackend } from './backends.ts';
import { runOf, seedServed, unique, type Served } from './seeds.ts';

const DAY_MS = 86_400_000;
const idAt = (ms: number): string => uuidv7(ms, randomBytes(10));

await onEachBackend('automation counts', (world) => {
  const nowMs = Date.now();
  const sinceMs = nowMs - 7 * DAY_MS;
  let served: Served;
  let busy: string;

  const made = async (automationUid: string, atMs: number, state: string): Promise<void> => {
    const run = runOf(served, { runId: idAt(atMs), automationUid, createdAtMs: atMs });
    await world.stores.runs.create(run);
    await meddle(world.stores, 'UPDATE run SET state = ?, updated_at = ? WHERE run_id = ?', state, atMs + 1, run.runId);
  };

  beforeAll(async () => {
    served = await seedServed(world.stores);
    busy = unique('auto_');
    await made(busy, nowMs - 1 * DAY_MS, 'SUCCEEDED');
    await made(busy, nowMs - 2 * DAY_MS, 'SUCCEEDED');
    await made(busy, nowMs - 3 * DAY_MS, 'FAILED');
    await made(busy, nowMs - 8 * DAY_MS, 'FAILED');
    await made(busy, nowMs - 8 * DAY_MS, 'INPROGRESS');
    await made(busy, nowMs - 1000, 'INPROGRESS');
    await made(busy, nowMs - 500, 'QUEUED');
    await made(unique('auto_'), nowMs - 500, 'QUEUED');
    const other = await seedServed(world.stores);
    await world.stores.runs.create(runOf(other, { runId: idAt(nowMs), automationUid: other.automationUid }));
  });

  it('are counted by state, open and ended, within the days; automations without any are absent', async () => {
    const counted = await world.stores.automations.recentRuns(served.factoryUid, [busy, 'auto_none'], sinceMs);
    expect([...counted]).toEqual([[busy, { total: 5, states: { INPROGRESS: 1, QUEUED: 1, SUCCEEDED: 2, FAILED: 1 } }]]);
    expect(await world.stores.automations.recentRuns(served.factoryUid, [], sinceMs)).toEqual(new Map());
    expect(await world.stores.automations.recentRuns('fac_other', ['auto_none'], sinceMs)).toEqual(new Map());
  });

  it('are counted up to a bound, which the sum of the states keeps', async () => {
    const counts = [
      { uid: 'a', counts: 'FAILED 3000,SUCCEEDED 7000' },
      { uid: 'a', counts: 'QUEUED 6000' },
      { uid: 'b', counts: null },
      { uid: 'a', counts: 'CLAIMED 1' },
    ];
    const counted = await runSteps(recentRunsOf('f', ['a', 'b'], 0, 'sqlite'), () =>
      Promise.resolve({ rows: counts, changes: 0 }),
    );
    expect(counted.has('b')).toBe(false);
    expect(counted.get('a')).toEqual({
      total: RECENT_RUNS_MAX,
      states: { QUEUED: 6_000, CLAIMED: 1, FAILED: 3_000, SUCCEEDED: 999 },
    });
  });

  it('reads nothing but the index of ended runs for what can be many, and no more of it than is counted', async () => {
    if (world.dialect === 'postgres') return; // PostgreSQL chooses by the numbers of rows, which a test has few of
    const asked: Statement[] = [];
    await runSteps(recentRunsOf(served.factoryUid, [busy], 0, 'sqlite'), (statement) =>
      Promise.resolve((asked.push(statement), { rows: [], changes: 0 })),
    );
    const reads: string[] = [];
    for (const statement of asked)
      if (statement.kind === 'query')
        reads.push(
          ...(
            await select<{ detail: string }>(world.stores, `EXPLAIN QUERY PLAN ${statement.text}`, ...statement.params)
          ).map(({ detail }) => detail),
        );
    expect(reads.filter((line) => /^(SEARCH|SCAN) run/.test(line))).toEqual([
      'SCAN run USING INDEX run_open',
      expect.stringMatching(
        /^SEARCH run USING (COVERING )?INDEX run_settled_automation_uid \(automation_uid=\? AND settled_at>\?\)$/,
      ),
    ]);
    // Sorted for the groups and their order only: which runs are the newest ones is the order of the index.
    expect(reads.join('\n')).not.toMatch(/LAST TERM|LAST 2 TERMS/);
  });
});
