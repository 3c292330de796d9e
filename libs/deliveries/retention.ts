/** Which log entries may be pruned. spec: Delivery log retention; contract 5 (Log). */
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
      return 'rejected';
  }
}

/** Entries received at or after this time are kept. Milliseconds. */
export function retentionCutoffMs(nowMs: number): number {
  return nowMs - RETAINED_DAYS_MIN * DAY_MS;
}
