/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What would break without a secret.
 */
export interface SecretUser {
  /**
   * `factory`: its source, or the defaults of its runs; `schedule`: one of its own; `agent_identity`: one whose runs would have it.
   */
  kind: 'webhook' | 'automation' | 'environment' | 'factory' | 'schedule' | 'agent_identity';
  /**
   * The factory it is in, or is.
   */
  factory_uid: string;
  /**
   * Its permanent name; of a schedule or an agent identity, the name that it has now.
   */
  slug: string;
  /**
   * UID of a webhook; absent for anything else.
   */
  webhook_uid?: string;
  /**
   * Identifier of a schedule or an agent identity; absent for anything else.
   */
  uid?: string;
  [k: string]: unknown;
}
