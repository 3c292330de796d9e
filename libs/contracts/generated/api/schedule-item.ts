/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How its runs are asked to work.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';

/**
 * What starts runs by the clock: a schedule of its own, or a schedule trigger of an automation, which is changed where the automation is.
 */
export interface ScheduleItem {
  /**
   * Identifier of the schedule. Of a trigger another name or expression makes another one.
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
   * Whether it fires: it was not paused, or its automation is enabled.
   */
  enabled: boolean;
  /**
   * What its runs are asked.
   */
  prompt: string;
  agent_config: AmbientAgentConfig;
  /**
   * Metadata of its runs. Of a trigger: factory_uid, automation_id, and file where a file says it.
   */
  metadata: {
    [k: string]: string;
  };
  /**
   * When it, or its automation, was made.
   */
  created_at: string;
  /**
   * When it, or its automation, last changed.
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
     * Absent: never, or it does not fire now.
     */
    next_run?: string;
    /**
     * Ticks that came too late to start a run.
     */
    missed: number;
    /**
     * The latest of them; absent: there is none.
     */
    last_missed_at?: string;
    [k: string]: unknown;
  };
  mode: RunMode;
  /**
   * true: it is a schedule trigger of an automation, and changed there.
   */
  read_only: boolean;
  /**
   * Its factory; absent: it belongs to none.
   */
  factory_uid?: string;
  created_by?: RunCreatorInfo;
  updated_by?: RunCreatorInfo1;
  /**
   * Agent identity whose defaults its runs have; absent: none.
   */
  agent_uid?: string;
  /**
   * JSON pointers of the members of the requests that made it and that are not served here and were ignored, a hundred at most; absent where none were. The logs of its runs name them, too.
   */
  ignored?: string[];
  [k: string]: unknown;
}
/**
 * What it, or its automation, says of the agent.
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
   * Several skills in order, each written as in skill_spec, which must not stand beside it; the texts of all are the base prompt, one behind the other.
   *
   * @maxItems 10
   */
  skills?: string[];
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
   * Whether the agent may use a desktop; there is none here, so that true is ignored.
   */
  computer_use_enabled?: boolean;
  /**
   * Machine that works on the run: what its service is called (MILLWRIGHT_WORKER_HOST). The run waits until that one has a place; without it, or with `warp`, any machine will do.
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
/**
 * Who made it; absent for triggers.
 */
export interface RunCreatorInfo {
  /**
   * A person or a program.
   */
  type: 'user' | 'service_account';
  /**
   * Stable identifier of the principal.
   */
  uid: string;
  /**
   * Name for people.
   */
  display_name: string;
  /**
   * Where the principal can be reached; null when that was not said.
   */
  email: string | null;
  [k: string]: unknown;
}
/**
 * Who changed it last; absent for triggers.
 */
export interface RunCreatorInfo1 {
  /**
   * A person or a program.
   */
  type: 'user' | 'service_account';
  /**
   * Stable identifier of the principal.
   */
  uid: string;
  /**
   * Name for people.
   */
  display_name: string;
  /**
   * Where the principal can be reached; null when that was not said.
   */
  email: string | null;
  [k: string]: unknown;
}
