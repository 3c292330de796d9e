/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a factory's own file says of the agents of its runs; the members that published clients ask for are there in any case.
 */
export interface FactoryAgentDefaults {
  /**
   * Language model.
   */
  model_id?: string;
  /**
   * Shapes the agent's behaviour.
   */
  base_prompt?: string;
  /**
   * Environment: its UID, or the name of one of the factory's.
   */
  environment_id?: string;
  /**
   * Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory.
   */
  skill_spec?: string;
  /**
   * MCP servers by name; a level's servers replace those of the levels below it.
   */
  mcp_servers: {
    [k: string]: MCPServerConfig;
  };
  harness?: AgentHarness;
  /**
   * Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said.
   */
  idle_timeout_minutes?: number;
  /**
   * Managed secrets of its runs.
   */
  secrets: {
    /**
     * Name of a managed secret that is granted for runs.
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
   * Always empty: a run asks for its machine itself.
   */
  worker_host: '';
  /**
   * Always empty: there are no runners here.
   */
  default_runner_uid: '';
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
/**
 * Program that drives the agent.
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
