/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * One turn: what was asked of the agent, and what it said.
 */
export interface ConversationStep {
  /**
   * The execution, or the first follow-up that it took later; of what still waits for one, the run or the follow-up.
   */
  id: string;
  /**
   * Run that the turn belongs to.
   */
  run_id: string;
  /**
   * In order.
   */
  messages: ConversationMessage[];
  /**
   * Work inside this turn; always empty here.
   */
  steps: {
    [k: string]: unknown;
  }[];
  /**
   * When the agent started; absent while the turn waits.
   */
  started_at?: string;
  /**
   * When the turn ended; absent until then.
   */
  completed_at?: string;
  [k: string]: unknown;
}
/**
 * One message of a turn.
 */
export interface ConversationMessage {
  /**
   * Who said it.
   */
  role: 'user' | 'assistant';
  /**
   * Pieces of the message.
   */
  content: {
    /**
     * Kind of content.
     */
    type: 'text';
    /**
     * What was said.
     */
    text: string;
    [k: string]: unknown;
  }[];
  /**
   * When it was said.
   */
  timestamp: string;
  [k: string]: unknown;
}
