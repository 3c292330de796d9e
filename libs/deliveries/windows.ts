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
  return { ok: false, waitMs, retryAfterSeconds: retryAfterSeconds(waitMs) };
}

/** Nearly always they are already. */
function ascending(times: number[]): number[] {
  return times.every((at, index) => index === 0 || (times[index - 1] ?? 0) <= at)
    ? times
    : times.toSorted((a, b) => a - b);
}

/** The same window in place, for what is asked at every request: nothing is copied, nothing is made anew. */
export class SlidingWindow {
  /** Ascending, at most `max`. Made of the first one, which is all that most keys have: an empty one grows to 17. */
  private times: number[] | undefined = undefined;
  private readonly max: number;

  /** `max`: 1 at least. */
  constructor(max: number) {
    this.max = max;
  }

  /** Takes a place at `nowMs` and answers 0; where there is none, milliseconds until one is free. As `tryAcquire`. */
  acquire(nowMs: number): number {
    const { times } = this;
    if (times === undefined) {
      this.times = [nowMs];
      return 0;
    }
    while (times.length > 0 && (times[0] as number) <= nowMs - RATE_WINDOW_MS) times.shift();
    // Times that a clock which went backwards has left far ahead.
    while (times.length > 0 && (times.at(-1) as number) > nowMs + RATE_WINDOW_MS) times.pop();
    if (times.length >= this.max) return (times[0] as number) + RATE_WINDOW_MS - nowMs;
    times.push(nowMs);
    for (let at = times.length - 1; at > 0 && (times[at - 1] as number) > nowMs; at -= 1)
      [times[at - 1], times[at]] = [nowMs, times[at - 1] as number];
    return 0;
  }
}

/** A wait as Retry-After announces it: whole seconds, at least one. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
