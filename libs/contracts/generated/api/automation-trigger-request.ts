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
