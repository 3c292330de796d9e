/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An API key without its text, which nobody can see again.
 */
export interface ApiKey {
  /**
   * The key's identifier; says nothing about its text.
   */
  id: string;
  /**
   * What it is for, in its maker's words.
   */
  name: string;
  /**
   * What it may do, each role including those before it: `viewer` reads, `operator` starts and steers runs, `manager` manages a factory, `admin` everything.
   */
  role: 'viewer' | 'operator' | 'manager' | 'admin';
  principal: Principal;
  /**
   * UIDs of the only factories it may see; null: all of them, also later ones.
   */
  factories: string[] | null;
  /**
   * First characters of its text, to tell keys apart.
   */
  hint: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * UID of the principal that made it; null for the first one, which the service made itself.
   */
  created_by: string | null;
  /**
   * From when on it is refused; null: never.
   */
  expires_at: string | null;
  /**
   * Since when it is refused because somebody revoked it; null while it was not.
   */
  revoked_at: string | null;
  /**
   * When it was last used, exact to about a minute; null: never.
   */
  last_used_at: string | null;
  /**
   * The federated credential by which a token was exchanged for it; absent: somebody made it.
   */
  federated_credential_id?: string;
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
