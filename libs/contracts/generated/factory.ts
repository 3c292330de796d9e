/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Managed secrets of the run: added outside of its sandbox in a header of requests to one host, or inside as environment variables.
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
 * factory.yaml: what holds for the whole factory. The file is optional.
 */
export interface FactoryFile {
  /**
   * Label of the factory.
   */
  name?: string;
  /**
   * What the factory is for.
   */
  description?: string;
  agentDefaults?: AgentKeys;
  /**
   * Rules of trust that this file, or one of a skill, breaks on purpose, each with a reason and a last day.
   *
   * @maxItems 100
   */
  trust?: {
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
    /**
     * File of this repository that it is about, where that has no such key: a file of a skill.
     */
    path?: string;
  }[];
  /**
   * atomic (default): a revision with any error does not apply at all. perFile: files with errors keep their last good version, the others apply. A change acts from the next revision on.
   */
  applyMode?: 'atomic' | 'perFile';
}
/**
 * Used by every automation that does not say otherwise; secrets and mcpServers are replaced, never merged.
 */
export interface AgentKeys {
  /**
   * Language model, by the id the server lists.
   */
  model?: string;
  harness?: Harness;
  /**
   * Environment of the run: the name of a file under environments/, else the UID of an environment that exists on the server.
   */
  environmentId?: string;
  /**
   * Skill used as base prompt: the name of a folder under skills/, or owner/repo:skill-name, or owner/repo:path/to/SKILL.md.
   */
  skill?: string;
  /**
   * Text put before every prompt.
   */
  basePrompt?: string;
  mcpServers?: McpServers;
  secrets?: Secrets;
  /**
   * Minutes an agent that has nothing to do keeps waiting for follow-ups (10 unless said).
   */
  idleTimeoutMinutes?: number;
}
/**
 * The program that carries out the run.
 */
export interface Harness {
  /**
   * Harness as the server's operator configured it, for example command.
   */
  type?: string;
  /**
   * Model inside this harness; wins over model.
   */
  modelId?: string;
  /**
   * How long the model may think, in the harness's own words, for example low or high.
   */
  reasoningLevel?: string;
}
/**
 * MCP servers the agent may use, by name. Each has either command (started beside the agent) or url (reached over HTTP).
 */
export interface McpServers {
  [k: string]: McpServer;
}
/**
 * One MCP server: command, args and env, or url and headers.
 */
export interface McpServer {
  [k: string]: unknown;
}
