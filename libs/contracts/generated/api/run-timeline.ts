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
   * What happened, by the names that published clients know: the run was created, claimed by an execution, its workspace is prepared, its agent started; it was done, failed, errored or was cancelled. With `detail=all` also: it got a follow-up, somebody asked to interrupt or to cancel it, its execution was lost and taken over, or handed over by a service that stopped.
   */
  event_type:
    | 'oz_run_created'
    | 'oz_run_claimed'
    | 'worker_container_ready'
    | 'agent_started'
    | 'oz_run_done'
    | 'oz_run_failed'
    | 'oz_run_errored'
    | 'oz_run_cancelled'
    | 'run_followup'
    | 'run_interrupt_requested'
    | 'run_cancel_requested'
    | 'run_taken_over'
    | 'run_handed_over';
  /**
   * When it happened.
   */
  occurred_at: string;
  /**
   * The run.
   */
  run_id: string;
  /**
   * Details: source of a creation; execution_id of what is about an execution, and epoch of its claim; followup_id and outcome of a follow-up.
   */
  payload?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
