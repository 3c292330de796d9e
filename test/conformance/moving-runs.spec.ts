/**
 * Counts of runs while these move: from a reference to a row, from open to ended and back. Each is counted once,
 * whichever statement of a read it moves behind. contract §1.7 (Metrics), §4.1 (automations), §12.1 (Plan).
 */
import { uuidv7TimeMs } from '#runs';
import { AutomationStore } from '../../apps/server/store/definitions/automations.ts';
import type { Database } from '../../apps/server/store/database/database.ts';
import {
  type Outcome,
  runSteps,
  type Statement,
  type Transaction,
} from '../../apps/server/store/database/transactions.ts';
import { TrafficStore } from '../../apps/server/store/factories/traffic.ts';
import { InstallationFigureStore } from '../../apps/server/store/reports/installation-figures.ts';
import { RunStore } from '../../apps/server/store/runs/runs.ts';
import { materializeRuns } from '../../apps/server/store/runs/waiting-runs.ts';
import { meddle, onEachBackend, type Stores } from './backends.ts';
import { arrivalAt, newId, seedServed, startedBy, unique, type Served } from './seeds.ts';

const DAY_MS = 86_400_000;

await onEachBackend('runs that move while they are counted', (world) => {
  let stores: Stores;
  let served: Served;
  let runId: string;

  beforeEach(async () => {
    stores = world.stores;
    await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE settled_at IS NULL");
    served = await seedServed(stores);
    const [entryId, deliveryId] = [newId(), unique('d')];
    const runs = startedBy(served, { entryId, receivedAtMs: Date.now(), deliveryId });
    await stores.deliveries.acceptOnce({ ...(await arrivalAt(stores, served, { entryId, runs })), deliveryId });
    runId = runs[0]?.runId ?? '';
  });

  const materialize = () => stores.database.run(() => materializeRuns([runId]));
  /** Not before it was created: IDs of one process only grow, and suites before may have made some of later times. */
  const enter = (state: string) =>
    meddle(
      stores,
      'UPDATE run SET state = ?, updated_at = ? WHERE run_id = ?',
      state,
      Math.max(Date.now(), uuidv7TimeMs(runId)),
      runId,
    );

  /** The database, in which something happens behind each of the first statements of a long read. */
  function movingBehind(moves: (() => Promise<unknown>)[]): Database {
    const execute = async (statement: Statement) => {
      const outcome = await stores.database.longRead(function* (): Transaction<Outcome> {
        return yield statement;
      });
      await moves.shift()?.();
      return outcome;
    };
    return {
      ...stores.database,
      longRead: (body: () => Transaction<unknown>) => runSteps(body(), execute),
    } as Database;
  }

  const waiting: [string, () => Promise<unknown>] = ['waits as a reference', async () => undefined];
  const queued: [string, () => Promise<unknown>] = ['is queued', materialize];
  const ended: [string, () => Promise<unknown>] = ['has ended', () => materialize().then(() => enter('SUCCEEDED'))];

  /** What a run is first, and what becomes of it behind one statement after the other. */
  const HISTORIES: [string, { first: () => Promise<unknown>; moves: () => (() => Promise<unknown>)[] }][] = [
    [`${waiting[0]} and gets its row`, { first: waiting[1], moves: () => [materialize] }],
    [`${waiting[0]}, gets its row and ends`, { first: waiting[1], moves: () => [materialize, () => enter('FAILED')] }],
    [`${queued[0]} and ends`, { first: queued[1], moves: () => [() => enter('FAILED')] }],
    [`${queued[0]} and ends later`, { first: queued[1], moves: () => [async () => 0, () => enter('FAILED')] }],
    [`${ended[0]} and goes on`, { first: ended[1], moves: () => [() => enter('QUEUED')] }],
    [`${ended[0]} and goes on later`, { first: ended[1], moves: () => [async () => 0, () => enter('QUEUED')] }],
  ];

  describe.each(HISTORIES)('one that %s', (_name, { first, moves }) => {
    it('is once among the recent ones of its automation', async () => {
      await first();
      const automations = [served.automationUid, 'auto_none'];
      const counting = new AutomationStore(movingBehind(moves()));
      const recent = await counting.recentRuns(served.factoryUid, automations, Date.now() - DAY_MS);
      expect([...recent].map(([uid, { total }]) => [uid, total])).toEqual([[served.automationUid, 1]]);
    });

    it('is what its automation last fired', async () => {
      await first();
      const fired = await new AutomationStore(movingBehind(moves())).lastFired(served.factoryUid, [
        served.automationUid,
        'auto_none',
      ]);
      expect([...fired.keys()]).toEqual([served.automationUid]);
    });

    it('is once in the traffic of everything', async () => {
      await first();
      const traffic = await new TrafficStore(movingBehind(moves())).since(served.factoryUid, Date.now() - DAY_MS, {
        webhookUids: [served.webhookUid],
        automationUids: [served.automationUid],
        environmentIds: ['none'],
        skills: ['none'],
        whole: true,
      });
      expect(traffic.runsOfWebhook.get(served.webhookUid)?.runs).toBe(1);
      expect(traffic.runsOfAutomation.get(served.automationUid)?.runs).toBe(1);
      expect(traffic.runsOfFactory?.runs).toBe(1);
    });
  });

  describe.each(HISTORIES.filter(([name]) => !name.startsWith(ended[0])))('one that %s', (_name, { first, moves }) => {
    it('is once in the queue of its factory', async () => {
      await first();
      expect((await new RunStore(movingBehind(moves())).waiting()).get(served.factoryUid)).toBe(1);
    });

    it('is once among the live ones of the installation', async () => {
      await first();
      const live = await new InstallationFigureStore(stores.database).liveRuns();
      const figures = await new InstallationFigureStore(movingBehind(moves())).liveRuns();
      expect([figures.byState, figures.oldestWaitMs]).toEqual([live.byState, expect.any(Number)]);
    });
  });
});
