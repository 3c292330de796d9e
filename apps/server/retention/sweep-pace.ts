/** How much is removed at once, and how long is paused in between: a step holds nobody up for long, and sweeping takes a bounded share of the time. contract 5 (Log). */

/** Share of the time that is spent on removing while there is more: the rest is the service's. */
const SHARE = 0.25;
/** Weights of one transaction: where the commit takes most of the time, fewer rows would save none; a fast disk removes the most in a few milliseconds. */
const WEIGHT_MIN = 128;
const WEIGHT_MAX = 2_048;
/** Looking happens elsewhere, but there is one reader for all: others come in between. */
const LOOK_PAUSE_MS = 2;
/** A step that took very long says nothing of the next one. */
const PAUSE_MS_MAX = 2_000;

/** Learns from each step how large the next one is. */
export class SweepPace {
  /** How much the next transaction may remove. */
  weight = WEIGHT_MIN;
  private readonly stepMs: number;
  /** Pause after a look that found nothing, milliseconds. */
  readonly lookPauseMs = LOOK_PAUSE_MS;

  /** `stepMs`: what one transaction may take. */
  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  /** After a removal of this weight: answers the pause before the next one, milliseconds. */
  after(weight: number, tookMs: number): number {
    if (tookMs > this.stepMs) this.weight = Math.max(WEIGHT_MIN, Math.floor(this.weight / 2));
    else if (tookMs < this.stepMs / 2 && weight * 2 > this.weight) this.weight = Math.min(WEIGHT_MAX, this.weight * 2);
    return Math.min(PAUSE_MS_MAX, (tookMs * (1 - SHARE)) / SHARE);
  }
}
