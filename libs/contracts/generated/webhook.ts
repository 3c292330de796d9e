/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Rules of trust that this file breaks on purpose, each with a reason and a last day.
 *
 * @maxItems 20
 */
export type Trust = {
  /**
   * ID of the rule, for example trust-no-budget.
   */
  accept: string;
  /**
   * Why it is in order here.
   */
  reason: string;
  /**
   * The last day it holds; then the rule warns again.
   */
  until: string;
  /**
   * Who has approved it: needed for trust-exposed-run.
   */
  approvedBy?: {
    /**
     * The person.
     */
    name: string;
    /**
     * What entitles them.
     */
    role: 'admin' | 'manager';
  };
}[];

/**
 * webhooks/<name>.yaml: one HTTPS address that accepts JSON deliveries.
 */
export interface WebhookFile {
  /**
   * How senders prove themselves. token (default): Authorization: Bearer <secret>. url_token: the secret is the last part of the URL. signature: each request is signed by the provider's scheme.
   */
  authMode?: 'token' | 'url_token' | 'signature';
  /**
   * The provider's signature scheme; required with authMode: signature and not allowed otherwise.
   */
  signatureScheme?: 'github' | 'stripe' | 'standard_webhooks' | 'sentry' | 'pagerduty' | 'vercel' | 'circleci';
  /**
   * Name of an existing managed team secret that holds the credential. Several webhooks may share one. A url_token secret must be URL-safe.
   */
  secretName: string;
  /**
   * Request header whose value identifies a delivery; a second delivery with the same value starts nothing.
   */
  deliveryIdHeader?: string;
  /**
   * With authMode: signature. body: the signed body itself identifies a delivery too, for ever, so that a captured request that is sent again under another delivery ID starts nothing. For schemes that sign no time: github, sentry, pagerduty, vercel, circleci.
   */
  replayProtection?: 'body';
  /**
   * Minutes, 1 to 1440 (a day), for which the value of before is accepted too when the secret has got another one (none unless said): a rotation then loses no sender. To end both at once, withdraw the grant of the secret or delete it.
   */
  secretOverlapMinutes?: number;
  /**
   * false: senders get 404 at once; automations and history stay (true unless said).
   */
  enabled?: boolean;
  trust?: Trust;
  /**
   * What the webhook is for.
   */
  description?: string;
}
