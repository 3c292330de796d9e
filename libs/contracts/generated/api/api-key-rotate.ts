/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Replaces an API key by another one.
 */
export interface ApiKeyRotate {
  /**
   * How long the key of before lets its holder in beside the new one, at most until its own end; 0: not at all.
   */
  overlap_seconds?: number;
  [k: string]: unknown;
}
