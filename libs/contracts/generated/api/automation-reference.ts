/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An automation, as other resources refer to it.
 */
export interface AutomationReference {
  /**
   * Identifier, `auto_` and 26 characters.
   */
  uid: string;
  /**
   * Permanent name inside the factory.
   */
  slug: string;
  /**
   * Label for people.
   */
  name: string;
  /**
   * Whether its triggers start anything.
   */
  enabled: boolean;
  [k: string]: unknown;
}
