/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * provider webhook: a delivery starts a run. provider schedule: the clock does. Other providers are kept and never fire here.
 */
export type Trigger = {
  /**
   * webhook or schedule.
   */
  provider: string;
  [k: string]: unknown;
};
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
 * Front matter of automations/<name>/automation.md. The text below it is the prompt.
 */
export interface AutomationFrontMatter {
  /**
   * What the automation is for.
   */
  description?: string;
  /**
   * false: its triggers start nothing (true unless said).
   */
  enabled?: boolean;
  /**
   * What starts the automation; any one is enough.
   *
   * @minItems 1
   * @maxItems 50
   */
  triggers: Trigger[];
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
  trust?: Trust;
  /**
   * How runs of this automation stand to each other.
   */
  concurrency?: {
    /**
     * Runs of one group take turns. Without it: all runs of the automation. A JSON pointer such as /pull_request/number: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share.
     */
    group?: string;
    /**
     * What a new run does while the group is busy: queue (wait), skip (start nothing) or replace (cancel the old one).
     */
    whenBusy?: 'queue' | 'skip' | 'replace';
  };
  /**
   * A run that goes over one of these is ended.
   */
  limits?: {
    /**
     * Model tokens.
     */
    tokens?: number;
    /**
     * Cost in the server's currency.
     */
    cost?: number;
    /**
     * Minutes from start to end.
     */
    minutes?: number;
  };
  /**
   * What the run may reach beside the model and its repositories.
   */
  network?: {
    /**
     * Host names, for example api.example.com; a leading *. stands for any sub-domain.
     *
     * @maxItems 100
     */
    allow?: string[];
  };
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
