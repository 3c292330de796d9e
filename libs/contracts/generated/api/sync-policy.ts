/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What is asked of commits before they may apply, and when they may. It stands here and not in the repository, so that who may commit may not decide it. Empty: nothing is asked.
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
