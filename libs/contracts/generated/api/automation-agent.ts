/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How an automation wants its agent to run, before what factory and server say.
 */
export interface AutomationAgent {
  /**
   * Language model.
   */
  model_id?: string;
  /**
   * Text put before every prompt.
   */
  base_prompt?: string;
  /**
   * Environment of the run.
   */
  environment_id?: string;
  /**
   * Skill used as base prompt: `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory.
   */
  skill_spec?: string;
  /**
   * MCP servers that the agent may use, by name: `command`, `args`, `env`, or `url`, `headers`.
   */
  mcp_servers?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
  /**
   * The program that carries out the run.
   */
  harness?: {
    /**
     * Harness as the server’s operator configured it.
     */
    type?: string;
    /**
     * Model inside this harness; wins over `model_id`.
     */
    model_id?: string;
    /**
     * How long the model may think, in the harness’s own words.
     */
    reasoning_level?: string;
    [k: string]: unknown;
  };
  /**
   * Managed secrets of the run: added outside of its sandbox, or inside as environment variables.
   *
   * @maxItems 100
   */
  secrets?: {
    /**
     * Name of the managed secret; it becomes the variable’s name.
     */
    name: string;
    /**
     * Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox.
     */
    host?: string;
    /**
     * Header that carries it, with a scheme behind a colon where it is not Bearer.
     */
    header?: string;
    /**
     * Methods of the requests; GET and HEAD unless said.
     *
     * @maxItems 10
     */
    methods?: ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
    /**
     * Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything.
     *
     * @maxItems 20
     */
    paths?: string[];
    /**
     * env: it is inside the sandbox, as a variable.
     */
    expose?: 'env';
    [k: string]: unknown;
  }[];
  /**
   * Minutes that an agent which has nothing to do keeps waiting for follow-ups.
   */
  idle_timeout_minutes?: number;
  [k: string]: unknown;
}
