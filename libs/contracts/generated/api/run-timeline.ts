/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What happened to a run, oldest first.
 */
export interface RunTimeline {
  /**
   * Oldest first; of a run with more than 1,000 executions or 1,000 follow-ups the latest of each.
   */
  events: TimelineEvent[];
  [k: string]: unknown;
}
/**
 * One thing that happened to a run.
 */
export interface TimelineEvent {
  /**
   * Identifies the event; the same at every look.
   */
  event_uuid: string;
  /**
   * What happened: it was created, claimed by an execution, its workspace is prepared, its agent started; it got a follow-up, somebody asked to cancel it, its execution was lost and taken over; it was done, failed, errored or was cancelled.
   */
  event_type:
    | 'run_created'
    | 'run_claimed'
    | 'workspace_preparing'
    | 'agent_started'
    | 'run_followup'
    | 'run_cancel_requested'
    | 'run_taken_over'
    | 'run_handed_over'
    | 'run_done'
    | 'run_failed'
    | 'run_errored'
    | 'run_cancelled';
  /**
   * When it happened.
   */
  occurred_at: string;
  /**
   * The run.
   */
  run_id: string;
  /**
   * Execution that it is about.
   */
  execution_id?: string;
  /**
   * Details: source of a creation; epoch of a claim; followup_id and outcome of a follow-up.
   */
  payload?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
