/** Traffic behind a plan: counted in a window, by what it went through, along indexes. contract §12.1 (Plan). */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '#runs';
import type { Database } from '../../apps/server/store/database/database.ts';
import { runSteps, type Statement, type Transaction } from '../../apps/server/store/database/transactions.ts';
import { TrafficStore, type TrafficQuery } from '../../apps/server/store/factories/traffic.ts';
import { select, meddle, onEachBackend } from './backends.ts';
import { arrivalAt, runOf, seedServed, type Served } from './seeds.ts';
import { seedEntries } from './sweep-runs.ts';

const DAY_MS = 86_400_000;
const idAt = (ms: number): string => uuidv7(ms, randomBytes(10));
const NOTHING: TrafficQuery = { webhookUids: [], automationUids: [], environmentIds: [], skills: [], whole: false };

await onEachBackend('traffic', (world) => {
  const nowMs = Date.now();
  let served: Served;
  let other: Served;
  const since = (wish: Partial<TrafficQuery>, factoryUid = served.factoryUid) =>
    new TrafficStore(world.stores.database).since(factoryUid, nowMs - 7 * DAY_MS, { ...NOTHING, ...wish });

  beforeAll(async () => {
    const { stores } = world;
    [served, other] = [await seedServed(stores), await seedServed(stores)];
    const received = [
      [0, 'rejectedInvalidJson'],
      [6, 'accepted'],
      [8, 'accepted'],
      [1, 'accepted'],
    ] as const;
    await seedEntries(
      stores,
      served,
      received.map(([daysAgo, outcome]) => ({
        entryId: idAt(nowMs - daysAgo * DAY_MS),
        outcome,
        receivedAtMs: nowMs - daysAgo * DAY_MS,
      })),
    );
    await stores.deliveries.acceptOnce(await arrivalAt(stores, other));
    const made = async (atMs: number, state: string, more = {}): Promise<void> => {
      const run = runOf(served, { runId: idAt(atMs), automationUid: served.automationUid, createdAtMs: atMs, ...more });
      await stores.runs.create(run);
      await meddle(stores, 'UPDATE run SET state = ?, updated_at = ? WHERE run_id = ?', state, atMs + 1, run.runId);
    };
    await made(nowMs - 3 * DAY_MS, 'SUCCEEDED', { environmentId: 'box', skillSpec: 'review' });
    await made(nowMs - 2 * DAY_MS, 'FAILED', { environmentId: 'box' });
    await made(nowMs - 1 * DAY_MS, 'ERROR', { environmentId: 'env_uid', automationUid: 'auto_other' });
    await made(nowMs - 9 * DAY_MS, 'SUCCEEDED', { environmentId: 'box', skillSpec: 'review' });
    await made(nowMs - 1000, 'INPROGRESS', { environmentId: 'box', skillSpec: 'review' });
    await made(nowMs - 500, 'SUCCEEDED', {
      factoryUid: other.factoryUid,
      webhookUid: other.webhookUid,
      automationUid: other.automationUid,
      environmentId: 'box',
      skillSpec: 'review',
    });
  });

  it('counts deliveries by webhook and outcome, within the days', async () => {
    const { deliveriesOfWebhook } = await since({ webhookUids: [served.webhookUid, 'wh_of_nobody'] });
    expect([...deliveriesOfWebhook]).toEqual([[served.webhookUid, { deliveries: 3, accepted: 2, lastMs: nowMs }]]);
  });

  it('counts runs, open and ended, by what they went through, and failures', async () => {
    const traffic = await since({
      webhookUids: [served.webhookUid],
      automationUids: [served.automationUid, 'auto_other', 'auto_none'],
      environmentIds: ['box', 'env_uid'],
      skills: ['review'],
    });
    expect(traffic.runsOfAutomation.get('auto_other')).toEqual({ runs: 1, failed: 1, lastMs: nowMs - 1 * DAY_MS });
    expect(traffic.runsOfAutomation.has('auto_none')).toBe(false);
    expect(traffic.runsOfEnvironment).toEqual(
      new Map([
        ['box', { runs: 3, failed: 1, lastMs: nowMs - 1000 }],
        ['env_uid', { runs: 1, failed: 1, lastMs: nowMs - 1 * DAY_MS }],
      ]),
    );
    // not those of another factory
    expect(traffic.runsOfSkill).toEqual(new Map([['review', { runs: 2, failed: 0, lastMs: nowMs - 1000 }]]));
    expect(traffic.runsOfWebhook.get(served.webhookUid)).toMatchObject({ failed: 2 });
    expect(traffic.runsOfFactory).toBeUndefined();
    const all = await select<{ run_id: string }>(
      world.stores,
      'SELECT run_id FROM run WHERE factory_uid = ?',
      served.factoryUid,
    );
    const n = all.filter(({ run_id: runId }) => runId >= idAt(nowMs - 7 * DAY_MS)).length;
    expect((await since({ whole: true })).runsOfFactory).toMatchObject({ runs: n, failed: 2 });
  });

  it('of thousands of automations is one look', async () => {
    const { runsOfAutomation } = await since({
      automationUids: [served.automationUid, ...Array.from({ length: 3_000 }, (_, at) => `auto_${at}`)],
    });
    expect([...runsOfAutomation.keys()]).toEqual([served.automationUid]);
  });

  it('reads nothing but indexes for what can be many', async () => {
    if (world.dialect === 'postgres') return; // PostgreSQL chooses by the numbers of rows, which a test has few of
    const asked: Statement[] = [];
    const listening = {
      dialect: 'sqlite',
      longRead: (body: () => Transaction<unknown>) =>
        runSteps(body(), (statement) => Promise.resolve((asked.push(statement), { rows: [], changes: 0 }))),
    };
    await new TrafficStore(listening as unknown as Database).since(served.factoryUid, 0, {
      webhookUids: ['a', 'b'],
      automationUids: ['a', 'b'],
      environmentIds: ['a'],
      skills: ['a'],
      whole: true,
    });
    const plans: string[] = [];
    for (const statement of asked)
      if (statement.kind === 'query')
        plans.push(
          ...(
            await select<{ detail: string }>(world.stores, `EXPLAIN QUERY PLAN ${statement.text}`, ...statement.params)
          ).map(({ detail }) => detail),
        );
    const reads = plans.filter((line) => /^(SEARCH|SCAN)/.test(line));
    // Runs that wait as references are read in the order of their time, each with its snapshot.
    const [open, ...others] = reads.filter(
      (line) => !/^SEARCH (w USING PRIMARY KEY|s USING INDEX|d USING COVERING INDEX)/.test(line),
    );
    expect(open).toBe('SCAN run USING INDEX run_open');
    expect(others.length).toBeGreaterThanOrEqual(6);
    // SQLite calls no index covering that holds a computed column, and yet reads what is in it from there.
    for (const read of others)
      expect(read).toMatch(/^SEARCH (run USING INDEX run_settled_|delivery_log USING PRIMARY KEY)/);
    for (const column of ['webhook_uid', 'automation_uid', 'environment_id', 'skill_spec', 'factory_state'])
      expect(others.join(' ')).toContain(`run_settled_${column}`);
  });
});
