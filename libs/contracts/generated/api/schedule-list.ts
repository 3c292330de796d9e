/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * The schedules of the factories that the key may see.
 */
export interface ScheduleList {
  /**
   * By their factories and automations; of at most 1,000 automations.
   */
  schedules: ScheduleItem[];
  [k: string]: unknown;
}
/**
 * A schedule trigger of an automation. It is changed where the automation is.
 */
export interface ScheduleItem {
  /**
   * Identifier of the schedule; another name or expression makes another one.
   */
  id: string;
  /**
   * Its name, else the name of its automation.
   */
  name: string;
  /**
   * Its expression.
   */
  cron_schedule: string;
  /**
   * Whether its automation is enabled.
   */
  enabled: boolean;
  /**
   * What its runs are asked.
   */
  prompt: string;
  agent_config: AmbientAgentConfig;
  /**
   * factory_uid, automation_id, and file where a file says it.
   */
  metadata: {
    [k: string]: string;
  };
  /**
   * When its automation was made.
   */
  created_at: string;
  /**
   * When its automation last changed.
   */
  updated_at: string;
  /**
   * When it started a run, and when it does next.
   */
  history: {
    /**
     * Absent: never yet.
     */
    last_ran?: string;
    /**
     * Absent: never, or its automation is disabled.
     */
    next_run?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What its automation says of the agent.
 */
export interface AmbientAgentConfig {
  /**
   * Label for grouping and filtering; by default the name of the skill, else of the automation.
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
  mcp_servers?: {
    [k: string]: MCPServerConfig;
  };
  harness?: AgentHarness;
  /**
   * Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said.
   */
  idle_timeout_minutes?: number;
  /**
   * Whether the agent may use a desktop.
   */
  computer_use_enabled?: boolean;
  /**
   * Machine that works on the run: what its service is called (MILLWRIGHT_WORKER_HOST). The run waits until that one has a place; without it any machine will do.
   */
  worker_host?: string;
  /**
   * Managed secrets of the run: added outside of its sandbox, or inside as environment variables; a level's list replaces those of the levels below it.
   *
   * @maxItems 100
   */
  secrets?: {
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
  [k: string]: unknown;
}
/**
 * One MCP server: a command that is started beside the agent, or a URL; exactly one of the two.
 */
export interface MCPServerConfig {
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
