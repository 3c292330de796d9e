/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Approves held deletions, or a rewritten history, by their digest.
 */
export interface PlanApproval {
  /**
   * Digest of what is held, as a sync or a plan shows it.
   */
  plan: string;
  [k: string]: unknown;
}
