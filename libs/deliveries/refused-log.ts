/**
 * How many refused and throttled deliveries of a webhook get an entry of their own. contract §5.4 (Failed
 * authentication), §5.6 (Slots).
 */
import { RATE_WINDOW_MS, REFUSED_ENTRIES_PER_MINUTE_MAX } from './limits.ts';
import { SlidingWindow } from './windows.ts';

/**
 * `entry`: write an entry of its own. `begin-count`: write one counted entry, count 1. `add-to-count`: raise the count
 * of the counted entry begun last.
 */
export type RefusedLogAction = 'entry' | 'begin-count' | 'add-to-count';

/** What becomes of the throttled deliveries of one webhook in one process: one counted entry for each minute. */
export class ThrottledLogPolicy {
  /** When the counted entry that is still open was begun, milliseconds. */
  private countedSinceMs: number | undefined;

  /**
   * What to do with one more. A counted entry stands for at most one minute, so that the log shows when it happened.
   */
  next(nowMs: number): Exclude<RefusedLogAction, 'entry'> {
    if (this.isCounting(nowMs)) return 'add-to-count';
    this.countedSinceMs = nowMs;
    return 'begin-count';
  }

  /** The counted entry could not be written: the next one begins another. */
  endCount(): void {
    this.countedSinceMs = undefined;
  }

  /** Open for a minute from its beginning, in either direction of a clock that jumps. */
  private isCounting(nowMs: number): boolean {
    return this.countedSinceMs !== undefined && Math.abs(nowMs - this.countedSinceMs) < RATE_WINDOW_MS;
  }
}

/** What becomes of the refused deliveries of one webhook in one process: the first of a minute have their own. */
export class RefusedLogPolicy {
  private readonly entries = new SlidingWindow(REFUSED_ENTRIES_PER_MINUTE_MAX);
  private readonly counted = new ThrottledLogPolicy();

  /** What to do with one more. */
  next(nowMs: number): RefusedLogAction {
    return this.entries.acquire(nowMs) === 0 ? 'entry' : this.counted.next(nowMs);
  }

  /** The counted entry could not be written: the next one begins another. */
  endCount(): void {
    this.counted.endCount();
  }
}
