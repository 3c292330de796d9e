/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again.
 */
export type RunState = 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/**
 * A run that was created.
 */
export interface RunAgentResponse {
  /**
   * UUIDv7 of the run.
   */
  run_id: string;
  /**
   * @deprecated
   * The same as run_id.
   */
  task_id: string;
  state: RunState;
  /**
   * Whether it has to wait: every place of this server is taken, or other runs wait before it.
   */
  at_capacity?: boolean;
  /**
   * JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too.
   */
  ignored?: string[];
  [k: string]: unknown;
}
