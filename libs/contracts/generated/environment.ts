/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Managed secrets of every run in this environment.
 *
 * @maxItems 100
 */
export type Secrets = {
  /**
   * Name of the managed secret; it becomes the variable's name.
   */
  name: string;
  /**
   * Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox.
   */
  host?: string;
  /**
   * Header that carries it: Authorization (the scheme is Bearer unless it stands behind a colon: "Authorization: Basic"), or any other, for example PRIVATE-TOKEN.
   */
  header?: string;
  /**
   * Methods of the requests; GET and HEAD unless said.
   *
   * @minItems 1
   * @maxItems 10
   */
  methods?: ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
  /**
   * Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything.
   *
   * @minItems 1
   * @maxItems 20
   */
  paths?: string[];
  /**
   * Where it is inside the sandbox: env, as a variable. Whatever runs there can take it along.
   */
  expose?: 'env';
}[];
/**
 * Rules of trust that this file breaks on purpose, each with a reason and a last day.
 *
 * @maxItems 20
 */
export type Trust = {
  /**
   * ID of the rule, for example trust-no-budget.
   */
  accept: string;
  /**
   * Why it is in order here.
   */
  reason: string;
  /**
   * The last day it holds; then the rule warns again.
   */
  until: string;
  /**
   * Who has approved it: needed for trust-exposed-run.
   */
  approvedBy?: {
    /**
     * The person.
     */
    name: string;
    /**
     * What entitles them.
     */
    role: 'admin' | 'manager';
  };
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
  trust?: Trust;
  /**
   * What the environment is for.
   */
  description?: string;
}
