/**
 * Schedules that are made over the API, as rows: whatever people, clocks and crashes do, of all processes that see a
 * tick one handles it, as the schedule is then. contract §12.8 (Schedules).
 */
import { dueTick, readSchedule, type ScheduleTimes } from '#definitions';
import { changedSchedule, newSchedule, type ScheduledAgentSettings } from '#runs';
import { SCHEDULED_AGENTS_MAX, type ScheduledAgentTick } from '../../apps/server/store/definitions/scheduled-agents.ts';
import type { NewScheduledAgent, ScheduledAgent } from '../../apps/server/store/definitions/scheduled-agent-rows.ts';
import type { TickOutcome } from '../../apps/server/store/definitions/schedules.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { count, meddle, onEachBackend, select, type Stores } from './backends.ts';
import { newId, runOf, seedFactory, servingVersion } from './seeds.ts';

const MINUTE_MS = 60_000;
const TICK_MS = 1_800_000_000_000;
const HISTORIES = 25;
const STEPS = 60;

await onEachBackend('schedules of their own', (world) => {
  let stores: Stores;
  let factoryUid: string;
  beforeEach(async () => {
    stores = world.stores;
    await meddle(stores, 'DELETE FROM scheduled_agent');
    ({ uid: factoryUid } = await seedFactory(stores));
  });

  const settings = (more: Partial<ScheduledAgentSettings> = {}): ScheduledAgentSettings => ({
    name: 'n',
    cron: '* * * * *',
    prompt: 'Sweep.',
    agentConfig: { model_id: 'm' },
    metadata: { team: 'birds' },
    mode: 'normal',
    isEnabled: true,
    agentIdentityUid: null,
    ignored: [],
    ...more,
  });
  const wanted = (nowMs: number, more: Partial<NewScheduledAgent> = {}): NewScheduledAgent => ({
    ...newSchedule(settings(), nowMs),
    mode: 'normal',
    scheduleId: newId(),
    createdAtMs: nowMs,
    ...more,
  });
  const hook = (action: string) => ({ by: { id: newId(), principalUid: 'svc_nobody' }, action });
  const made = async (more: Partial<NewScheduledAgent> = {}, nowMs = TICK_MS - MINUTE_MS): Promise<ScheduledAgent> => {
    const agent = await stores.scheduledAgents.create(wanted(nowMs, more), hook('schedule.create'));
    if (typeof agent === 'string') throw new Error(agent);
    return agent;
  };
  const change = (id: string, more: Partial<ScheduledAgentSettings>, nowMs: number, by = stores) =>
    by.scheduledAgents.change(id, (before) => changedSchedule(before, more, nowMs), hook('schedule.change'));
  const remove = (id: string): Promise<boolean> => stores.scheduledAgents.remove(id, hook('schedule.delete'));
  const runAt = (agent: ScheduledAgent, atMs: number) =>
    runOf(
      { factoryUid: agent.factoryUid },
      {
        source: 'SCHEDULED_AGENT',
        metadata: JSON.stringify(agent.metadata),
        schedule: { id: agent.scheduleId, name: agent.name, cron: agent.cron, atMs },
      },
    );
  const tickOf = (
    agent: ScheduledAgent,
    atMs = TICK_MS,
    more: Partial<ScheduledAgentTick> = {},
  ): ScheduledAgentTick => ({
    schedule: agent,
    atMs,
    missed: 0,
    start: { run: runAt(agent, atMs) },
    ...more,
  });
  const handle = (tick: ScheduledAgentTick, by = stores): Promise<TickOutcome> =>
    by.scheduledAgents.handle(tick, TICK_MS);
  const startedAt = async (id: string): Promise<number[]> =>
    (
      await select<{ at: number | string }>(
        stores,
        'SELECT scheduled_at AS at FROM run WHERE schedule_id = ? ORDER BY 1',
        id,
      )
    ).map(({ at }) => Number(at));

  it('come back as they were made, by name, each with who made it', async () => {
    const [second, first] = [await made({ name: 'b' }), await made({ name: 'a', factoryUid, prompt: undefined })];
    expect(await stores.scheduledAgents.list(undefined)).toEqual([first, second]);
    expect(await stores.scheduledAgents.list([factoryUid])).toEqual([first]);
    expect(await stores.scheduledAgents.list([])).toEqual([]);
    expect(await stores.scheduledAgents.find(second.scheduleId)).toEqual({
      ...settings({ name: 'b' }),
      scheduleId: second.scheduleId,
      factoryUid: undefined,
      version: 1,
      handledUntilMs: TICK_MS - MINUTE_MS,
      createdAtMs: TICK_MS - MINUTE_MS,
      updatedAtMs: TICK_MS - MINUTE_MS,
      creator: { uid: 'svc_nobody', kind: 'user', displayName: 'svc_nobody', email: undefined },
      updater: expect.objectContaining({ uid: 'svc_nobody' }),
      lastFiredMs: undefined,
      missed: 0,
      lastMissedMs: undefined,
    });
  });

  it('one of many processes fires a tick, with its metadata, and remembers what was missed before it', async () => {
    const other = await world.another();
    const agent = await made();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        handle(tickOf(agent, TICK_MS, { missed: 3, lastMissedMs: TICK_MS - 5 }), at % 2 === 0 ? stores : other),
      ),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      ...Array.from({ length: 11 }, () => 'lost'),
      'started',
    ]);
    expect(await startedAt(agent.scheduleId)).toEqual([TICK_MS]);
    expect(await stores.scheduledAgents.find(agent.scheduleId)).toEqual({
      ...agent,
      handledUntilMs: TICK_MS,
      lastFiredMs: TICK_MS,
      missed: 3,
      lastMissedMs: TICK_MS - 5,
    });
    expect(
      await count(
        stores,
        "run_metadata m JOIN run r ON r.run_id = m.run_id WHERE r.schedule_id = ? AND m.key = 'team'",
        agent.scheduleId,
      ),
    ).toBe(1);
  });

  it('a run begins its log with what nothing here serves of its schedule', async () => {
    const agent = await made({ ignored: ['/notes'] });
    const run = runAt(agent, TICK_MS);
    expect(await handle(tickOf(agent, TICK_MS, { start: { run, ignored: agent.ignored } }))).toMatchObject({
      kind: 'started',
    });
    const log = await stores.runs.events(run.runId, 0, 10);
    expect(log.map(({ kind, body }) => [kind, body])).toEqual([['status', expect.stringContaining('/notes')]]);
  });

  it('an agent identity is there as long as a schedule has it, whoever is first', async () => {
    const identity = async (): Promise<string> => {
      const uid = newId();
      await stores.identities.create({ uid, name: 'reviewer', settings: {} }, hook('').by);
      return uid;
    };
    const other = await world.another();
    for (let round = 0; round < 5; round += 1) {
      const uid = await identity();
      const [agent, removed] = await Promise.all([
        stores.scheduledAgents.create(wanted(TICK_MS, { agentIdentityUid: uid }), hook('schedule.create')),
        other.identities.remove(uid, hook('').by),
      ]);
      expect([typeof agent === 'string' ? agent : 'made', removed]).toEqual(
        typeof agent === 'string' ? ['no-identity', true] : ['made', { used: ['n'] }],
      );
      if (typeof agent !== 'string')
        expect((await stores.scheduledAgents.loadFacts(agent.scheduleId))?.identity).toMatchObject({ uid });
    }
    const agent = await made();
    expect(await change(agent.scheduleId, { agentIdentityUid: newId() }, TICK_MS)).toBe('no-identity');
  });

  it.each<{ why: string; happens: (agent: ScheduledAgent) => Promise<unknown> }>([
    { why: 'it was paused', happens: ({ scheduleId }) => change(scheduleId, { isEnabled: false }, TICK_MS) },
    { why: 'it was changed', happens: ({ scheduleId }) => change(scheduleId, { prompt: 'x' }, TICK_MS) },
    { why: 'it was deleted', happens: ({ scheduleId }) => remove(scheduleId) },
    { why: 'its factory was deleted', happens: () => stores.factories.remove(factoryUid) },
  ])('nothing is started once $why', async ({ happens }) => {
    const agent = await made({ factoryUid });
    const servedAt = await servingVersion(stores, factoryUid);
    const decided = tickOf(agent, TICK_MS, { start: { run: runAt(agent, TICK_MS), servingVersion: servedAt } });
    await happens(agent);
    expect(await handle(decided)).toEqual({ kind: 'lost' });
    expect(await startedAt(agent.scheduleId)).toEqual([]);
  });

  it('nothing is started on defaults of the factory that are others now', async () => {
    const agent = await made({ factoryUid });
    const start = { run: runAt(agent, TICK_MS), servingVersion: (await servingVersion(stores, factoryUid)) - 1 };
    expect(await handle(tickOf(agent, TICK_MS, { start }))).toEqual({ kind: 'lost' });
    const facts = await stores.scheduledAgents.loadFacts(agent.scheduleId);
    expect(facts).toMatchObject({ agent, factory: { servingVersion: start.servingVersion + 1 } });
    expect(
      await handle(tickOf(agent, TICK_MS, { start: { ...start, servingVersion: start.servingVersion + 1 } })),
    ).toEqual({ kind: 'started', replaced: [] });
  });

  it('go with their factory, and none is made for one that is gone', async () => {
    const [agent, other] = [await made({ factoryUid }), await made()];
    await stores.factories.remove(factoryUid);
    expect(await stores.scheduledAgents.find(agent.scheduleId)).toBeUndefined();
    expect(await stores.scheduledAgents.enabled()).toEqual([expect.objectContaining({ scheduleId: other.scheduleId })]);
    expect(await stores.scheduledAgents.create(wanted(TICK_MS, { factoryUid }), hook('schedule.create'))).toBe('gone');
  });

  it('are so many at most, however many are made at once', async () => {
    const first = await made();
    const columns =
      'factory_uid, name, cron, prompt, agent_config, metadata, mode, enabled, creator_uid, updater_uid, ' +
      'version, created_at, updated_at, handled_until, last_fired_at, missed, last_missed_at';
    for (let stored = 1; stored < SCHEDULED_AGENTS_MAX - 2; stored += 1)
      await meddle(
        stores,
        `INSERT INTO scheduled_agent (schedule_id, ${columns}) SELECT ?, ${columns} FROM scheduled_agent ` +
          'WHERE schedule_id = ?',
        `copy-${stored}`,
        first.scheduleId,
      );
    const other = await world.another();
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        (at % 2 === 0 ? stores : other).scheduledAgents.create(wanted(TICK_MS), hook('schedule.create')),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(4);
    expect(await count(stores, 'scheduled_agent')).toBe(SCHEDULED_AGENTS_MAX);
  });

  it('changes of two at once are one after the other', async () => {
    const other = await world.another();
    const { scheduleId } = await made();
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        change(scheduleId, { name: `n${at}` }, TICK_MS, at % 2 === 0 ? stores : other),
      ),
    );
    expect(await stores.scheduledAgents.find(scheduleId)).toMatchObject({ version: 9 });
    expect(await count(stores, "audit_entry WHERE action = 'schedule.change' AND subject = ?", scheduleId)).toBe(8);
  });

  it('a change that changes nothing writes nothing', async () => {
    const agent = await made();
    expect(await change(agent.scheduleId, { isEnabled: true, name: 'n' }, TICK_MS)).toEqual(agent);
    expect(await count(stores, "audit_entry WHERE action = 'schedule.change' AND subject = ?", agent.scheduleId)).toBe(
      0,
    );
    expect(await change(newId(), { name: 'x' }, TICK_MS)).toBe('gone');
    expect(await remove(newId())).toBe(false);
  });

  it.each(Array.from({ length: HISTORIES }, (_, seed) => seed))(
    'history %i: every tick starts or misses what a naive reading says',
    async (seed) => {
      const random = seededRandom(seed);
      const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
      const processes = [stores, await world.another()];
      const { scheduleId } = await made({ cron: '*/3 * * * *' }, TICK_MS);
      /** What a reader of the contract keeps in mind. */
      const naive = { every: 3, enabled: true, present: true, fromMs: TICK_MS, missed: 0, started: new Set<number>() };
      const pending: ScheduledAgentTick[] = [];
      let nowMs = TICK_MS;

      /** What a process decides that looks now; undefined: nothing is due. */
      const decided = async (): Promise<ScheduledAgentTick | undefined> => {
        const agent = (await stores.scheduledAgents.loadFacts(scheduleId))?.agent;
        if (agent?.isEnabled !== true) return undefined;
        const reading = readSchedule(agent.cron) as { fields: ScheduleTimes };
        const due = dueTick(reading.fields, agent.handledUntilMs, nowMs);
        if (due.kind === 'nothing') return undefined;
        const { atMs, missed, lastMissedMs } = due;
        return tickOf(agent, atMs, {
          missed,
          lastMissedMs,
          start: due.kind === 'start' ? { run: runAt(agent, atMs) } : undefined,
        });
      };
      /** The same, minute by minute. */
      const expectTick = (): void => {
        if (!naive.present || !naive.enabled) return;
        const due: number[] = [];
        for (let atMs = TICK_MS - 60 * MINUTE_MS; atMs <= nowMs; atMs += MINUTE_MS)
          if (atMs > naive.fromMs && (atMs / MINUTE_MS) % naive.every === 0) due.push(atMs);
        const latest = due.at(-1);
        if (latest === undefined) return;
        naive.fromMs = latest;
        const isLate = nowMs - latest >= 5 * MINUTE_MS;
        naive.missed += isLate ? due.length : due.length - 1;
        if (!isLate) naive.started.add(latest);
      };
      const alter = async (more: Partial<ScheduledAgentSettings>): Promise<void> => {
        const after = await change(scheduleId, more, nowMs, pick(processes));
        expect(after === 'gone').toBe(!naive.present);
        if (!naive.present) return;
        const every = more.cron === undefined ? naive.every : Number(/\d+/.exec(more.cron)?.[0]);
        const enabled = more.isEnabled ?? naive.enabled;
        if (every !== naive.every || (enabled && !naive.enabled)) naive.fromMs = nowMs;
        Object.assign(naive, { every, enabled });
      };
      const acts: Record<string, () => Promise<void>> = {
        wait: async () => void (nowMs += Math.floor(random() * 4 * MINUTE_MS)),
        'wait long': async () => void (nowMs += Math.floor(random() * 20 * MINUTE_MS)),
        'set the clock back': async () =>
          void (nowMs = Math.max(TICK_MS, nowMs - Math.floor(random() * 8 * MINUTE_MS))),
        'look, all at once': async () => {
          const ticks = (await Promise.all([decided(), decided(), decided()])).filter((tick) => tick !== undefined);
          const outcomes = await Promise.all(ticks.map((tick) => handle(tick, pick(processes))));
          expect(outcomes.filter(({ kind }) => kind !== 'lost').length).toBeLessThanOrEqual(1);
          expectTick();
        },
        'look, and die before it counts': async () => {
          const tick = await decided();
          if (tick !== undefined) pending.push(tick);
        },
        'go on with what was decided before': async () => {
          const tick = pending.shift();
          const agent = await stores.scheduledAgents.find(scheduleId);
          if (tick === undefined) return;
          const isCurrent =
            agent?.version === tick.schedule.version && agent.handledUntilMs === tick.schedule.handledUntilMs;
          const { kind } = await handle(tick);
          if (!isCurrent) expect(kind).toBe('lost');
          else {
            naive.fromMs = tick.atMs;
            naive.missed += tick.missed;
            if (tick.start !== undefined) naive.started.add(tick.atMs);
          }
        },
        pause: () => alter({ isEnabled: false }),
        resume: () => alter({ isEnabled: true }),
        'change the expression': () => alter({ cron: `*/${pick([1, 2, 3, 5])} * * * *` }),
        'change the prompt': () => alter({ prompt: `p${Math.floor(random() * 3)}` }),
        delete: async () => {
          if (random() > 0.1) return;
          expect(await remove(scheduleId)).toBe(naive.present);
          naive.present = false;
        },
      };
      const log: string[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const act = pick(Object.keys(acts));
        log.push(`${act} at ${(nowMs - TICK_MS) / MINUTE_MS}`);
        await acts[act]?.();
        const agent = await stores.scheduledAgents.find(scheduleId);
        expect({
          log,
          started: await startedAt(scheduleId),
          agent: agent && { handledUntilMs: agent.handledUntilMs, missed: agent.missed, isEnabled: agent.isEnabled },
        }).toEqual({
          log,
          started: [...naive.started].toSorted((a, b) => a - b),
          agent: naive.present
            ? { handledUntilMs: naive.fromMs, missed: naive.missed, isEnabled: naive.enabled }
            : undefined,
        });
      }
      await stores.scheduledAgents.remove(scheduleId, hook('schedule.delete'));
    },
  );
});
