/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Starts a run in a factory.
 */
export interface FactoryDispatchRequest {
  /**
   * What the agent has to do.
   */
  prompt: string;
  /**
   * Title.
   */
  title?: string;
  /**
   * AmbientAgentConfig: what the run says about its agent; everything else comes from automation, factory and server.
   */
  config?: {
    /**
     * Label for grouping and filtering.
     */
    name?: string;
    /**
     * Language model.
     */
    model_id?: string;
    /**
     * Shapes the agent's behaviour.
     */
    base_prompt?: string;
    /**
     * Environment.
     */
    environment_id?: string;
    /**
     * owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory.
     */
    skill_spec?: string;
    /**
     * MCP servers by name: each has exactly one of command and url.
     */
    mcp_servers?: {
      [k: string]: {
        /**
         * Program to start beside the agent.
         */
        command?: string;
        /**
         * Its arguments.
         */
        args?: string[];
        /**
         * Its environment variables.
         */
        env?: {
          [k: string]: string;
        };
        /**
         * Address of a server that is reached over HTTP.
         */
        url?: string;
        /**
         * Headers of each request.
         */
        headers?: {
          [k: string]: string;
        };
        [k: string]: unknown;
      };
    };
    harness?: {
      /**
       * Kind of harness.
       */
      type?: string;
      /**
       * Model of the harness.
       */
      model_id?: string;
      /**
       * Reasoning level.
       */
      reasoning_level?: string;
      [k: string]: unknown;
    };
    idle_timeout_minutes?: number;
    computer_use_enabled?: boolean;
    secrets?: {
      /**
       * Name of a managed secret granted for runs.
       */
      name: string;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  metadata?: {
    [k: string]: string;
  };
  /**
   * Reference of a ticket; at most 256 bytes, kept as metadata.
   */
  ticket_ref?: string;
  /**
   * Address of a ticket; at most 256 bytes, kept as metadata.
   */
  ticket_url?: string;
  [k: string]: unknown;
}
