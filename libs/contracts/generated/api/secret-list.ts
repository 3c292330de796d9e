/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A page of managed secrets in order of their names.
 */
export interface SecretList {
  /**
   * The secrets of this page.
   */
  secrets: Secret[];
  page_info: PageInfo;
  [k: string]: unknown;
}
/**
 * A managed secret without its value, which nobody can see again.
 */
export interface Secret {
  /**
   * Name by which definitions refer to it.
   */
  name: string;
  /**
   * `team`, or the UID of the factory that it belongs to.
   */
  owner: string;
  /**
   * Who may use it for what; to everybody else it does not exist.
   */
  grants: {
    /**
     * `*` for all, or UIDs of factories.
     */
    factories: '*' | string[];
    /**
     * What it may be used for.
     */
    uses: ('webhook' | 'run' | 'git' | 'forge')[];
    /**
     * Which runs, where `uses` has them: `files`, those for which a file of the factory names it; `*`, also those whose request does; or only those of these automations (`automation/<slug>`) and environments (`environment/<slug>`).
     */
    runs?: ('files' | '*') | string[];
    /**
     * Where its value may go; absent: no host yet, the first one that it is sent to is its host from then on.
     */
    hosts?: '*' | string[];
    [k: string]: unknown;
  };
  /**
   * How often its value was set; 0 while it was only declared.
   */
  version: number;
  /**
   * Whether it has a value.
   */
  set: boolean;
  /**
   * Whether its value may serve in `url_token` mode.
   */
  url_safe: boolean;
  /**
   * When value or grants last changed.
   */
  updated_at: string;
  /**
   * What would break without it.
   */
  used_by: SecretUser[];
  [k: string]: unknown;
}
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
/**
 * Whether a list goes on, and where.
 */
export interface PageInfo {
  /**
   * Whether there are further entries.
   */
  has_next_page: boolean;
  /**
   * Opaque position to ask for as `cursor`, with otherwise the same query; only while there are further entries.
   */
  next_cursor?: string;
  [k: string]: unknown;
}
