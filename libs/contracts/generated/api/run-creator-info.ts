/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Who created a run, or who works on it.
 */
export interface RunCreatorInfo {
  /**
   * A person or a program.
   */
  type: 'user' | 'service_account';
  /**
   * Stable identifier of the principal.
   */
  uid: string;
  /**
   * Name for people.
   */
  display_name: string;
  /**
   * Where the principal can be reached; null when that was not said.
   */
  email: string | null;
  [k: string]: unknown;
}
