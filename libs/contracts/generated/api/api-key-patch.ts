/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes the label or the end of an API key that is in use; nothing else of a key can be changed, and a member that names something else is refused.
 */
export interface ApiKeyPatch {
  /**
   * What it is for.
   */
  name?: string;
  /**
   * From when on it is refused, in the future; null: never.
   */
  expires_at?: string | null;
  [k: string]: unknown;
}
