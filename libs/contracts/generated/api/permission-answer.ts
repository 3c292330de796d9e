/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An answer to an agent that asks permission. Unknown members are ignored.
 */
export interface PermissionAnswer {
  /**
   * One of the options of the request.
   */
  option_id: string;
  [k: string]: unknown;
}
