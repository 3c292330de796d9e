/**
 * Step 0 of a pass: moves webhooks to the newest versions of their secrets, first and again while the pass takes long.
 * contract §9.
 */
import type { Rebinding } from '#reconcile';
import { FenceLostError } from '../store/database/store-errors.ts';

/** Poll interval, milliseconds: a rotated secret takes effect even while a git fetch hangs. */
const AGAIN_MS = 1_000;

export interface SecretsWatchSteps {
  /** Keeps the lease of the pass. */
  renew(): Promise<void>;
  /** Moves webhooks in the store. */
  rebind(): Promise<Rebinding[]>;
  publish(): Promise<void>;
  report(fault: unknown): void;
}

/** A fault keeps what the webhooks have, and keeps nothing else from being done. */
export class SecretsWatch {
  readonly moved: Rebinding[] = [];
  private readonly steps: SecretsWatchSteps;
  private looking = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private fault: unknown;
  private isReported = false;

  constructor(steps: SecretsWatchSteps) {
    this.steps = steps;
  }

  /** Whether the last look failed. */
  get areAway(): boolean {
    return this.fault !== undefined;
  }

  /** Looks once. Throws nothing but FenceLostError. */
  async begin(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void (this.looking = this.looking.then(() => this.again())), AGAIN_MS);
  }

  /** Ends it, and waits for a look that is under way. */
  async end(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private async again(): Promise<void> {
    try {
      await this.steps.renew();
      await this.look();
    } catch (error) {
      if (!(error instanceof FenceLostError)) this.tell(error); // what the pass writes next is refused then
    }
  }

  private async look(): Promise<void> {
    try {
      const moved = await this.steps.rebind();
      this.moved.push(...moved);
      if (moved.length > 0) await this.steps.publish();
      this.fault = undefined;
    } catch (error) {
      if (error instanceof FenceLostError) throw error;
      this.fault = error ?? new Error('nothing was said of it');
      this.tell(error);
    }
  }

  /** Reported once per pass, or an outage would log every second. */
  private tell(fault: unknown): void {
    if (!this.isReported) this.steps.report(fault);
    this.isReported = true;
  }
}
