/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Approves held deletions, a rewritten history, or what runs could do more, by their digest.
 */
export interface PlanApproval {
  /**
   * Digest of what is held now, as a sync shows it.
   */
  plan: string;
  [k: string]: unknown;
}
