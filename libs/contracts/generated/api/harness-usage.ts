/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a harness itself has measured of a run: nothing here, where tokens are counted whichever the harness (request_usage of the run).
 */
export interface HarnessUsage {
  /**
   * Always false.
   */
  available: boolean;
  /**
   * Conversation of the run.
   */
  conversation_id: string;
  /**
   * The run.
   */
  run_id: string;
  [k: string]: unknown;
}
