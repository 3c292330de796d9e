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
   * Managed secrets that the run receives as environment variables.
   *
   * @maxItems 100
   */
  secrets?: {
    /**
     * Name of the managed secret; it becomes the variable’s name.
     */
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * Minutes that an agent which has nothing to do keeps waiting for follow-ups.
   */
  idle_timeout_minutes?: number;
  [k: string]: unknown;
}
