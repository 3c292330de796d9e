/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Why a run is in its state.
 */
export interface RunStatusMessage {
  /**
   * One sentence for people.
   */
  message: string;
  /**
   * Code of an error, as in the problems of this interface; only of runs that ended badly.
   */
  error_code?: string;
  /**
   * Whether the same run may succeed when it is started again; only of runs that have ended.
   */
  retryable?: boolean;
  [k: string]: unknown;
}
