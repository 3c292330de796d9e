/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
