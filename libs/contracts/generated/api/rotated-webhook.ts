/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A webhook whose secret was replaced.
 */
export interface RotatedWebhook {
  /**
   * Identifier of the webhook.
   */
  uid: string;
  /**
   * Its slug.
   */
  slug: string;
  /**
   * Its label.
   */
  name: string;
  /**
   * Address that senders post to, with `{token}` where a secret goes.
   */
  ingress_url: string;
  /**
   * The full URL of a `url_token` webhook, its new secret included; shown in this answer only.
   */
  url?: string;
  [k: string]: unknown;
}
