/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
