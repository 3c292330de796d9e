/** What happens by the clock: every scheduled method only asks, the work is done elsewhere. */
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Engine } from './execution/engine/engine.ts';
import type { Repositories } from './execution/repositories/repositories.ts';
import type { KeyUses } from './keys/key-uses.ts';
import type { Log } from './process/log.ts';
import type { Scheduler } from './schedules/scheduler.ts';
import type { IdempotencyStore } from './store/access/idempotency.ts';
import type { RunStore } from './store/runs/runs.ts';
import type { SessionStore } from './store/access/sessions.ts';
import type { Sweeper } from './retention/sweeper.ts';

/** Lost executions, and runs for which nobody is there, are looked for this often. reference: Engine. */
const RECONCILE_RUNS_MS = 15_000;
const PRUNE_MS = 60_000;
/** contract 2: when a key was last used is known to the minute. */
const KEY_USES_MS = 60_000;
const SWEEP_MS = 600_000;
/** A tick starts its run this late at most. */
const SCHEDULES_MS = 5_000;

/** What is looked after. A part that this process has no role for is absent. */
export interface ScheduledJobsDeps {
  /** Absent where no runs are worked on. */
  engine?: Engine;
  repositories?: Repositories;
  /** Absent where schedules start nothing. */
  scheduler?: Scheduler;
  /** Absent where nothing old is removed. */
  sweeper?: Sweeper;
  keyUses: KeyUses;
  answers?: IdempotencyStore;
  sessions?: SessionStore;
  /** In every process: where no worker lives, the others say so. */
  runs: RunStore;
  log: Log;
}

@Injectable()
export class ScheduledJobs {
  private readonly chores: ScheduledJobsDeps;
  constructor(chores: ScheduledJobsDeps) {
    this.chores = chores;
  }

  @Interval(RECONCILE_RUNS_MS)
  reconcileRuns(): void {
    this.chores.engine?.recover().catch(this.told('lost runs could not be looked for'));
  }

  @Interval(RECONCILE_RUNS_MS)
  noteUnplacedRuns(): void {
    this.chores.runs.markUnplaced().catch(this.told('runs for which no worker lives could not be told so'));
  }

  @Interval(PRUNE_MS)
  sweepOld(): void {
    void this.chores.sweeper?.ask();
  }

  @Interval(PRUNE_MS)
  pruneAnswers(): void {
    this.chores.answers?.prune().catch(this.told('old idempotency keys could not be pruned'));
  }

  @Interval(PRUNE_MS)
  pruneSessions(): void {
    this.chores.sessions?.prune().catch(this.told('sessions that have run out could not be pruned'));
  }

  @Interval(SCHEDULES_MS)
  lookAtSchedules(): void {
    void this.chores.scheduler?.ask();
  }

  @Interval(KEY_USES_MS)
  noteKeyUses(): void {
    this.chores.keyUses.write().catch(this.told('the uses of keys could not be noted'));
  }

  @Interval(SWEEP_MS)
  sweepWorkspaces(): void {
    this.chores.engine?.sweepWorkspaces().catch(this.told('old workspaces could not be removed'));
  }

  @Interval(SWEEP_MS)
  sweepRepositories(): void {
    this.chores.repositories?.sweep().catch(this.told('unused copies of repositories could not be removed'));
  }

  private told(otherwise: string): (error: unknown) => void {
    return (error) => this.chores.log.fault(otherwise, error);
  }
}
