/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What editors check of values in automation.md beside their types: payload filters and cron expressions. The service reads both by rules of its own, which say more.
 */
export interface AutomationValues {
  [k: string]: unknown;
}
