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
 * What decided a delivery or a run.
 */
export interface Explanation {
  /**
   * What was asked about.
   */
  id: string;
  /**
   * What it is.
   */
  kind: 'delivery' | 'run';
  /**
   * Its factory; null for a run of none.
   */
  factory_uid: string | null;
  /**
   * Permanent name of the factory; null for none, and for one that was deleted.
   */
  factory_slug: string | null;
  /**
   * Revision of the definitions that decided; null where none did.
   */
  revision: string | null;
  /**
   * The delivery; of a run the one that started it, while the log has it.
   */
  delivery: ExplainedDelivery | null;
  /**
   * The webhook that the delivery came to.
   */
  webhook: ExplainedDefinition | null;
  /**
   * Automations that were there when it was decided, those that fired first. Empty where none was asked: a refused delivery, a duplicate, a run that somebody started.
   */
  automations: ExplainedAutomation[];
  /**
   * Further automations that do not select the webhook.
   */
  automations_left_out: number;
  /**
   * Pull requests that brought the revisions that are named here: `revision`, and those that wrote the webhook and the automations that were asked. Several of one revision were merged between two syncs.
   */
  pull_requests: MergedPullRequest[];
  /**
   * The run that was asked about.
   */
  run: ExplainedRun | null;
  [k: string]: unknown;
}
/**
 * A delivery in an explanation.
 */
export interface ExplainedDelivery {
  /**
   * Its entry in the log.
   */
  entry_id: string;
  /**
   * Its identity.
   */
  delivery_id: string;
  /**
   * What became of it.
   */
  outcome: 'Accepted' | 'Duplicate' | 'Rejected (auth)' | 'Rejected (invalid JSON)' | 'Rejected (too large)' | 'Throttled';
  /**
   * When it came.
   */
  received_at: string;
  /**
   * Deliveries that the entry stands for.
   */
  count: number;
  /**
   * Why it was refused; shown to managers only.
   */
  refused_because?: string;
  /**
   * Of a duplicate: the entry of the delivery that was accepted before it, where the log still has it.
   */
  duplicate_of: string | null;
  /**
   * The entry whose stored bytes were delivered again, where somebody asked for that.
   */
  resent_from?: string;
  [k: string]: unknown;
}
/**
 * A webhook in an explanation: what decided, and whether it is still the same.
 */
export interface ExplainedDefinition {
  /**
   * Its UID.
   */
  uid: string;
  /**
   * Permanent name inside the factory.
   */
  slug: string;
  /**
   * File that defines it; null where it is managed over the API.
   */
  file: string | null;
  /**
   * What became of it since.
   */
  standing: 'unchanged' | 'changed' | 'deleted';
  /**
   * Revision that wrote it last, or deleted it.
   */
  revision: string;
  /**
   * When it was changed last, or deleted; null where it is unchanged.
   */
  changed_at: string | null;
  [k: string]: unknown;
}
/**
 * An automation in an explanation: what it did and why, and whether it is still the same.
 */
export interface ExplainedAutomation {
  /**
   * Its UID.
   */
  uid: string;
  /**
   * Permanent name inside the factory.
   */
  slug: string;
  /**
   * File that defines it; null where it is managed over the API.
   */
  file: string | null;
  /**
   * What became of it since.
   */
  standing: 'unchanged' | 'changed' | 'deleted';
  /**
   * Revision that wrote it last, or deleted it.
   */
  revision: string;
  /**
   * When it was changed last, or deleted; null where it is unchanged.
   */
  changed_at: string | null;
  /**
   * `fired`: it started a run. `disabled`. `not-selected`: none of its triggers names the webhook. `filter`: its filter does not match. `filter-unreadable`: its stored filter cannot be used. `filter-budget`: the filters before its own took all the time that there is for one delivery. `busy`: another run of its concurrency group was open.
   */
  result: 'fired' | 'disabled' | 'not-selected' | 'filter' | 'filter-unreadable' | 'filter-budget' | 'busy';
  /**
   * The run that it started.
   */
  run_id?: string;
  /**
   * First key of its filter that failed.
   */
  failed_pointer?: string;
  /**
   * What that key asks for.
   */
  operator?: 'in' | 'not_in' | 'exists' | 'nested';
  /**
   * The trigger that decided; null where none did, or where it cannot be told any more.
   */
  trigger: ExplainedTrigger | null;
  [k: string]: unknown;
}
/**
 * A trigger in an explanation, as it is written now.
 */
export interface ExplainedTrigger {
  /**
   * Which of the automation's triggers, from 1.
   */
  position: number;
  /**
   * False where the automation has changed since, so that another text may have decided.
   */
  as_decided: boolean;
  /**
   * What it waits for.
   */
  provider: 'webhook' | 'schedule';
  /**
   * Payload filter of a webhook trigger; absent: every delivery.
   */
  filter?: {
    [k: string]: unknown;
  };
  /**
   * Cron expression of a schedule trigger.
   */
  cron?: string;
  [k: string]: unknown;
}
/**
 * A pull request that a revision came with. Titles and authors are foreign texts.
 */
export interface MergedPullRequest {
  /**
   * The revision that it came with, as it is named where this is listed.
   */
  revision: string;
  /**
   * Its number at the forge.
   */
  number: number;
  /**
   * Its title, one line, cut at 200 characters.
   */
  title: string;
  /**
   * Who opened it, as the forge says it.
   */
  author: string;
  /**
   * Its page at the forge.
   */
  url: string | null;
  /**
   * Newest commit that the branch got by it: the merge, the squash, or the last of the rebased ones.
   */
  merge_commit: string | null;
  [k: string]: unknown;
}
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
