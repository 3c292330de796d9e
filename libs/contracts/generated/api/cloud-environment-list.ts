/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Environments of the factories that the key may see.
 */
export interface CloudEnvironmentList {
  /**
   * By their names; at most 1,000.
   */
  environments: CloudEnvironment[];
  [k: string]: unknown;
}
/**
 * An environment that runs can be started in.
 */
export interface CloudEnvironment {
  /**
   * What `environment_id` is set to.
   */
  uid: string;
  /**
   * Factory whose repository declares it.
   */
  factory_uid: string;
  config: CloudEnvironmentConfig;
  /**
   * When its file last changed here.
   */
  last_updated: string;
  /**
   * Whether the run of this environment that ended last failed while it was set up.
   */
  setup_failed: boolean;
  /**
   * When the run of this environment that ended last was created; null when none has.
   */
  last_task_run_timestamp: string | null;
  [k: string]: unknown;
}
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
