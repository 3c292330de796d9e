/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A follow-up that was stored.
 */
export interface RunFollowupResponse {
  /**
   * UUIDv7 of the follow-up.
   */
  followup_id: string;
  /**
   * Where it goes: joined to the prompt that waits (queued_prompt), to the agent when it has ended its turn, or to the next execution (queue_pending), to the agent at once, or as the answer to what it asks permission for (live_session), or into a new execution of the ended run (handoff_execution).
   */
  outcome: 'queued_prompt' | 'queue_pending' | 'live_session' | 'handoff_execution';
  /**
   * JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too.
   */
  ignored?: string[];
  [k: string]: unknown;
}
