/**
 * Which log entries may be pruned, and until when anything old is kept. spec: Limits (Delivery log retention); contract
 * §5.9 (Log).
 */
import { RETAINED_DAYS_MIN } from './limits.ts';
import type { OutcomeKind } from './types.ts';

const DAY_MS = 86_400_000;

/** The latest 50 are counted apart for these two, so that a flood of refusals does not push accepted deliveries out. */
export type RetentionClass = 'accepted' | 'rejected';

export function retentionClass(outcome: OutcomeKind): RetentionClass {
  switch (outcome) {
    case 'accepted':
    case 'duplicate':
      return 'accepted';
    case 'rejectedAuth':
    case 'rejectedInvalidJson':
    case 'rejectedTooLarge':
    case 'throttled':
      return 'rejected';
  }
}

/** What is of this time or later is kept, where `days` of it are; of the delivery log, if not said. Milliseconds. */
export function retentionCutoffMs(nowMs: number, days = RETAINED_DAYS_MIN): number {
  return nowMs - days * DAY_MS;
}
