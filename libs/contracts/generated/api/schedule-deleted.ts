/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A schedule was deleted.
 */
export interface ScheduleDeleted {
  /**
   * true: it starts nothing any more.
   */
  success: boolean;
  [k: string]: unknown;
}
