/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Approves the deletions of one plan.
 */
export interface PlanApproval {
  /**
   * Digest of the held plan.
   */
  plan: string;
  [k: string]: unknown;
}
