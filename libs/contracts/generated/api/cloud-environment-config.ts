/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What an environment file says.
 */
export interface CloudEnvironmentConfig {
  /**
   * Name of the environment.
   */
  name: string;
  /**
   * What it is for; null when the file does not say.
   */
  description: string | null;
  /**
   * Image that runs start from.
   */
  docker_image?: string;
  /**
   * Repositories that are cloned.
   */
  github_repos: {
    /**
     * Owner of the repository.
     */
    owner: string;
    /**
     * Name of the repository.
     */
    repo: string;
    [k: string]: unknown;
  }[];
  /**
   * Commands that set it up.
   */
  setup_commands: string[];
  [k: string]: unknown;
}
