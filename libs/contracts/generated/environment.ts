/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Managed secrets that every run in this environment receives as environment variables.
 *
 * @maxItems 100
 */
export type Secrets = {
  /**
   * Name of the managed secret; it becomes the variable's name.
   */
  name: string;
}[];

/**
 * environments/<name>.yaml: what a run finds in its workspace.
 */
export interface EnvironmentFile {
  /**
   * Container image the run starts in.
   */
  dockerImage?: string;
  /**
   * Repositories that are checked out, each into a folder of its name: owner/name, an https or ssh URL, or a mapping.
   *
   * @maxItems 50
   */
  repositories?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  /**
   * Commands run in order, inside the sandbox, before the agent starts.
   *
   * @maxItems 100
   */
  setupCommands?: string[];
  secrets?: Secrets;
  /**
   * What the environment is for.
   */
  description?: string;
}
