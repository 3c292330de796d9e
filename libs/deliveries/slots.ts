/**
 * A webhook's rate slots: 60 authenticated deliveries a minute, in memory a ring that is changed in place, in the log
 * what survives restarts. spec: Limits; contract §5.6 (Slots).
 */
import { DELIVERIES_PER_MINUTE_MAX, RATE_WINDOW_MS } from './limits.ts';
import { retryAfterSeconds } from './windows.ts';

export type SlotResult =
  | { ok: true }
  /** `waitMs`: until a slot is free, exactly; `retryAfterSeconds`: the same as it is announced. */
  | { ok: false; waitMs: number; retryAfterSeconds: number };

export const SLOT_ACQUIRED: SlotResult = { ok: true };

/**
 * The times of the last 60 slots. A slot is free where fewer than 60 of them lie in (now − 60 s, now]; more than those
 * 60 need not be remembered, because the sixty-first is older than all of them. A clock that went backwards leaves
 * times in the future: up to one window ahead they still count, farther ones do not, so that nobody waits longer than
 * two minutes because of it.
 */
export class SlotRing {
  private readonly times: number[];
  /** Where the oldest stands, as long as the clock only went forwards. */
  private oldest = 0;

  /** `slotTimes`: those of the log, in any order, as they count at `nowMs`. */
  constructor(slotTimes: readonly number[] = [], nowMs = 0) {
    this.times = slotTimes
      .filter((at) => isSlotCounted(at, nowMs))
      .sort((a, b) => a - b)
      .slice(-DELIVERIES_PER_MINUTE_MAX);
  }

  /** Takes a slot at `nowMs` (database time), or none. `retryAfterSeconds`: rounded up, at least 1. */
  take(nowMs: number): SlotResult {
    const { times } = this;
    for (let step = 0; step < times.length; step += 1) {
      const at = (this.oldest + step) % times.length;
      if (isSlotCounted(times[at] as number, nowMs)) continue;
      times[at] = nowMs;
      this.oldest = (at + 1) % times.length;
      return SLOT_ACQUIRED;
    }
    if (times.length < DELIVERIES_PER_MINUTE_MAX) {
      times.push(nowMs);
      return SLOT_ACQUIRED;
    }
    const waitMs = Math.min(...times) + RATE_WINDOW_MS - nowMs;
    return { ok: false, waitMs, retryAfterSeconds: retryAfterSeconds(waitMs) };
  }

  /** Whether no slot counts: it may be forgotten. */
  isIdle(nowMs: number): boolean {
    return !this.times.some((at) => isSlotCounted(at, nowMs));
  }
}

/** Whether a slot that was taken `at` a time is one of the sixty of a minute. */
export function isSlotCounted(at: number, nowMs: number): boolean {
  return at > nowMs - RATE_WINDOW_MS && at <= nowMs + RATE_WINDOW_MS;
}
