/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Makes an agent identity: defaults of the runs that name it. Unknown members are ignored.
 */
export interface AgentIdentityCreate {
  /**
   * Its name.
   */
  name: string;
  /**
   * Factory that it belongs to, and its runs with it.
   */
  factory_uid?: string | null;
  harness?: AgentHarness;
  /**
   * Skills of its runs.
   *
   * @maxItems 100
   */
  skills?: string[];
  /**
   * Managed secrets of its runs, by name; each as its grants allow.
   *
   * @maxItems 100
   */
  secrets?: {
    /**
     * Name of a managed secret.
     */
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * What it is for.
   */
  description?: string | null;
  /**
   * A label; it changes nothing.
   */
  agent_type?: 'FOREMAN' | 'TRIAGE' | 'SPEC' | 'IMPLEMENT' | 'REVIEW' | 'VERIFY' | 'CUSTOM' | null;
  /**
   * Base prompt of its runs.
   */
  prompt?: string | null;
  /**
   * Model of its runs.
   */
  base_model?: string | null;
  /**
   * Older form of harness.type.
   */
  base_harness?: string | null;
  /**
   * Environment of its runs: its UID, or the name of one of the factory's.
   */
  environment_id?: string | null;
  /**
   * Machine that works on its runs.
   */
  worker_host?: string | null;
  /**
   * MCP servers of its runs, by name.
   */
  mcp_servers?: {
    [k: string]: MCPServerConfig;
  };
  /**
   * With whose credentials its runs work. Not served here: a value that would change something is answered with 422.
   */
  credential_strategy?: {
    [k: string]: unknown;
  };
  /**
   * Runner of its runs. Not served here: a value that would change something is answered with 422.
   */
  default_runner_uid?: {
    [k: string]: unknown;
  };
  /**
   * Secrets of other harnesses; the operator's profiles name theirs. Not served here: a value that would change something is answered with 422.
   */
  harness_auth_secrets?: {
    [k: string]: unknown;
  };
  /**
   * Where models are called. Not served here: a value that would change something is answered with 422.
   */
  inference_providers?: {
    [k: string]: unknown;
  };
  /**
   * What it remembers between runs. Not served here: a value that would change something is answered with 422.
   */
  memory?: {
    [k: string]: unknown;
  };
  /**
   * Whether its runs may be somebody else's. Not served here: a value that would change something is answered with 422.
   */
  on_behalf_of_enabled?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Program that drives its agent, with its model.
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
