/** What happens by the clock: every scheduled method only asks, the work is done elsewhere. */
import { Injectable, Optional } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { FeedbackLoop } from './feedback/feedback-loop.ts';
import { Engine } from './execution/engine/engine.ts';
import { Repositories } from './execution/repositories/repositories.ts';
import { KeyUses } from './keys/keys.service.ts';
import { Log } from './process/log.ts';
import { Scheduler } from './schedules/schedules.service.ts';
import { FederatedCredentialStore } from './store/access/federated-credentials.ts';
import { IdempotencyStore } from './store/access/idempotency.ts';
import { RunStore } from './store/runs/runs.ts';
import { SessionStore } from './store/access/sessions.ts';
import { SecretStore } from './store/secrets/secrets.ts';
import { Sweeper } from './retention/sweeper.ts';

/** Abandoned executions, and runs for which nobody is there, are looked for this often. explanation: Engine. */
const RECOVER_RUNS_MS = 15_000;
const PRUNE_MS = 60_000;
/** contract §2: when a key was last used is known to the minute. */
const KEY_USES_MS = 60_000;
const SWEEP_MS = 600_000;
/** A tick starts its run this late at most. */
const SCHEDULES_MS = 5_000;

/** A part that this process has no role for is absent. */
@Injectable()
export class ScheduledJobs {
  constructor(
    private readonly keyUses: KeyUses,
    private readonly answers: IdempotencyStore,
    private readonly sessions: SessionStore,
    private readonly federation: FederatedCredentialStore,
    private readonly runs: RunStore,
    private readonly secrets: SecretStore,
    private readonly log: Log,
    @Optional() private readonly engine?: Engine,
    @Optional() private readonly repositories?: Repositories,
    @Optional() private readonly scheduler?: Scheduler,
    @Optional() private readonly sweeper?: Sweeper,
    @Optional() private readonly feedback?: FeedbackLoop,
  ) {}

  @Interval(RECOVER_RUNS_MS)
  recoverAbandonedRuns(): void {
    this.engine?.recover().catch(this.logFailure('execution reclaim failed'));
  }

  /** In every process: where no worker lives, the others say so. */
  @Interval(RECOVER_RUNS_MS)
  noteUnplacedRuns(): void {
    this.runs.markUnplaced().catch(this.logFailure('unplaced run update failed'));
  }

  @Interval(PRUNE_MS)
  sweepOld(): void {
    void this.sweeper?.ask();
  }

  @Interval(PRUNE_MS)
  pruneAnswers(): void {
    if (this.sweeper !== undefined) this.answers.prune().catch(this.logFailure('idempotency key pruning failed'));
  }

  @Interval(PRUNE_MS)
  pruneSessions(): void {
    if (this.sweeper !== undefined) this.sessions.prune().catch(this.logFailure('session pruning failed'));
  }

  @Interval(PRUNE_MS)
  pruneExchangedTokens(): void {
    if (this.sweeper !== undefined) this.federation.prune().catch(this.logFailure('exchanged token pruning failed'));
  }

  @Interval(PRUNE_MS)
  pruneSecretValues(): void {
    if (this.sweeper !== undefined) this.secrets.prune().catch(this.logFailure('secret value pruning failed'));
  }

  @Interval(SCHEDULES_MS)
  pollSchedules(): void {
    void this.scheduler?.ask();
  }

  /** Each factory's rounds are scheduled by its forge; here those are found that have one since lately. */
  @Interval(SCHEDULES_MS)
  findForges(): void {
    void this.feedback?.ask();
  }

  @Interval(KEY_USES_MS)
  noteKeyUses(): void {
    this.keyUses.write().catch(this.logFailure('key use write failed'));
  }

  @Interval(SWEEP_MS)
  sweepWorkspaces(): void {
    this.engine?.sweepWorkspaces().catch(this.logFailure('workspace sweep failed'));
  }

  @Interval(SWEEP_MS)
  sweepRepositories(): void {
    this.repositories?.sweep().catch(this.logFailure('repository cache sweep failed'));
  }

  private logFailure(otherwise: string): (error: unknown) => void {
    return (error) => this.log.fault(otherwise, error);
  }
}
