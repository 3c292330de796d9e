/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * One change: who made it, what, when, and from where.
 */
export interface AuditEntry {
  /**
   * The entry.
   */
  id: string;
  /**
   * When the change was made.
   */
  at: string;
  /**
   * Who made it.
   */
  principal: {
    /**
     * Stable identifier; `system` is the service itself: what it does at its start, and what it posts to a forge.
     */
    uid: string;
    /**
     * Name for people.
     */
    display_name: string;
    [k: string]: unknown;
  };
  /**
   * The API key that was used; null where none was.
   */
  key_id: string | null;
  /**
   * What was done, as `noun.verb`: `secret.change`, `api_key.revoke`.
   */
  action: string;
  /**
   * What it was done to: an identifier, or a secret's name.
   */
  subject: string;
  /**
   * The factory that it concerns; null where it concerns none, or all.
   */
  factory_uid: string | null;
  /**
   * Where the request came from: the client address as trusted proxies tell it.
   */
  address: string | null;
  /**
   * Further facts of this action, such as the new version; never a secret, a payload or a prompt.
   */
  details: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
