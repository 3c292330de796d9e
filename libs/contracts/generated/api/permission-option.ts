/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * One answer that an agent offers.
 */
export interface PermissionOption {
  /**
   * Names the answer.
   */
  option_id: string;
  /**
   * The answer for people.
   */
  name: string;
  /**
   * What it does: allows or refuses, this once or from now on.
   */
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
  [k: string]: unknown;
}
