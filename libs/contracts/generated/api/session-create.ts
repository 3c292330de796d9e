/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Signs a browser in with an API key.
 */
export interface SessionCreate {
  /**
   * The key's text, `mw_…`.
   */
  api_key: string;
  [k: string]: unknown;
}
