/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a run has used up, as far as its harness tells.
 */
export interface RequestUsage {
  /**
   * Cost of inference, as the agent tells it; a number without a currency where it told several.
   */
  inference_cost?: number;
  /**
   * Cost of compute.
   */
  compute_cost?: number;
  /**
   * Currency of inference_cost, as the agent names it: ISO 4217, or credits and the like.
   */
  currency?: string;
  /**
   * Tokens of all models, over all executions. A lower bound where an agent tells only how full its context is.
   */
  total_tokens?: number;
  [k: string]: unknown;
}
