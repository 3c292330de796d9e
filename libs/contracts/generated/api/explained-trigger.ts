/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
