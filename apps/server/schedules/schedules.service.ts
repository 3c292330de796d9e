/** Clock → run: which schedules are due, what each starts, what was missed; one poll at a time. contract §12.3, §10. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { dueTick, nextTick, schedulesOf, type TickDecision, type WantedSchedule } from '#definitions';
import { snapshotOf } from '#runs';
import { QueueCounts } from '../runs/run-admission.ts';
import { Log } from '../process/log.ts';
import type { NewRun } from '../store/runs/new-run.ts';
import { type Schedule, type ScheduleFacts, ScheduleStore, type TickOutcome } from '../store/definitions/schedules.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';

type Due = Exclude<TickDecision, { kind: 'nothing' }>;

@Injectable()
export class ScheduleService {
  /** Schedules of automations, by UID; read again when their version moves. */
  private cachedSchedules = new Map<string, { version: number; schedules: readonly WantedSchedule[] }>();
  /** The first tick behind what is handled: most looks find that it is not yet due. */
  private readonly next = new Map<string, { behindMs: number; atMs: number }>();

  constructor(
    private readonly store: ScheduleStore,
    private readonly agents: RunAgents,
    private readonly waitingRuns: QueueCounts,
    private readonly disk: DiskWatch,
    private readonly notifier: RunNotifier,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {}

  /**
   * Looks once at everything. A new schedule counts from now on; one that is no more is forgotten; every due one is
   * handled for itself.
   */
  async poll(): Promise<void> {
    const nowMs = this.clock.nowMs();
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
      if (fields !== undefined && this.nextOf(schedule, fields) <= nowMs) await this.handle(schedule, fields, nowMs);
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

  private nextOf({ scheduleId, handledUntilMs }: Schedule, fields: WantedSchedule['fields']): number {
    const known = this.next.get(scheduleId);
    if (known?.behindMs === handledUntilMs) return known.atMs;
    const atMs = nextTick(fields, handledUntilMs) ?? Infinity;
    this.next.set(scheduleId, { behindMs: handledUntilMs, atMs });
    return atMs;
  }

  /** One schedule that is due. A fault of one keeps no other from its tick. */
  private async handle(schedule: Schedule, fields: WantedSchedule['fields'], nowMs: number): Promise<void> {
    await nextTurn(); // many are due at the full hour: deliveries come in between
    try {
      const due = dueTick(fields, schedule.handledUntilMs, nowMs);
      const facts = due.kind === 'nothing' ? undefined : await this.store.loadFacts(schedule.automationUid);
      if (due.kind === 'nothing' || facts === undefined) return;
      // Tried again with the next look, until it is too late for the tick.
      if (due.kind === 'start' && (this.disk.isLow() || (await this.waitingRuns.isFull(schedule.factoryUid)))) return;
      const { atMs, missed, lastMissedMs } = due;
      const run = due.kind === 'start' ? this.runOf(schedule, facts, atMs) : undefined;
      const outcome = await this.store.handle(
        { schedule, atMs, missed, lastMissedMs, start: run && { run, servingVersion: facts.servingVersion } },
        nowMs,
      );
      this.logOutcome(outcome, schedule, facts, due);
    } catch (fault) {
      this.log.fault('schedule tick failed', fault, { schedule_id: schedule.scheduleId });
    }
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

  private logOutcome(
    outcome: TickOutcome,
    { name, cron, factoryUid }: Schedule,
    { factory, automation }: ScheduleFacts,
    { missed, lastMissedMs }: Due,
  ): void {
    const { log, waitingRuns, notifier } = this;
    if (outcome.kind === 'lost') return;
    const which = { factory: factory.slug, automation: automation.slug, schedule: name ?? cron };
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

export class Scheduler {
  private readonly poll: () => Promise<void>;
  private readonly report: (fault: unknown) => void;
  private running: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | undefined;
  private isStopped = false;

  constructor(look: () => Promise<void>, report: (fault: unknown) => void) {
    this.poll = look;
    this.report = report;
  }

  /** Ends when a look that began after this call has ended. Never throws. */
  ask(): Promise<void> {
    this.waiting ??= this.running.then(() => {
      this.waiting = undefined;
      this.running = this.run();
      return this.running;
    });
    return this.waiting;
  }

  /** Starts no further look; waits for the one under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.waiting;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      if (!this.isStopped) await this.poll();
    } catch (fault) {
      this.report(fault);
    }
  }
}
