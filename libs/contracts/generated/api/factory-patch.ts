/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes a factory's label, its source, or both; what is absent stays. Unknown members are refused.
 */
export interface FactoryPatch {
  /**
   * Label for people. The factory's own file decides it where that names one: then this is answered with 409.
   */
  name?: string;
  source?: FactorySource;
  sync_policy?: SyncPolicy;
  [k: string]: unknown;
}
/**
 * The whole new source; members that it leaves out are gone. UIDs and ingress URLs stay.
 */
export interface FactorySource {
  /**
   * `git`, `directory` or `dashboard`; the members below belong to git unless they say otherwise.
   */
  kind: 'git' | 'directory' | 'dashboard';
  /**
   * https or ssh address of the repository; required for git. Holds no user name and no password.
   */
  url?: string;
  /**
   * Branch; by default the one that the remote's HEAD names.
   */
  branch?: string;
  /**
   * Folder of the repository that is the factory's root (git), or the absolute path of the directory (directory; required there).
   */
  path?: string;
  /**
   * Seconds between looks; by default what the server is configured with.
   */
  interval?: number;
  /**
   * Name of the managed secret, granted for the use `git`, that the repository is read with.
   */
  credential_secret?: string;
  /**
   * Name of the managed secret, granted for the use `forge`, that push notices of the git host are proven with.
   */
  push_secret?: string;
  /**
   * What the repository is hosted by: its open pull requests are judged and answered with a status and a comment. Needs `forge_secret`. `gitea` is Forgejo, too.
   */
  forge?: 'github' | 'gitlab' | 'gitea';
  /**
   * Name of the managed secret, granted for the use `forge`, that holds the token for the interface of the forge.
   */
  forge_secret?: string;
  /**
   * ID or client ID of a GitHub App that is installed for the repository. `forge_secret` is its private key (PEM) then, and tokens of an hour are asked for with it.
   */
  forge_app?: string;
  /**
   * https address of the interface of the forge; by default derived from `url`.
   */
  forge_url?: string;
  /**
   * The repository as the forge names it, `owner/name`; by default derived from `url`.
   */
  forge_repository?: string;
}
/**
 * The whole new policy; members that it leaves out are gone.
 */
export interface SyncPolicy {
  /**
   * Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only.
   */
  verify_commits?: {
    /**
     * OpenSSH public keys (`ssh-ed25519 AAAA… comment`, one a string) and armoured OpenPGP public key blocks.
     *
     * @minItems 1
     * @maxItems 50
     */
    keys: string[];
  };
  /**
   * Whether a tip that does not descend from the one before waits for an approval. Without it such a tip applies, and the condition HistoryRewritten says so. Git sources only.
   */
  fast_forward_only?: boolean;
  /**
   * Who has to approve a revision with which runs could do more than before: read what wider circles write, have a new secret, host, repository, tool or effect, or more budget. Without it such a revision applies, and plans show what grows.
   */
  growth_approval?: 'manager' | 'admin';
  /**
   * When definitions may apply, in UTC; secrets are always taken over. Inside of a `deny` window nothing applies; with `allow` windows, nothing applies outside of all of them.
   *
   * @maxItems 20
   */
  windows?: {
    /**
     * `allow` or `deny`.
     */
    kind: 'allow' | 'deny';
    /**
     * When it opens: five cron fields, in UTC.
     */
    schedule: string;
    /**
     * How long it stays open.
     */
    duration_minutes: number;
  }[];
}
