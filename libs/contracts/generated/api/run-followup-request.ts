/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Steers or continues a run.
 */
export interface RunFollowupRequest {
  /**
   * What to tell the agent.
   */
  message: string;
  mode?: 'normal' | 'plan' | 'orchestrate';
  [k: string]: unknown;
}
