/**
 * A webhook's rate slots: 60 authenticated deliveries a minute, as a row that survives restarts. spec: Limits; contract
 * §5.6 (Slots).
 */
import { DELIVERIES_PER_MINUTE_MAX } from './limits.ts';
import { tryAcquire, type RateLimitResult } from './windows.ts';

/**
 * Takes a slot at `nowMs` (database time). At most 60 timestamps come back. The caller stores the window with the
 * delivery, or not at all.
 */
export function takeSlot(window: readonly number[], nowMs: number): RateLimitResult {
  return tryAcquire(window, nowMs, DELIVERIES_PER_MINUTE_MAX);
}
