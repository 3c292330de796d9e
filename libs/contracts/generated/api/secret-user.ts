/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What would break without a secret.
 */
export interface SecretUser {
  /**
   * `factory`: its source, or the defaults of its runs.
   */
  kind: 'webhook' | 'automation' | 'environment' | 'factory';
  /**
   * The factory it is in, or is.
   */
  factory_uid: string;
  /**
   * Its permanent name.
   */
  slug: string;
  /**
   * UID of a webhook; absent for anything else.
   */
  webhook_uid?: string;
  [k: string]: unknown;
}
