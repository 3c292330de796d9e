/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
   * false: senders get 404 at once; automations and history stay (true unless said).
   */
  enabled?: boolean;
  /**
   * What the webhook is for.
   */
  description?: string;
}
