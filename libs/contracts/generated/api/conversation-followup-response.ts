/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A follow-up that was stored, and the run that has it.
 */
export interface ConversationFollowupResponse {
  /**
   * The run.
   */
  run_id: string;
  /**
   * UUIDv7 of the follow-up.
   */
  followup_id: string;
  /**
   * Where it goes; as of a follow-up to a run.
   */
  outcome: 'queued_prompt' | 'queue_pending' | 'live_session' | 'handoff_execution';
  /**
   * JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too.
   */
  ignored?: string[];
  [k: string]: unknown;
}
