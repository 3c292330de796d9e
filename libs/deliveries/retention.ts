/** Which log entries may be pruned. spec: Delivery log retention; contract 5 (Log). */
import { RETAINED_DAYS_MIN, RETAINED_ENTRIES_MIN } from './limits.ts';
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

/**
 * Only if older than 7 days, not among the latest 50 of its webhook and retention class, and needed by no run.
 * `newerInClass`: entries of the same webhook and class that come before it in the log.
 */
export function isPrunable(entry: { receivedAtMs: number; newerInClass: number; neededByRun: boolean }, nowMs: number): boolean {
  return entry.receivedAtMs < retentionCutoffMs(nowMs) && entry.newerInClass >= RETAINED_ENTRIES_MIN && !entry.neededByRun;
}
