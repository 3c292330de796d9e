/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
