/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Sets a managed secret's value, its grants, or both. With neither it is declared: it exists and authenticates nobody.
 */
export interface SecretPut {
  /**
   * The exact text of the secret, Unicode of at most 65536 characters; never shown again.
   */
  value?: string;
  /**
   * Who may use it for what; what is not named stays as it is. By default all factories, for webhooks.
   */
  grants?: {
    /**
     * `*` for all, or UIDs of factories; a factory's own secret is always for that factory only.
     */
    factories?: '*' | string[];
    /**
     * `webhook` authenticates deliveries, `run` is a variable of runs, `git` reads the repository, `forge` verifies and answers its host.
     *
     * @maxItems 4
     */
    uses?: ('webhook' | 'run' | 'git' | 'forge')[];
    /**
     * Which runs, where `uses` has them. `files` (unless said): those for which a file of the factory names it (their automation, their environment or factory.yaml). `*`: also those whose request names it, and inside runs that a request starts, so that whoever may start runs can read it. A list: of the first, only runs of these automations and in these environments.
     */
    runs?: ('files' | '*') | string[];
    /**
     * Where its value may go: to git hosts, and by injections. Hosts (`example.com`, `*.example.com`, `example.com:8443`; without a port https and ssh); `*`: any; null: none yet, the first one that it is sent to is its host from then on.
     */
    hosts?: ('*' | null) | string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
