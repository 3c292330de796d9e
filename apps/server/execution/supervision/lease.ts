/**
 * The lease of one execution: renewed while it is ours, and given up in time where it cannot be. explanation: Engine.
 */
import { isWithinLeaseMargin, type SupervisionState } from '#runs';
import type { Log } from '../../process/log.ts';
import type { Claim, RunStore } from '../../store/runs/runs.ts';

export interface LeaseDeps {
  run: Claim;
  runs: Pick<RunStore, 'renew'>;
  leaseMs: number;
  /** Monotonic time at which the claim was asked for: the lease may count from then on. */
  claimedAtMs: number;
  log: Log;
  /** The store says that the run is ours no longer. */
  onLost(): void;
  /** Somebody wants the run cancelled; said again at each renewal. */
  onCancelRequested(): void;
  /** Somebody wants the turn of its agent ended; said again at each renewal until its agent is told something new. */
  onInterruptRequested(interruptId: string): void;
}

export class Lease {
  private readonly deps: LeaseDeps;
  /** Monotonic time from which on the lease certainly holds. */
  private renewedAtMs: number;
  private renewing: Promise<void> | undefined;

  constructor(deps: LeaseDeps) {
    this.deps = deps;
    this.renewedAtMs = deps.claimedAtMs;
  }

  /**
   * Whether what runs of the execution may go on: another process may take the run over when the lease is out, and must
   * find nothing.
   */
  isSafe(): boolean {
    return isWithinLeaseMargin(performance.now() - this.renewedAtMs, this.deps.leaseMs);
  }

  /**
   * A service that stops waits for its database as long as the run is safely its own; then whoever takes the run over
   * decides.
   */
  hasDrainTimedOut({ draining }: SupervisionState): boolean {
    if (draining === undefined) return false;
    return (
      draining.urgent || !isWithinLeaseMargin(performance.now() - draining.sinceMs, this.deps.leaseMs) || !this.isSafe()
    );
  }

  /** Renews it, unless a renewal is under way. */
  renew(): void {
    this.renewing ??= this.attempt().finally(() => {
      this.renewing = undefined;
    });
  }

  private async attempt(): Promise<void> {
    const { run, runs, leaseMs, log, onLost, onCancelRequested, onInterruptRequested } = this.deps;
    const askedAtMs = performance.now();
    try {
      const renewed = await runs.renew(run, leaseMs);
      if (renewed === undefined) return onLost();
      this.renewedAtMs = askedAtMs;
      // Not waited for: a command that takes its time to end is still ours, and its lease is to be renewed.
      if (renewed.cancelRequested) onCancelRequested();
      else if (renewed.interruptId !== undefined) onInterruptRequested(renewed.interruptId);
    } catch (error) {
      log.fault('lease renewal failed', error, { run_id: run.runId });
    }
  }
}
