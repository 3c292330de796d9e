/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes a federated credential. Its issuer stays: make another one.
 */
export interface FederatedCredentialPatch {
  /**
   * What it is for.
   */
  name?: string;
  /**
   * Whom a token has to be made for (`aud`), and nobody else.
   */
  audience?: string;
  /**
   * What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is.
   */
  claims?: {
    /**
     * @minItems 1
     * @maxItems 32
     */
    [k: string]: string[];
  };
  /**
   * What its keys may do. Not `admin`: such a key could make one that lasts.
   */
  role?: 'viewer' | 'operator' | 'manager';
  /**
   * UIDs of the only factories that its keys may see; null: all of them.
   *
   * @minItems 1
   * @maxItems 1000
   */
  factories?: string[] | null;
  [k: string]: unknown;
}
