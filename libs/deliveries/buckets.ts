/**
 * A caller's requests as a bucket that refills evenly: one number a caller, whatever the rate. contract §3.10 (429).
 */
import { RATE_WINDOW_MS } from './limits.ts';

export interface Draw {
  /** Whether there was a request left. */
  ok: boolean;
  /** When the bucket is full again (milliseconds): all that has to be kept of it. */
  fullAtMs: number;
  /** Whole requests that are left. */
  remaining: number;
  /** Seconds until it is full, rounded up. */
  resetSeconds: number;
  /** Seconds until there is a request again, at least 1; 0 when there was one. */
  retryAfterSeconds: number;
}

/**
 * Takes one request out of a bucket of `perMinute` (at least 1) at `nowMs`. `fullAtMs`: what an earlier draw answered;
 * undefined: never drawn from. A caller that was silent for a minute may send `perMinute` at once, and then as many as
 * flow back. A clock that went backwards by more than a minute leaves it full, by less at worst empty: nobody waits
 * longer than without it.
 */
export function drawRequest(fullAtMs: number | undefined, nowMs: number, perMinute: number): Draw {
  const costMs = RATE_WINDOW_MS / perMinute;
  const aheadMs = Math.max(0, (fullAtMs ?? nowMs) - nowMs);
  const missingMs = aheadMs > RATE_WINDOW_MS + ROUNDING_MS ? 0 : Math.min(aheadMs, RATE_WINDOW_MS);
  const spareMs = RATE_WINDOW_MS - missingMs;
  const ok = spareMs >= costMs - ROUNDING_MS;
  const missingAfterMs = ok ? Math.min(RATE_WINDOW_MS, missingMs + costMs) : missingMs;
  return {
    ok,
    fullAtMs: nowMs + missingAfterMs,
    remaining: Math.floor((RATE_WINDOW_MS - missingAfterMs + ROUNDING_MS) / costMs),
    resetSeconds: Math.ceil(missingAfterMs / 1000),
    retryAfterSeconds: ok ? 0 : Math.max(1, Math.ceil((costMs - spareMs) / 1000)),
  };
}

/** Sums of fractions of a millisecond are off by less than this; a request more or less must not hang on it. */
const ROUNDING_MS = 0.001;
