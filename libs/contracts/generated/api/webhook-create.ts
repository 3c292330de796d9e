/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Makes a webhook on a factory that is managed here. Without `secret`, and without a `secret_name` that exists, a secret is generated, except for provider schemes: there the webhook is made disabled, to be finished when the provider’s secret is known.
 */
export interface WebhookCreate {
  /**
   * Label for people, on one line. The slug is made of the first one.
   */
  name: string;
  /**
   * How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme.
   */
  auth_mode?: 'token' | 'url_token' | 'signature';
  /**
   * Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. `github`, `stripe`, `standard_webhooks`, `sentry`, `pagerduty`, `vercel` or `circleci`.
   */
  signature_scheme?: string;
  /**
   * The credential, for example the provider’s signing secret; kept as a secret of the factory and never shown.
   */
  secret?: string;
  /**
   * Name of the managed secret: an existing one that the factory may use for webhooks is used as it is, any other is made. By default `<slug>-webhook`.
   */
  secret_name?: string;
  /**
   * Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused.
   */
  delivery_id_header?: string;
  /**
   * `body`: the signed body itself identifies a delivery too, for ever, so that a captured request that is sent again under another delivery ID starts nothing. With `auth_mode` `signature` only; for schemes that sign no time.
   */
  replay_protection?: 'body';
  /**
   * Minutes for which the value of before is accepted too when the secret has got another one; none unless said.
   */
  secret_overlap_minutes?: number;
  /**
   * Whether it takes deliveries at once; by default as soon as its secret has a value.
   */
  enabled?: boolean;
  /**
   * What it is for.
   */
  description?: string;
  [k: string]: unknown;
}
