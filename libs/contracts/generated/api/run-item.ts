/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again.
 */
export type RunState = 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';
/**
 * What created a run. This service produces API, CLI, WEB_APP, CUSTOM_WEBHOOK and SCHEDULED_AGENT; the other names are known from the hosted service and match no run here.
 */
export type RunSourceType =
  | 'API'
  | 'CLI'
  | 'WEB_APP'
  | 'CUSTOM_WEBHOOK'
  | 'SCHEDULED_AGENT'
  | 'LINEAR'
  | 'MCP'
  | 'SLACK'
  | 'TEAMS'
  | 'LOCAL'
  | 'GITHUB_ACTION'
  | 'CLOUD_MODE'
  | 'JIRA'
  | 'SELF_IMPROVEMENT'
  | 'GITHUB_WEBHOOK'
  | 'GITLAB_WEBHOOK'
  | 'AZURE_DEVOPS_WEBHOOK'
  | 'AUTOFIX'
  | 'RUN_SCORER'
  | 'ORCHESTRATION'
  | 'BENCHMARK_TRIAL'
  | 'CREATE_BENCHMARK_TASK';
/**
 * How the agent is asked to work. plan: in its own mode for planning where it has one, else it is asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';

/**
 * A run with everything that is known of it.
 */
export interface RunItem {
  /**
   * UUIDv7 of the run.
   */
  run_id: string;
  /**
   * @deprecated
   * The same as run_id.
   */
  task_id: string;
  /**
   * Title for people.
   */
  title: string;
  state: RunState;
  /**
   * What the run was created with; never changes. Webhook runs: the automation's text and the envelope.
   */
  prompt: string;
  /**
   * The prompt with the follow-ups that were joined to it before it was taken.
   */
  submitted_prompt: string;
  /**
   * When it was created.
   */
  created_at: string;
  /**
   * When it last changed.
   */
  updated_at: string;
  /**
   * When an agent first began to work on it; null until then.
   */
  started_at: string | null;
  /**
   * When it last ended; null until then.
   */
  finished_at: string | null;
  source: RunSourceType;
  creator: RunCreatorInfo;
  executor: RunCreatorInfo1;
  agent_config: AmbientAgentConfig;
  mode: RunMode;
  /**
   * Whether somebody was said to watch and answer.
   */
  interactive: boolean;
  status_message?: RunStatusMessage;
  /**
   * Session of the agent; from CLAIMED on.
   */
  session_id?: string;
  /**
   * Page of the session; from CLAIMED on.
   */
  session_link?: string;
  agent_skill?: RunSkill;
  /**
   * Conversation that it belongs to; its own ID unless it continues another's. Absent where the key may not see the run that began it.
   */
  conversation_id?: string;
  /**
   * Run that it was started by. Absent where the key may not see it.
   */
  parent_run_id?: string;
  /**
   * The run at the top of those that it was started by, as far as the key may see them; the run itself where nothing did.
   */
  root_run_id: string;
  /**
   * What it has made, oldest first; the latest 100.
   */
  artifacts?: ArtifactItem[];
  /**
   * The caller's entries, and automation_id, webhook_uid, delivery_id and definition_revision of runs that have them.
   */
  metadata: {
    [k: string]: string;
  };
  /**
   * Factory that it belongs to.
   */
  factory_uid?: string;
  /**
   * Automation that started it.
   */
  automation_id?: string;
  schedule?: RunSchedule;
  /**
   * Time from the first start to the last end, or until the last change, as an ISO 8601 duration; from the first start on.
   */
  run_time?: string;
  request_usage?: RequestUsage;
  /**
   * Whether a command of the run is at work now.
   */
  is_sandbox_running: boolean;
  /**
   * Whether runs of its kind can be cancelled, whatever its state; true for every run here.
   */
  is_run_type_cancellable: boolean;
  /**
   * Where it runs: on a server.
   */
  execution_location: 'REMOTE';
  /**
   * Address of what it is about: the ticket of a dispatch.
   */
  trigger_url?: string;
  [k: string]: unknown;
}
/**
 * Who created it; of webhook and schedule runs the factory's service account.
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
 * Who works on it.
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
/**
 * The resolved configuration.
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
 * Why a run is in its state.
 */
export interface RunStatusMessage {
  /**
   * One sentence for people.
   */
  message: string;
  /**
   * Code of an error, as in the problems of this interface; only of runs that ended badly.
   */
  error_code?: string;
  /**
   * Whether the same run may succeed when it is started again; only of runs that have ended.
   */
  retryable?: boolean;
  [k: string]: unknown;
}
/**
 * The skill that a run uses as its base prompt.
 */
export interface RunSkill {
  /**
   * Name of the skill.
   */
  name: string;
  /**
   * Path of its SKILL.md in its repository, where the request or the factory says it.
   */
  full_path?: string;
  /**
   * Commit of its repository that it was read at when the run last started; absent for a skill of the factory, which is applied with the run's definition_revision.
   */
  commit?: string;
  [k: string]: unknown;
}
/**
 * Something that a run has made and that outlives its workspace.
 */
export interface ArtifactItem {
  /**
   * UUIDv7 of the artifact.
   */
  artifact_uid: string;
  /**
   * FILE: a file. PLAN: a plan in Markdown. PULL_REQUEST: a link to a pull request.
   */
  artifact_type: 'FILE' | 'PLAN' | 'PULL_REQUEST';
  /**
   * Run that made it.
   */
  run_id: string;
  /**
   * When it was stored.
   */
  created_at: string;
  /**
   * What it is; which members are there depends on its type.
   */
  data: {
    /**
     * The artifact itself.
     */
    artifact_uid: string;
    /**
     * FILE and PLAN: name of the file, A–Z a–z 0–9 . _ - only.
     */
    filename?: string;
    /**
     * FILE and PLAN: its path in the workspace.
     */
    filepath?: string;
    /**
     * FILE and PLAN: media type by the name's extension.
     */
    mime_type?: string;
    /**
     * FILE and PLAN: the same as mime_type.
     */
    content_type?: string;
    /**
     * FILE and PLAN: size of the content in bytes.
     */
    size_bytes?: number;
    /**
     * FILE and PLAN: where the content is; asks for a key like everything else.
     */
    download_url?: string;
    /**
     * Of one artifact alone, FILE: time until which download_url is good at least.
     */
    expires_at?: string;
    /**
     * PLAN: the plan; the same as artifact_uid.
     */
    document_uid?: string;
    /**
     * PLAN: the same as document_uid.
     */
    notebook_uid?: string;
    /**
     * Of one artifact alone, PLAN: its text.
     */
    content?: string;
    /**
     * What the agent calls it; of a PLAN without that, its first heading.
     */
    title?: string;
    /**
     * FILE: what to know before believing it; of a diff, that it is the run's word.
     */
    note?: string;
    /**
     * PULL_REQUEST: its address.
     */
    url?: string;
    /**
     * PULL_REQUEST: its branch; empty where the agent did not say.
     */
    branch?: string;
    /**
     * PULL_REQUEST: whether it is still open; this service does not ask the forge.
     */
    status?: 'unknown';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The schedule that started a run.
 */
export interface RunSchedule {
  /**
   * Identifier of the schedule.
   */
  schedule_id: string;
  /**
   * Its name when the run was created; empty where it is not known.
   */
  schedule_name: string;
  /**
   * Its cron expression when the run was created; empty where it is not known.
   */
  cron_schedule: string;
  [k: string]: unknown;
}
/**
 * What a run has used up, as far as its harness tells.
 */
export interface RequestUsage {
  /**
   * Cost of inference, as the agent tells it; a number without a currency where it told several.
   */
  inference_cost?: number;
  /**
   * Cost of compute.
   */
  compute_cost?: number;
  /**
   * Currency of inference_cost, as the agent names it: ISO 4217, or credits and the like.
   */
  currency?: string;
  /**
   * Tokens of all models, over all executions. A lower bound where an agent tells only how full its context is.
   */
  total_tokens?: number;
  [k: string]: unknown;
}
