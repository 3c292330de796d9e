/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Sets a managed secret's value, its grants, or both.
 */
export interface SecretPut {
  /**
   * The exact text of the secret; never shown again.
   */
  value?: string;
  /**
   * Who may use it for what.
   */
  grants?: {
    /**
     * * or factory UIDs.
     */
    factories?: '*' | string[];
    uses?: ('webhook' | 'run' | 'git' | 'forge')[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
