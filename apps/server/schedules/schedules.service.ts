/**
 * Clock → run: which schedules are due, what each starts, what was missed; one poll at a time. contract §12.3, §12.8.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  dueTick,
  nextTick,
  readSchedule,
  schedulesOf,
  type ScheduleTimes,
  type TickDecision,
  type WantedSchedule,
} from '#definitions';
import { scheduledRun, snapshotOf } from '#runs';
import { NO_FACTORY, QueueCounts } from '../runs/run-admission.ts';
import { Log } from '../process/log.ts';
import type { NewRun } from '../store/runs/new-run.ts';
import { type ScheduledAgentFacts, ScheduledAgentStore } from '../store/definitions/scheduled-agents.ts';
import { type Schedule, type ScheduleFacts, ScheduleStore, type TickOutcome } from '../store/definitions/schedules.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { CoalescedTask } from '../process/coalesced-task.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';

type Due = Exclude<TickDecision, { kind: 'nothing' }>;

@Injectable()
export class ScheduleService {
  /** Schedules of automations, by UID; read again when their version moves. */
  private cachedSchedules = new Map<string, { version: number; schedules: readonly WantedSchedule[] }>();
  private readonly next: NextTicks = new Map();
  private readonly nextOfAgents: NextTicks = new Map();

  constructor(
    private readonly store: ScheduleStore,
    private readonly scheduledAgents: ScheduledAgentStore,
    private readonly agents: RunAgents,
    private readonly waitingRuns: QueueCounts,
    private readonly disk: DiskWatch,
    private readonly notifier: RunNotifier,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {}

  /**
   * Looks once at everything. A new trigger counts from now on; one that is no more is forgotten; every due one, and
   * every due schedule of its own, is handled for itself.
   */
  async poll(): Promise<void> {
    await this.pollTriggers(this.clock.nowMs());
    await this.pollScheduledAgents(this.clock.nowMs());
  }

  private async pollScheduledAgents(nowMs: number): Promise<void> {
    const enabled = await this.scheduledAgents.enabled();
    const ids = new Set(enabled.map(({ scheduleId }) => scheduleId));
    for (const id of this.nextOfAgents.keys()) if (!ids.has(id)) this.nextOfAgents.delete(id);
    for (const agent of enabled) {
      const reading = readSchedule(agent.cron);
      if (reading.ok && nextIn(this.nextOfAgents, agent, reading.fields) <= nowMs)
        await this.handleAgent(agent.scheduleId, nowMs);
    }
  }

  private async pollTriggers(nowMs: number): Promise<void> {
    // Before what is wanted: a schedule that another process adds meanwhile must not look like one that nobody wants.
    const stored = await this.store.all();
    const wanted = await this.wanted();
    const ids = new Set(stored.map(({ scheduleId }) => scheduleId));
    const added = [...wanted]
      .filter(([id]) => !ids.has(id))
      .map(([, { schedule, owner }]): Schedule => ({ ...schedule, ...owner, handledUntilMs: nowMs, missed: 0 }));
    const removed = [...ids].filter((id) => !wanted.has(id));
    await this.store.update(added, removed);
    for (const id of removed) this.next.delete(id);
    for (const schedule of stored) {
      const fields = wanted.get(schedule.scheduleId)?.schedule.fields;
      if (fields !== undefined && nextIn(this.next, schedule, fields) <= nowMs)
        await this.handle(schedule, fields, nowMs);
    }
  }

  /** Every schedule that fires, by ID, and whose it is. */
  private async wanted(): Promise<
    Map<string, { schedule: WantedSchedule; owner: { automationUid: string; factoryUid: string } }>
  > {
    const automations = await this.store.scheduled();
    const changed = automations.filter(({ uid, version }) => this.cachedSchedules.get(uid)?.version !== version);
    for (const { uid, version, definition } of await this.store.definitions(changed.map(({ uid }) => uid)))
      this.cachedSchedules.set(uid, { version, schedules: schedulesOf(uid, definition) });
    this.cachedSchedules = new Map(
      automations.flatMap(({ uid }) => {
        const cached = this.cachedSchedules.get(uid);
        return cached === undefined ? [] : [[uid, cached]];
      }),
    );
    return new Map(
      automations.flatMap(({ uid, factoryUid }) =>
        (this.cachedSchedules.get(uid)?.schedules ?? []).map(
          (schedule) => [schedule.scheduleId, { schedule, owner: { automationUid: uid, factoryUid } }] as const,
        ),
      ),
    );
  }

  /** One schedule that is due. A fault of one keeps no other from its tick. */
  private async handle(schedule: Schedule, fields: WantedSchedule['fields'], nowMs: number): Promise<void> {
    await nextTurn(); // many are due at the full hour: deliveries come in between
    try {
      const due = dueTick(fields, schedule.handledUntilMs, nowMs);
      const facts = due.kind === 'nothing' ? undefined : await this.store.loadFacts(schedule.automationUid);
      if (due.kind === 'nothing' || facts === undefined) return;
      if (due.kind === 'start' && !(await this.hasRoom(schedule.factoryUid))) return;
      const { atMs, missed, lastMissedMs } = due;
      const run = due.kind === 'start' ? this.runOf(schedule, facts, atMs) : undefined;
      const outcome = await this.store.handle(
        { schedule, atMs, missed, lastMissedMs, start: run && { run, servingVersion: facts.servingVersion } },
        nowMs,
      );
      const which = {
        factory: facts.factory.slug,
        automation: facts.automation.slug,
        schedule: schedule.name ?? schedule.cron,
      };
      this.tellOutcome(outcome, schedule.factoryUid, which, due);
    } catch (fault) {
      this.log.fault('schedule tick failed', fault, { schedule_id: schedule.scheduleId });
    }
  }

  /** The same for one of its own: all is decided on the version of its settings that it has now. */
  private async handleAgent(scheduleId: string, nowMs: number): Promise<void> {
    await nextTurn();
    try {
      const facts = await this.scheduledAgents.loadFacts(scheduleId);
      if (facts === undefined) return;
      const { agent, factory } = facts;
      const reading = readSchedule(agent.cron);
      if (!reading.ok || !agent.isEnabled) return;
      const due = dueTick(reading.fields, agent.handledUntilMs, nowMs);
      if (due.kind === 'nothing') return;
      if (due.kind === 'start' && !(await this.hasRoom(agent.factoryUid ?? NO_FACTORY))) return;
      const { atMs, missed, lastMissedMs } = due;
      const run = due.kind === 'start' ? this.agentRunOf(facts, atMs) : undefined;
      const start = run && { run, servingVersion: factory?.servingVersion, ignored: agent.ignored };
      const tick = { schedule: agent, atMs, missed, lastMissedMs, start };
      const outcome = await this.scheduledAgents.handle(tick, nowMs);
      const which = { factory: factory?.slug, schedule_id: scheduleId, schedule: agent.name };
      this.tellOutcome(outcome, agent.factoryUid ?? NO_FACTORY, which, due);
    } catch (fault) {
      this.log.fault('schedule tick failed', fault, { schedule_id: scheduleId });
    }
  }

  /** Without it the tick is tried again with the next look, until it is too late. */
  private async hasRoom(factoryUid: string): Promise<boolean> {
    return !this.disk.isLow() && !(await this.waitingRuns.isFull(factoryUid));
  }

  private agentRunOf({ agent, factory, identity }: ScheduledAgentFacts, atMs: number): NewRun {
    const levels = { identity, defaults: factory?.agentDefaults, server: this.agents.server };
    return {
      ...scheduledRun(agent, levels),
      runId: this.ids.newId(),
      source: 'SCHEDULED_AGENT',
      creatorUid: factory?.serviceAccountUid ?? agent.creator.uid,
      factoryUid: agent.factoryUid,
      createdAtMs: this.clock.nowMs(),
      schedule: { id: agent.scheduleId, name: agent.name, cron: agent.cron, atMs },
    };
  }

  private runOf({ scheduleId, name, cron }: Schedule, { factory, automation }: ScheduleFacts, atMs: number): NewRun {
    return {
      ...snapshotOf(automation, factory, this.agents.server),
      runId: this.ids.newId(),
      source: 'SCHEDULED_AGENT',
      createdAtMs: this.clock.nowMs(),
      schedule: { id: scheduleId, ...(name === undefined ? {} : { name }), cron, atMs },
    };
  }

  private tellOutcome(
    outcome: TickOutcome,
    factoryUid: string,
    which: Readonly<Record<string, string | undefined>>,
    { missed, lastMissedMs }: Due,
  ): void {
    const { log, waitingRuns, notifier } = this;
    if (outcome.kind === 'lost') return;
    if (missed > 0)
      log.warn('schedule ticks missed; no runs started for them', {
        ...which,
        missed,
        last_missed_at: new Date(lastMissedMs ?? 0).toISOString(),
      });
    if (outcome.kind === 'busy') log.info('schedule tick skipped: concurrency group busy', which);
    if (outcome.kind !== 'started') return;
    waitingRuns.added(factoryUid, 1);
    for (const runId of outcome.replaced) notifier.notifyWatchers(runId);
    notifier.notifyEngines();
  }
}

type NextTicks = Map<string, { behindMs: number; cron: string; atMs: number }>;

/** The first tick behind what is handled: most looks find that it is not yet due. */
function nextIn(
  known: NextTicks,
  { scheduleId, handledUntilMs, cron }: Pick<Schedule, 'scheduleId' | 'handledUntilMs' | 'cron'>,
  fields: ScheduleTimes,
): number {
  const found = known.get(scheduleId);
  if (found?.behindMs === handledUntilMs && found.cron === cron) return found.atMs;
  const atMs = nextTick(fields, handledUntilMs) ?? Infinity;
  known.set(scheduleId, { behindMs: handledUntilMs, cron, atMs });
  return atMs;
}

/** Polls schedules, one poll at a time. */
export class Scheduler extends CoalescedTask {}
