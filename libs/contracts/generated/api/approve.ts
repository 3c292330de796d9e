/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Approves the deletions of one plan.
 */
export interface PlanApproval {
  /**
   * Digest of the held deletions, as a sync or a plan shows it.
   */
  plan: string;
  [k: string]: unknown;
}
