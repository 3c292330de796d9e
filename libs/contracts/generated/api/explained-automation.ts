/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
