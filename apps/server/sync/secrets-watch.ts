/**
 * Step 0 of a pass: moves webhooks to the newest versions of their secrets, first and again while the pass takes long.
 * contract §9.
 */
import type { Rebinding } from '#reconcile';
import { FenceLostError } from '../store/database/store-errors.ts';

/** Milliseconds between two polls: a rotated secret takes effect even while a git fetch hangs. */
const POLL_MS = 1_000;

export interface SecretsWatchSteps {
  /** Moves webhooks in the store. Rejects with FenceLostError where another replica has the factory. */
  rebind(): Promise<Rebinding[]>;
  publish(): Promise<void>;
  report(fault: unknown): void;
}

/** A fault keeps what the webhooks have, and keeps nothing else from being done. */
export class SecretsWatch {
  readonly moved: Rebinding[] = [];
  private readonly steps: SecretsWatchSteps;
  private polling = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private fault: unknown;
  private isReported = false;

  constructor(steps: SecretsWatchSteps) {
    this.steps = steps;
  }

  /** Whether the last poll failed. */
  get areUnavailable(): boolean {
    return this.fault !== undefined;
  }

  /** Polls once, and from now on. Throws nothing but FenceLostError. */
  async start(): Promise<void> {
    await this.poll();
    this.timer = setInterval(() => void (this.polling = this.polling.then(() => this.pollAgain())), POLL_MS);
  }

  /** Stops polling, and waits for a poll that is under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
  }

  /** A lost lease ends the pass by its next write, or by the lease's own renewal: there is nothing to add. */
  private async pollAgain(): Promise<void> {
    await this.poll().catch(() => clearInterval(this.timer));
  }

  private async poll(): Promise<void> {
    try {
      const moved = await this.steps.rebind();
      this.moved.push(...moved);
      if (moved.length > 0) await this.steps.publish();
      this.fault = undefined;
    } catch (error) {
      if (error instanceof FenceLostError) throw error;
      this.fault = error ?? new Error('nothing was said of it');
      this.reportOnce(error);
    }
  }

  /** Once for each pass, or an outage would log every second. */
  private reportOnce(fault: unknown): void {
    if (!this.isReported) this.steps.report(fault);
    this.isReported = true;
  }
}
