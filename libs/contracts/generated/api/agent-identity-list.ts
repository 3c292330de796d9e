/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Agent identities.
 */
export interface AgentIdentityList {
  /**
   * Those that the key may see, in the order in which they were made.
   */
  agents: AgentIdentity[];
  [k: string]: unknown;
}
/**
 * An agent identity: defaults of the runs that name it.
 */
export interface AgentIdentity {
  /**
   * UUIDv7.
   */
  uid: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * Always true.
   */
  available: boolean;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was changed last.
   */
  updated_at: string;
  /**
   * What it is for.
   */
  description?: string;
  /**
   * A label.
   */
  agent_type?: string;
  /**
   * Factory that it belongs to.
   */
  factory_uid?: string;
  /**
   * Base prompt of its runs.
   */
  prompt?: string;
  /**
   * Model of its runs.
   */
  base_model?: string;
  /**
   * Type of its harness.
   */
  base_harness?: string;
  harness?: AgentHarness;
  /**
   * Environment of its runs.
   */
  environment_id?: string;
  /**
   * Machine that works on its runs.
   */
  worker_host?: string;
  /**
   * MCP servers of its runs, by name.
   */
  mcp_servers?: {
    [k: string]: MCPServerConfig;
  };
  /**
   * Skill of its runs.
   */
  skills: string[];
  /**
   * Managed secrets of its runs.
   */
  secrets: {
    /**
     * Name of the secret.
     */
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * Always empty: there are no runners.
   */
  default_runner_uid: string;
  /**
   * Nothing is remembered between runs.
   */
  memory: {
    /**
     * Always empty.
     */
    attached_stores: string[];
    /**
     * Always off.
     */
    auto_memory: {
      /**
       * Always false.
       */
      enabled: boolean;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Program that drives its agent.
 */
export interface AgentHarness {
  /**
   * Kind of harness; `command` is the operator's command.
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
}
/**
 * One MCP server: a command that is started beside the agent, or a URL; exactly one of the two.
 */
export interface MCPServerConfig {
  /**
   * A server that the hosted service keeps, in place of command and url; there are none here: it is ignored.
   */
  warp_id?: string;
  /**
   * Program to start beside the agent.
   */
  command?: string;
  /**
   * Its arguments.
   *
   * @maxItems 1000
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
}
