/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Who acts: a person or a program.
 */
export interface Principal {
  /**
   * Stable identifier; `user_…` or `svc_…`.
   */
  uid: string;
  /**
   * Whether it is a person or a program.
   */
  type: 'user' | 'service_account';
  /**
   * Name for people.
   */
  display_name: string;
  /**
   * Where its owner can be reached; null when that was not said.
   */
  email: string | null;
  [k: string]: unknown;
}
