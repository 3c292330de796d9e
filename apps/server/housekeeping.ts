/** What happens by the clock: every scheduled method only asks, the work is done elsewhere. */
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Engine } from './execution/engine.ts';
import type { Repositories } from './execution/repositories.ts';
import type { KeyUses } from './keys/uses.ts';
import type { Log } from './log.ts';
import type { Scheduler } from './schedules/scheduler.ts';
import type { DeliveryStore } from './store/deliveries.ts';
import type { IdempotencyStore } from './store/idempotency.ts';
import type { SessionStore } from './store/sessions.ts';

/** Lost executions are looked for this often. reference: Engine. */
const RECONCILE_RUNS_MS = 15_000;
const PRUNE_MS = 60_000;
/** contract 2: when a key was last used is known to the minute. */
const KEY_USES_MS = 60_000;
const SWEEP_MS = 600_000;
/** A tick starts its run this late at most. */
const SCHEDULES_MS = 5_000;

@Injectable()
export class Housekeeping {
  private readonly engine: Engine;
  private readonly repositories: Repositories;
  private readonly deliveries: DeliveryStore;
  private readonly keyUses: KeyUses;
  private readonly answers: IdempotencyStore;
  private readonly sessions: SessionStore;
  private readonly scheduler: Scheduler;
  private readonly log: Log;
  private readonly nowMs: () => number;
  private readonly identityRetentionDays: number | undefined;
  constructor(engine: Engine, repositories: Repositories, deliveries: DeliveryStore, keyUses: KeyUses, answers: IdempotencyStore, sessions: SessionStore, scheduler: Scheduler, log: Log, nowMs: () => number, identityRetentionDays: number | undefined) {
    this.engine = engine;
    this.repositories = repositories;
    this.deliveries = deliveries;
    this.keyUses = keyUses;
    this.answers = answers;
    this.sessions = sessions;
    this.scheduler = scheduler;
    this.log = log;
    this.nowMs = nowMs;
    this.identityRetentionDays = identityRetentionDays;
  }

  @Interval(RECONCILE_RUNS_MS)
  reconcileRuns(): void {
    this.engine.recover().catch((error: unknown) => this.log.fault('lost runs could not be looked for', error));
  }

  @Interval(PRUNE_MS)
  pruneDeliveries(): void {
    this.deliveries.prune(this.nowMs(), this.identityRetentionDays).catch((error: unknown) => this.log.fault('old deliveries could not be pruned', error));
  }

  @Interval(PRUNE_MS)
  pruneAnswers(): void {
    this.answers.prune().catch((error: unknown) => this.log.fault('old idempotency keys could not be pruned', error));
  }

  @Interval(PRUNE_MS)
  pruneSessions(): void {
    this.sessions.prune().catch((error: unknown) => this.log.fault('sessions that have run out could not be pruned', error));
  }

  @Interval(SCHEDULES_MS)
  lookAtSchedules(): void {
    void this.scheduler.ask();
  }

  @Interval(KEY_USES_MS)
  noteKeyUses(): void {
    this.keyUses.write().catch((error: unknown) => this.log.fault('the uses of keys could not be noted', error));
  }

  @Interval(SWEEP_MS)
  sweepWorkspaces(): void {
    this.engine.sweepWorkspaces().catch((error: unknown) => this.log.fault('old workspaces could not be removed', error));
  }

  @Interval(SWEEP_MS)
  sweepRepositories(): void {
    this.repositories.sweep().catch((error: unknown) => this.log.fault('unused copies of repositories could not be removed', error));
  }
}
