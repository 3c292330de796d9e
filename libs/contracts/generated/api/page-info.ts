/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
