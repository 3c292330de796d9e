/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Makes an API key.
 */
export interface ApiKeyCreate {
  /**
   * What it is for.
   */
  name: string;
  /**
   * What it may do; a key that is limited to factories cannot be `admin`.
   */
  role: 'viewer' | 'operator' | 'manager' | 'admin';
  /**
   * A new principal that the key belongs to. Without it and `principal_uid` the key belongs to whoever makes it.
   */
  principal?: {
    /**
     * Whether it is a person or a program.
     */
    type: 'user' | 'service_account';
    /**
     * Name for people.
     */
    display_name: string;
    /**
     * Where its owner can be reached.
     */
    email?: string;
    [k: string]: unknown;
  };
  /**
   * UID of an existing principal that the key belongs to; not together with `principal`.
   */
  principal_uid?: string;
  /**
   * UIDs of the only factories it may see; absent: all of them.
   *
   * @minItems 1
   * @maxItems 1000
   */
  factories?: string[];
  /**
   * From when on it is refused; in the future. Absent: never, unless `expires_in_days` says otherwise.
   */
  expires_at?: string;
  /**
   * The same as days from now; not together with `expires_at`.
   */
  expires_in_days?: number;
  [k: string]: unknown;
}
