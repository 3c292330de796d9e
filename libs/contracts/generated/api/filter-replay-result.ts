/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What the newest accepted deliveries say of a trigger. Never shows a value of a payload.
 */
export interface FilterReplayResult {
  /**
   * Newest first.
   */
  deliveries: {
    /**
     * Log entry.
     */
    entry_id: string;
    /**
     * Where it came.
     */
    webhook_uid: string;
    /**
     * Identity of the delivery.
     */
    delivery_id: string;
    /**
     * When it came.
     */
    received_at: string;
    /**
     * `Undecided`: the stored payload cannot be read any more, or the work that one request may ask was spent before.
     */
    result: 'Would trigger' | 'Would not trigger' | 'Undecided';
    /**
     * Whether the payload satisfies the filter; absent where it was not asked.
     */
    payload_check?: {
      /**
       * Outcome.
       */
      passed: boolean;
      /**
       * First key of the filter that fails, as a JSON pointer of field names; empty for the root.
       */
      failed_pointer?: string;
      /**
       * What that key asks for.
       */
      operator?: 'in' | 'not_in' | 'exists' | 'nested';
      [k: string]: unknown;
    };
    [k: string]: unknown;
  }[];
  /**
   * How many would trigger.
   */
  would_trigger: number;
  /**
   * How many would not.
   */
  would_not_trigger: number;
  /**
   * How many nobody knows of.
   */
  undecided: number;
  [k: string]: unknown;
}
