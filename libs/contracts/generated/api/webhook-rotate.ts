/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Replaces a webhook’s secret; the old one is dead with the answer.
 */
export interface WebhookRotate {
  /**
   * The provider’s new signing secret: required for provider schemes, possible for `standard_webhooks`, refused otherwise.
   */
  secret?: string;
  [k: string]: unknown;
}
