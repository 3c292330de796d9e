/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again.
 */
export type RunState = 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/**
 * A run that was dispatched to a factory; from here on it is a run like any other.
 */
export interface FactoryDispatchResponse {
  /**
   * The factory.
   */
  factory_uid: string;
  /**
   * UUIDv7 of the run.
   */
  run_id: string;
  state: RunState;
  /**
   * The ticket's reference, as it was given; empty where none was.
   */
  ticket_ref: string;
  /**
   * Page of the run.
   */
  run_url: string;
  /**
   * Always empty: factories here have no agent that distributes work.
   */
  foreman_agent: string;
  /**
   * JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too.
   */
  ignored?: string[];
  [k: string]: unknown;
}
