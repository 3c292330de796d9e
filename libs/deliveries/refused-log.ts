/** How many refused deliveries of a webhook get an entry of their own. contract §5.4 (Failed authentication). */
import { RATE_WINDOW_MS, REFUSED_ENTRIES_PER_MINUTE_MAX } from './limits.ts';
import { tryAcquire } from './windows.ts';

/** What is remembered per webhook and process; start with `NOTHING_REFUSED`. */
export interface RefusedLogState {
  window: readonly number[];
  /** When the counted entry that is still open was begun, milliseconds. */
  countedSinceMs?: number;
}

export const NOTHING_REFUSED: RefusedLogState = { window: [] };

/**
 * `entry`: write an entry of its own. `begin-count`: write one counted entry, count 1. `add-to-count`: raise the count
 * of the counted entry begun last. A counted entry stands for at most one minute, so that the log shows when it
 * happened.
 */
export type RefusedLogAction = 'entry' | 'begin-count' | 'add-to-count';

/** What to do with one more refused delivery of a webhook, and the state to keep for the next. */
export function refusedLogDecision(
  state: RefusedLogState,
  nowMs: number,
): { action: RefusedLogAction; state: RefusedLogState } {
  const acquired = tryAcquire(state.window, nowMs, REFUSED_ENTRIES_PER_MINUTE_MAX);
  if (acquired.ok) return { action: 'entry', state: { ...state, window: acquired.window } };
  if (isOpen(state, nowMs)) return { action: 'add-to-count', state };
  return { action: 'begin-count', state: { ...state, countedSinceMs: nowMs } };
}

/** Open for a minute from its beginning, in either direction of a clock that jumps. */
function isOpen({ countedSinceMs }: RefusedLogState, nowMs: number): boolean {
  return countedSinceMs !== undefined && Math.abs(nowMs - countedSinceMs) < RATE_WINDOW_MS;
}
