/**
 * Counting over the minute that ends now: the arithmetic under rate slots, failure budgets and the refused log.
 * contract §5.2 (step 4).
 */
import { RATE_WINDOW_MS } from './limits.ts';

export type RateLimitResult =
  | { ok: true; window: number[] }
  /** `waitMs`: until a place is free, exactly; `retryAfterSeconds`: the same as it is announced. */
  | { ok: false; waitMs: number; retryAfterSeconds: number };

/**
 * Takes a place in a window of timestamps (milliseconds, any order) at `nowMs`, if fewer than `max` lie in (now − 60
 * s, now]. `retryAfterSeconds` = ceil(oldest + 60 s − now), at least 1. A clock that went backwards leaves timestamps
 * in the future: up to one window ahead they still count, farther ones are dropped, so that nobody waits longer than
 * two minutes because of it.
 */
export function tryAcquire(window: readonly number[], nowMs: number, max: number): RateLimitResult {
  const counted = window.filter((at) => at > nowMs - RATE_WINDOW_MS && at <= nowMs + RATE_WINDOW_MS);
  if (counted.length < max) {
    counted.push(nowMs);
    return { ok: true, window: ascending(counted) };
  }
  // With more than `max` counted (a lowered limit), a place is free only when all but max − 1 have left.
  const leaving = ascending(counted)[counted.length - max] ?? nowMs;
  const waitMs = leaving + RATE_WINDOW_MS - nowMs;
  return { ok: false, waitMs, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

/** Nearly always they are already. */
function ascending(times: number[]): number[] {
  return times.every((at, index) => index === 0 || (times[index - 1] ?? 0) <= at)
    ? times
    : times.toSorted((a, b) => a - b);
}
