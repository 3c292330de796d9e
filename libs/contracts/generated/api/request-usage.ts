/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a run has used up, as far as its harness tells.
 */
export interface RequestUsage {
  /**
   * Cost of inference.
   */
  inference_cost?: number;
  /**
   * Cost of compute.
   */
  compute_cost?: number;
  /**
   * Tokens of all models.
   */
  total_tokens?: number;
  [k: string]: unknown;
}
