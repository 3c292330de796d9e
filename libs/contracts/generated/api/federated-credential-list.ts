/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Federated credentials, newest first.
 */
export interface FederatedCredentialList {
  /**
   * All of them: there are a hundred at most.
   */
  federated_credentials: FederatedCredential[];
  [k: string]: unknown;
}
/**
 * Whose tokens are exchanged for keys that last ten minutes, and what those keys may do.
 */
export interface FederatedCredential {
  /**
   * Its identifier.
   */
  id: string;
  /**
   * What it is for, in its maker's words.
   */
  name: string;
  /**
   * The issuer as its tokens name it.
   */
  issuer: string;
  /**
   * Whom a token has to be made for.
   */
  audience: string;
  /**
   * What a token has to say: each claim with the values that are allowed for it.
   */
  claims: {
    [k: string]: string[];
  };
  /**
   * What its keys may do.
   */
  role: 'viewer' | 'operator' | 'manager';
  /**
   * UIDs of the only factories that its keys may see; null: all of them, also later ones.
   */
  factories: string[] | null;
  principal: Principal;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * UID of the principal that made it.
   */
  created_by: string | null;
  /**
   * When it was last changed.
   */
  updated_at: string;
  /**
   * When a token was last exchanged by it; null: never.
   */
  last_used_at: string | null;
  [k: string]: unknown;
}
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
