/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A run that was found by what it is about.
 */
export interface RunReference {
  /**
   * UUIDv7 of the run.
   */
  run_id: string;
  [k: string]: unknown;
}
