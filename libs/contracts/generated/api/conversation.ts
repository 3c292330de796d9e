/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What was said in a conversation, as far as the key may see its runs.
 */
export interface Conversation {
  /**
   * The conversation; the ID of the run that began it.
   */
  conversation_id: string;
  /**
   * In order: the runs of the conversation by their creation, the executions of each, the turns of each.
   */
  steps: ConversationStep[];
  page_info: PageInfo;
  [k: string]: unknown;
}
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
/**
 * Whether a list goes on, and where.
 */
export interface PageInfo {
  /**
   * Whether there are further entries.
   */
  has_next_page: boolean;
  /**
   * Opaque position to ask for as `cursor`, with otherwise the same query; only while there are further entries.
   */
  next_cursor?: string;
  [k: string]: unknown;
}
