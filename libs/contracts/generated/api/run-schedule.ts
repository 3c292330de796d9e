/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * The schedule that started a run.
 */
export interface RunSchedule {
  /**
   * Identifier of the schedule.
   */
  schedule_id: string;
  /**
   * Its name when the run was created; empty where it is not known.
   */
  schedule_name: string;
  /**
   * Its cron expression when the run was created; empty where it is not known.
   */
  cron_schedule: string;
  [k: string]: unknown;
}
