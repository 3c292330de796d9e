/**
 * What a look at the schedules does, with clock and store under control: postponed ticks, faults, what is asked of the
 * store. contract §12.3 (schedule trigger).
 */
import { describe, expect, it } from '@jest/globals';
import type { AutomationDefinition } from '#definitions';
import type { Log } from '../process/log.ts';
import { StoreError } from '../store/database/store-errors.ts';
import type { ScheduledAgent } from '../store/definitions/scheduled-agent-rows.ts';
import type { ScheduledAgentStore, ScheduledAgentTick } from '../store/definitions/scheduled-agents.ts';
import type { Schedule, ScheduleStore, Tick, TickOutcome } from '../store/definitions/schedules.ts';
import type { RunAgents } from '../execution/preparation/run-agents.ts';
import type { QueueCounts } from '../runs/run-admission.ts';
import type { DiskWatch } from '../process/disk-watch.ts';
import type { RunNotifier } from '../runs/run-notifier.ts';
import { ScheduleService } from './schedules.service.ts';

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2031, 2, 4, 12);

function world(crons: readonly string[] = ['0 * * * *']) {
  const it = {
    nowMs: NOON_MS - 30_000,
    full: false,
    diskLow: false,
    crons,
    version: 1,
    woken: 0,
    asked: 0,
    stored: new Map<string, Schedule>(),
    handled: [] as Tick[],
    agent: undefined as ScheduledAgent | undefined,
    /** Happens between two reads of the schedule. */
    between: undefined as (() => void) | undefined,
    agentTicks: [] as ScheduledAgentTick[],
    lines: [] as string[],
    outcome: (): TickOutcome => ({ kind: 'started', replaced: [] }),
  };
  const definition = (): AutomationDefinition => ({
    name: 'a',
    path: '',
    enabled: true,
    prompt: 'Sweep.',
    agent: {},
    limits: { minutes: 3 },
    triggers: it.crons.map((cron) => ({ provider: 'schedule', cron })),
  });
  const store = {
    scheduled: async () => [{ uid: 'auto_1', factoryUid: 'fac_1', version: it.version }],
    definitions: async (uids: readonly string[]) => {
      it.asked += uids.length;
      return uids.map((uid) => ({ uid, version: it.version, definition: definition() }));
    },
    all: async () => [...it.stored.values()],
    update: async (added: readonly Schedule[], removed: readonly string[]) => {
      for (const one of added) it.stored.set(one.scheduleId, one);
      for (const id of removed) it.stored.delete(id);
    },
    loadFacts: async () => ({
      factory: { uid: 'fac_1', slug: 'shop', revision: 'r', serviceAccountUid: 'svc_1' },
      servingVersion: 9,
      automation: { uid: 'auto_1', slug: 'a', name: 'A', definition: definition() },
    }),
    handle: async (tick: Tick) => {
      it.handled.push(tick);
      const outcome = it.outcome();
      if (outcome.kind !== 'lost')
        it.stored.set(tick.schedule.scheduleId, { ...tick.schedule, handledUntilMs: tick.atMs });
      return outcome;
    },
  };
  const scheduledAgents = {
    enabled: async () => (it.agent?.isEnabled === true ? [it.agent] : []),
    loadFacts: async () => {
      it.between?.();
      return it.agent && { agent: it.agent };
    },
    handle: async (tick: ScheduledAgentTick) => {
      it.agentTicks.push(tick);
      if (it.agent?.version !== tick.schedule.version) return { kind: 'lost' };
      it.agent = { ...it.agent, handledUntilMs: tick.atMs };
      return { kind: tick.start === undefined ? 'missed' : 'started', replaced: [] };
    },
  };
  const write = (level: string) => (message: string, members: object | Error) =>
    void it.lines.push(`${level} ${message} ${JSON.stringify(members)}`);
  const service = new ScheduleService(
    store as unknown as ScheduleStore,
    scheduledAgents as unknown as ScheduledAgentStore,
    { server: { harness: 'builtin', builtInModel: 'demo' } } as unknown as RunAgents,
    { isFull: async () => it.full, added: () => undefined } as unknown as QueueCounts,
    { isLow: () => it.diskLow } as unknown as DiskWatch,
    { notifyEngines: () => void (it.woken += 1), notifyWatchers: () => undefined } as unknown as RunNotifier,
    { nowMs: () => it.nowMs, monotonicMs: () => it.nowMs },
    { newId: () => 'run-1' },
    { info: write('info'), warn: write('warn'), fault: write('fault') } as unknown as Log,
  );
  const lookAt = async (ms: number) => {
    it.nowMs = ms;
    const before = it.handled.length;
    await service.poll();
    return it.handled.slice(before);
  };
  return { it, lookAt };
}

describe('a look at the schedules', () => {
  it('starts a run at its tick, once, as the automation says it', async () => {
    const { it, lookAt } = world();
    expect(await lookAt(NOON_MS - 30_000)).toEqual([]);
    expect(await lookAt(NOON_MS - 1)).toEqual([]);
    const [tick] = await lookAt(NOON_MS + 2_000);
    expect(tick).toMatchObject({
      atMs: NOON_MS,
      missed: 0,
      start: {
        servingVersion: 9,
        run: {
          prompt: 'Sweep.',
          title: 'A · Sweep.',
          source: 'SCHEDULED_AGENT',
          creatorUid: 'svc_1',
          automationUid: 'auto_1',
          factoryUid: 'fac_1',
          definitionRevision: 'r',
          limits: '{"minutes":3}',
          createdAtMs: NOON_MS + 2_000,
          schedule: { id: tick?.schedule.scheduleId, cron: '0 * * * *', atMs: NOON_MS },
        },
      },
    });
    expect(tick?.start?.run).not.toHaveProperty('entryId');
    expect(await lookAt(NOON_MS + 3_000)).toEqual([]);
    expect([it.woken, it.lines, it.asked]).toEqual([1, [], 1]);
  });

  it.each([{ reason: 'full' as const }, { reason: 'diskLow' as const }])(
    'while the service is $reason it tries the tick again, for five minutes',
    async ({ reason }) => {
      const { it, lookAt } = world();
      await lookAt(NOON_MS - 30_000);
      it[reason] = true;
      expect(await lookAt(NOON_MS + 5_000)).toEqual([]);
      it[reason] = false;
      expect(await lookAt(NOON_MS + 4 * MINUTE_MS)).toMatchObject([
        { atMs: NOON_MS, missed: 0, start: { run: { prompt: 'Sweep.' } } },
      ]);
      it[reason] = true;
      expect(await lookAt(NOON_MS + 64 * MINUTE_MS)).toEqual([]);
      expect(await lookAt(NOON_MS + 65 * MINUTE_MS)).toMatchObject([
        { atMs: NOON_MS + 60 * MINUTE_MS, missed: 1, start: undefined },
      ]);
      expect(it.lines).toEqual([
        expect.stringMatching(
          new RegExp(
            String.raw`^warn .*missed.*"factory":"shop","automation":"a","schedule":"0 \* \* \* \*","missed":1,` +
              '"last_missed_at":"2031-03-04T13:00:00.000Z"',
          ),
        ),
      ]);
    },
  );

  it('that finds one schedule at fault goes on with the next', async () => {
    const { it, lookAt } = world(['0 * * * *', '*/30 * * * *']);
    await lookAt(NOON_MS - 30_000);
    let calls = 0;
    it.outcome = () => {
      calls += 1;
      if (calls === 1) throw new StoreError('unavailable', 'x');
      return { kind: 'started', replaced: [] };
    };
    expect(await lookAt(NOON_MS)).toHaveLength(2);
    expect(it.lines).toEqual([expect.stringContaining('fault schedule tick failed')]);
    expect(await lookAt(NOON_MS + 5_000)).toHaveLength(1);
  });

  it('says nothing of a tick that another process handled, and of a busy group that it is busy', async () => {
    const { it, lookAt } = world();
    await lookAt(NOON_MS - 30_000);
    it.outcome = () => ({ kind: 'lost' });
    await lookAt(NOON_MS + 1);
    expect([it.woken, it.lines]).toEqual([0, []]);
    it.outcome = () => ({ kind: 'busy' });
    await lookAt(NOON_MS + 2);
    expect([it.woken, it.lines]).toEqual([
      0,
      [expect.stringContaining('info schedule tick skipped: concurrency group busy')],
    ]);
  });

  it('forgets a schedule that changed and begins the new one now', async () => {
    const { it, lookAt } = world();
    await lookAt(NOON_MS - 30_000);
    const [before] = it.stored.keys();
    Object.assign(it, { crons: ['*/5 * * * *', '*/5 * * * *', 'unreadable'], version: 2 });
    expect(await lookAt(NOON_MS + 1_000)).toEqual([]);
    expect([...it.stored.values()]).toEqual([
      expect.objectContaining({ cron: '*/5 * * * *', handledUntilMs: NOON_MS + 1_000, missed: 0 }),
    ]);
    expect([...it.stored.keys()]).not.toContain(before);
    expect(await lookAt(NOON_MS + 5 * MINUTE_MS)).toMatchObject([{ atMs: NOON_MS + 5 * MINUTE_MS }]);
  });
});

describe('a look at schedules of their own', () => {
  const agent = (): ScheduledAgent => ({
    scheduleId: 'one',
    name: 'Nightly',
    cron: '0 * * * *',
    prompt: 'Sweep.',
    agentConfig: {},
    metadata: { team: 'birds' },
    mode: 'normal',
    isEnabled: true,
    agentIdentityUid: null,
    ignored: [],
    version: 1,
    handledUntilMs: NOON_MS - 30_000,
    creator: { uid: 'user_1', kind: 'user', displayName: 'Ada' },
    updater: { uid: 'user_1', kind: 'user', displayName: 'Ada' },
    createdAtMs: 0,
    updatedAtMs: 0,
    missed: 0,
  });

  it('starts a run at its tick, once, as the schedule says it', async () => {
    const { it, lookAt } = world([]);
    it.agent = agent();
    await lookAt(NOON_MS - 1);
    expect(it.agentTicks).toEqual([]);
    await lookAt(NOON_MS + 2_000);
    await lookAt(NOON_MS + 3_000);
    expect(it.agentTicks).toMatchObject([
      {
        atMs: NOON_MS,
        missed: 0,
        start: {
          run: {
            title: 'Nightly · Sweep.',
            creatorUid: 'user_1',
            source: 'SCHEDULED_AGENT',
            metadata: '{"team":"birds"}',
            schedule: { id: 'one', name: 'Nightly', cron: '0 * * * *', atMs: NOON_MS },
          },
        },
      },
    ]);
    expect([it.woken, it.lines]).toEqual([1, []]);
  });

  it.each([{ reason: 'full' as const }, { reason: 'diskLow' as const }])(
    'postpones a tick while it is $reason, until it is too late, and says so',
    async ({ reason }) => {
      const { it, lookAt } = world([]);
      it.agent = agent();
      it[reason] = true;
      await lookAt(NOON_MS + 1_000);
      expect(it.agentTicks).toEqual([]);
      await lookAt(NOON_MS + 5 * MINUTE_MS);
      expect(it.agentTicks).toMatchObject([{ atMs: NOON_MS, missed: 1, start: undefined }]);
      expect(it.lines).toEqual([expect.stringContaining('warn schedule ticks missed')]);
    },
  );

  it.each<[what: string, change: Partial<ScheduledAgent>]>([
    ['paused', { isEnabled: false, version: 2 }],
    ['given another expression', { cron: '30 * * * *', version: 2, handledUntilMs: NOON_MS + 500 }],
  ])('decides on what it is now when it is %s meanwhile', async (_what, change) => {
    const { it, lookAt } = world([]);
    it.agent = agent();
    it.between = () => void (it.agent = { ...(it.agent as ScheduledAgent), ...change });
    await lookAt(NOON_MS + 1_000);
    expect(it.agentTicks).toEqual([]);
  });

  it('looks again where its expression changed within one moment', async () => {
    const { it, lookAt } = world([]);
    it.agent = { ...agent(), cron: '0 0 1 1 *' };
    await lookAt(NOON_MS + 1_000);
    it.agent = { ...it.agent, cron: '0 * * * *', version: 2 };
    await lookAt(NOON_MS + 2_000);
    expect(it.agentTicks).toMatchObject([{ atMs: NOON_MS, schedule: { version: 2 } }]);
  });

  it('that meets a fault goes on', async () => {
    const { it, lookAt } = world([]);
    it.agent = agent();
    it.between = () => {
      throw new StoreError('unavailable', 'x');
    };
    await lookAt(NOON_MS + 1_000);
    expect(it.lines).toEqual([expect.stringContaining('fault schedule tick failed')]);
    it.between = undefined;
    await lookAt(NOON_MS + 2_000);
    expect(it.agentTicks).toHaveLength(1);
  });
});
