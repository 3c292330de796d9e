/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again.
 */
export type RunState = 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/**
 * One entry of a run's log.
 */
export interface RunEvent {
  /**
   * Place in the log of the run, from 1 on without gaps.
   */
  seq: number;
  /**
   * stdout, stderr: what the command wrote. status: what became of it.
   */
  event_type: string;
  /**
   * When it was written.
   */
  occurred_at: string;
  /**
   * The run.
   */
  run_id: string;
  /**
   * Execution that it belongs to; absent where there was none.
   */
  execution_id?: string;
  /**
   * stdout, stderr: text. status: text, or state and message.
   */
  payload: {
    /**
     * What was written.
     */
    text?: string;
    state?: RunState;
    /**
     * Why it is in that state.
     */
    message?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
