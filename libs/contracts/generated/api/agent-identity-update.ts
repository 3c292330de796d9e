/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes an agent identity: what is left out or null stays; an empty text, list or object clears.
 */
export interface AgentIdentityUpdate {
  /**
   * Its name.
   */
  name?: string;
  /**
   * Program that drives its agent, with its model; without members: none.
   */
  harness?: AgentHarness | null;
  /**
   * Skills of its runs.
   *
   * @maxItems 100
   */
  skills?: string[] | null;
  /**
   * Managed secrets of its runs, in place of those that it has.
   *
   * @maxItems 100
   */
  secrets?:
    | {
        /**
         * Name of a managed secret.
         */
        name: string;
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Managed secrets beside those that it has; by itself in a request.
   *
   * @maxItems 100
   */
  secrets_append?: {
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
 * The program that drives the agent.
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
