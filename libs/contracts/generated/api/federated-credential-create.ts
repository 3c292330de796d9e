/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Lets tokens of an issuer be exchanged for keys that last ten minutes.
 */
export interface FederatedCredentialCreate {
  /**
   * What it is for; also the name of the service account that its keys belong to.
   */
  name: string;
  /**
   * The issuer as its tokens name it (`iss`), byte for byte: an https URL without user, query or fragment. Its keys are found below it, at `/.well-known/openid-configuration`.
   */
  issuer: string;
  /**
   * Whom a token has to be made for (`aud`), and nobody else.
   */
  audience: string;
  /**
   * What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is.
   */
  claims: {
    /**
     * @minItems 1
     * @maxItems 32
     */
    [k: string]: string[];
  };
  /**
   * What its keys may do. Not `admin`: such a key could make one that lasts.
   */
  role: 'viewer' | 'operator' | 'manager';
  /**
   * UIDs of the only factories that its keys may see; absent: all of them.
   *
   * @minItems 1
   * @maxItems 1000
   */
  factories?: string[];
  [k: string]: unknown;
}
