/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A delivery in an explanation.
 */
export interface ExplainedDelivery {
  /**
   * Its entry in the log.
   */
  entry_id: string;
  /**
   * Its identity.
   */
  delivery_id: string;
  /**
   * What became of it.
   */
  outcome: 'Accepted' | 'Duplicate' | 'Rejected (auth)' | 'Rejected (invalid JSON)' | 'Rejected (too large)' | 'Throttled';
  /**
   * When it came.
   */
  received_at: string;
  /**
   * Deliveries that the entry stands for.
   */
  count: number;
  /**
   * Why it was refused; shown to managers only.
   */
  refused_because?: string;
  /**
   * Of a duplicate: the entry of the delivery that was accepted before it, where the log still has it.
   */
  duplicate_of: string | null;
  /**
   * The entry whose stored bytes were delivered again, where somebody asked for that.
   */
  resent_from?: string;
  [k: string]: unknown;
}
