/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes a factory's label, where its definitions come from, or both.
 */
export interface FactoryPatch {
  /**
   * Label.
   */
  name?: string;
  /**
   * A git repository, or a directory of the server.
   */
  source?: {
    kind: 'git' | 'directory';
    /**
     * https or ssh address.
     */
    url?: string;
    /**
     * Branch; by default the remote's.
     */
    branch?: string;
    /**
     * Folder of the repository, or the directory.
     */
    path?: string;
    /**
     * Seconds between looks.
     */
    interval?: number;
    credential_secret?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
