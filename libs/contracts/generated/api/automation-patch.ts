/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A trigger to be set.
 */
export type AutomationTriggerRequest = {
  /**
   * `webhook`: a delivery starts a run. `schedule`: the clock does.
   */
  provider: 'webhook' | 'schedule';
  /**
   * With `webhook`: UIDs of webhooks of this factory.
   *
   * @minItems 1
   * @maxItems 100
   */
  webhook_uids?: string[];
  /**
   * With `webhook`: payload filter that mirrors the delivery’s body; absent: every delivery.
   */
  payload?: {
    [k: string]: unknown;
  };
  /**
   * With `schedule`: label of the schedule.
   */
  name?: string;
  /**
   * With `schedule`: five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
   */
  cron?: string;
  [k: string]: unknown;
};

/**
 * Changes an automation of a factory that is managed here; members that are absent stay, the others are replaced whole. It acts on the next delivery.
 */
export interface AutomationPatch {
  /**
   * New label; slug and UID stay.
   */
  name?: string;
  /**
   * What it is for; null removes it.
   */
  description?: string | null;
  /**
   * false: its triggers start nothing.
   */
  enabled?: boolean;
  /**
   * What starts it; any one is enough.
   *
   * @minItems 1
   * @maxItems 50
   */
  triggers?: AutomationTriggerRequest[];
  /**
   * What the agent shall do; not empty.
   */
  prompt?: string;
  /**
   * What it says of the agent; null: nothing, so that factory and server decide.
   */
  agent?: AutomationAgent | null;
  /**
   * How runs of the automation stand to each other. null removes it.
   */
  concurrency?: {
    /**
     * Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share.
     */
    group?: string;
    /**
     * What a new run does while the group is busy: wait, start nothing, or cancel the old one.
     */
    when_busy?: 'queue' | 'skip' | 'replace';
    [k: string]: unknown;
  } | null;
  /**
   * A run that goes over one of these is ended. null removes them.
   */
  limits?: {
    /**
     * Model tokens.
     */
    tokens?: number;
    /**
     * Cost in the server’s currency.
     */
    cost?: number;
    /**
     * Minutes from start to end.
     */
    minutes?: number;
    [k: string]: unknown;
  } | null;
  /**
   * What a run may reach beside the model and its repositories. null removes it.
   */
  network?: {
    /**
     * Host names; a leading `*.` stands for any sub-domain.
     *
     * @maxItems 100
     */
    allow?: string[];
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * How an automation wants its agent to run, before what factory and server say.
 */
export interface AutomationAgent {
  /**
   * Language model.
   */
  model_id?: string;
  /**
   * Text put before every prompt.
   */
  base_prompt?: string;
  /**
   * Environment of the run.
   */
  environment_id?: string;
  /**
   * Skill used as base prompt: `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory.
   */
  skill_spec?: string;
  /**
   * MCP servers that the agent may use, by name: `command`, `args`, `env`, or `url`, `headers`.
   */
  mcp_servers?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
  /**
   * The program that carries out the run.
   */
  harness?: {
    /**
     * Harness as the server’s operator configured it.
     */
    type?: string;
    /**
     * Model inside this harness; wins over `model_id`.
     */
    model_id?: string;
    /**
     * How long the model may think, in the harness’s own words.
     */
    reasoning_level?: string;
    [k: string]: unknown;
  };
  /**
   * Managed secrets of the run: added outside of its sandbox, or inside as environment variables.
   *
   * @maxItems 100
   */
  secrets?: {
    /**
     * Name of the managed secret; it becomes the variable’s name.
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
   * Minutes that an agent which has nothing to do keeps waiting for follow-ups.
   */
  idle_timeout_minutes?: number;
  [k: string]: unknown;
}
