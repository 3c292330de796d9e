/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again.
 */
export type RunState = 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/**
 * Entries of a run's log in order.
 */
export interface RunEventList {
  /**
   * In order; an empty list when there is nothing new.
   */
  events: RunEvent[];
  [k: string]: unknown;
}
/**
 * One entry of a run's log.
 */
export interface RunEvent {
  /**
   * Place in the log of the run, from 1 on without gaps.
   */
  seq: number;
  /**
   * stdout, stderr: what a command wrote. message, thought: what an agent said, and what it said to itself. tool_call, tool_call_update: what it did. plan, usage: what it means to do, and what it has used. permission: what it asks permission for, and what came of that. status: what became of the run.
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
   * stdout, stderr, message, thought: text. status: text, or state and message. tool_call, tool_call_update, plan, usage, permission: their members.
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
    /**
     * Names the call in all of its events.
     */
    tool_call_id?: string;
    /**
     * What the call does, for people.
     */
    title?: string;
    /**
     * Kind of tool: read, edit, execute, search and the like.
     */
    tool_kind?: string;
    /**
     * Where the call stands: pending, in_progress, completed or failed.
     */
    status?: string;
    /**
     * What the tool was given, as JSON text; the middle of more than 4,096 characters is left out.
     */
    input?: string;
    /**
     * What the tool answered; the middle of more than 4,096 characters is left out.
     */
    output?: string;
    /**
     * Files that the call concerns.
     */
    paths?: string[];
    /**
     * Steps of a plan.
     *
     * Items: One step.
     */
    entries?: {
      /**
       * What is to be done.
       */
      content?: string;
      /**
       * high, medium or low.
       */
      priority?: string;
      /**
       * pending, in_progress or completed.
       */
      status?: string;
      [k: string]: unknown;
    }[];
    /**
     * Tokens that the session has used so far, where the agent tells it.
     */
    tokens?: number;
    /**
     * permission: the question, where people are asked.
     */
    permission_id?: string;
    /**
     * permission: answers that the agent offers.
     */
    options?: PermissionOption[];
    /**
     * permission: the option that was chosen; absent while nobody has, and where none was.
     */
    answer?: string;
    /**
     * permission: who decided: the UID of a principal, `policy`, or `service`.
     */
    by?: string;
    /**
     * Tokens in the context of the model now.
     */
    context_tokens?: number;
    /**
     * Tokens that the context can hold.
     */
    context_tokens_max?: number;
    /**
     * What the session has cost so far.
     */
    cost?: {
      /**
       * Amount.
       */
      amount?: number;
      /**
       * ISO 4217, or credits and the like.
       */
      currency?: string;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One answer that an agent offers.
 */
export interface PermissionOption {
  /**
   * Names the answer.
   */
  option_id: string;
  /**
   * The answer for people.
   */
  name: string;
  /**
   * What it does: allows or refuses, this once or from now on.
   */
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
  [k: string]: unknown;
}
