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
 * A run in an explanation: who or what started it.
 */
export interface ExplainedRun {
  /**
   * UUIDv7 of the run.
   */
  run_id: string;
  /**
   * Its title.
   */
  title: string;
  state: RunState;
  source: RunSourceType;
  /**
   * When it was made.
   */
  created_at: string;
  creator: RunCreatorInfo;
  /**
   * Identity of the delivery that started it.
   */
  delivery_id: string | null;
  /**
   * The schedule that started it.
   */
  schedule: RunSchedule | null;
  /**
   * The tick of the schedule that started it.
   */
  scheduled_at: string | null;
  [k: string]: unknown;
}
/**
 * Who created a run, or who works on it.
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
