/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What starts runs of a factory, and what these runs do.
 */
export interface Automation {
  /**
   * Identifier, `auto_` and 26 characters.
   */
  uid: string;
  /**
   * Permanent name inside the factory: the name of its folder, or made of its first name.
   */
  slug: string;
  /**
   * Label for people; titles of runs begin with it. On factories whose definitions are managed in files, the slug.
   */
  name: string;
  /**
   * What it is for; absent when nobody said.
   */
  description?: string;
  /**
   * Whether its triggers start anything.
   */
  enabled: boolean;
  /**
   * What starts it; any one is enough.
   */
  triggers: AutomationTrigger[];
  /**
   * What the agent shall do.
   */
  prompt: string;
  agent: AutomationAgent;
  /**
   * How runs of the automation stand to each other.
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
  };
  /**
   * State of its schedule triggers, in their order; absent when it has none.
   */
  schedules?: {
    /**
     * Identifier; another one when name or expression change.
     */
    schedule_id: string;
    /**
     * Its label; absent when it has none.
     */
    name?: string;
    /**
     * Five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
     */
    cron: string;
    /**
     * When it fires next; null while the automation is disabled.
     */
    next_at: string | null;
    /**
     * Tick that it last fired for; null while it never did.
     */
    last_fired_at: string | null;
    /**
     * Ticks for which nothing was started, because the service was down, full or short of disk then.
     */
    missed: number;
    /**
     * The latest of these ticks; null while there is none.
     */
    last_missed_at: string | null;
    [k: string]: unknown;
  }[];
  /**
   * A run that goes over one of these is ended.
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
  };
  /**
   * What a run may reach beside the model and its repositories.
   */
  network?: {
    /**
     * Host names; a leading `*.` stands for any sub-domain.
     */
    allow?: string[];
    [k: string]: unknown;
  };
  /**
   * Counts its changes; the `ETag` of the automation.
   */
  version: number;
  /**
   * Revision of the definitions that decided it last: `branch@sha1:…`, `sha256:…`, or `dashboard@…`.
   */
  revision: string;
  /**
   * File of the factory repository that says all this; null on factories that are managed here.
   */
  file: string | null;
  /**
   * When it was first made.
   */
  created_at: string;
  /**
   * When it last changed.
   */
  updated_at: string;
  /**
   * When it last started a run; null while it never did.
   */
  last_fired_at: string | null;
  /**
   * Runs that it started within the last seven days.
   */
  recent_runs: {
    /**
     * All of them; at most what is counted, 10,000.
     */
    total: number;
    /**
     * By state; states without any are left out.
     */
    states: {
      [k: string]: number;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What starts an automation.
 */
export interface AutomationTrigger {
  /**
   * `webhook`: a delivery. `schedule`: the clock. `inactive`: a provider that is not served here; it never fires.
   */
  provider: 'webhook' | 'schedule' | 'inactive';
  /**
   * With `webhook`: webhooks whose deliveries start it. Deleted ones may be among them and never fire.
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
  /**
   * With `inactive`: the provider that the file names.
   */
  declared_provider?: string;
  [k: string]: unknown;
}
/**
 * What it says of the agent itself, before factory and server.
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
