/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Whether the automation would start, and which of the two checks decided. Never shows a value of the payload.
 */
export interface FilterTestResult {
  /**
   * Both checks have to pass.
   */
  result: 'Would trigger' | 'Would not trigger';
  /**
   * Whether the trigger selects the webhook. Passes where no webhook_uids are given.
   */
  webhook_check: {
    /**
     * Outcome.
     */
    passed: boolean;
    /**
     * Why it did not pass.
     */
    reason?: string;
    [k: string]: unknown;
  };
  /**
   * Whether the payload satisfies the filter.
   */
  payload_check: {
    /**
     * Outcome.
     */
    passed: boolean;
    /**
     * First key of the filter that fails, as a JSON pointer of field names; empty for the root.
     */
    failed_pointer?: string;
    /**
     * What that key asks for; `nested`: an object, or an array with an element that fits.
     */
    operator?: 'in' | 'not_in' | 'exists' | 'nested';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
