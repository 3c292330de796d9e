/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Where a page moves to: nowhere, here.
 */
export interface RedirectProbe {
  [k: string]: unknown;
}
