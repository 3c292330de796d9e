/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Asks for a filter that takes some deliveries and leaves others.
 */
export interface FilterSuggestRequest {
  /**
   * Log entries of accepted deliveries that the filter shall take.
   *
   * @minItems 1
   * @maxItems 50
   *
   * Items: Log entry.
   */
  entry_ids: string[];
  /**
   * Log entries of accepted deliveries that it shall leave. Without this: the other ones among the newest 50 of the same webhooks.
   *
   * @maxItems 50
   *
   * Items: Log entry.
   */
  not_entry_ids?: string[];
  [k: string]: unknown;
}
