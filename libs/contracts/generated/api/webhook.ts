/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An HTTPS address of a factory that accepts JSON deliveries. Its secret is never part of it.
 */
export interface Webhook {
  /**
   * Identifier, `wh_` and 26 characters; part of the ingress URL.
   */
  uid: string;
  /**
   * Permanent name inside the factory: the name of its file, or made of its first name.
   */
  slug: string;
  /**
   * Label for people. On factories whose definitions are managed in files, the slug.
   */
  name: string;
  /**
   * What it is for; null when nobody said.
   */
  description: string | null;
  /**
   * How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme.
   */
  auth_mode: 'token' | 'url_token' | 'signature';
  /**
   * Signature scheme of the provider; null unless `auth_mode` is `signature`.
   */
  signature_scheme: string | null;
  /**
   * Name of the managed secret that holds the credential.
   */
  secret_name: string;
  /**
   * Whether that secret has a value that this webhook uses. Without one nobody can authenticate.
   */
  secret_set: boolean;
  /**
   * Request header, in lower case, whose value identifies a delivery; null: the scheme’s own, `X-Millwright-Delivery-Id`, or a hash of the body.
   */
  delivery_id_header: string | null;
  /**
   * `body`: the signed body itself identifies a delivery too, so that a captured request that is sent again under another delivery ID starts nothing; null: it does not.
   */
  replay_protection?: 'body' | null;
  /**
   * Minutes for which the value of before is accepted too when the secret has got another one; null: not at all.
   */
  secret_overlap_minutes?: number | null;
  /**
   * Until when the value of before is accepted too; null: it is not.
   */
  previous_secret_until?: string | null;
  /**
   * Whether deliveries are taken; a disabled webhook answers 404.
   */
  enabled: boolean;
  /**
   * Address that senders post to. For `url_token` it shows `{token}` where the secret goes.
   */
  ingress_url: string;
  /**
   * Counts its changes; the `ETag` of the webhook.
   */
  version: number;
  /**
   * Revision of the definitions that decided it last: `branch@sha1:…`, `sha256:…`, or `dashboard@…`.
   */
  revision: string;
  /**
   * File of the factory repository that says all this; null on factories that are managed here.
   */
  file: string | null;
  /**
   * When it was first made.
   */
  created_at: string;
  /**
   * When it last changed.
   */
  updated_at: string;
  /**
   * When the newest entry of its delivery log was received; null while there is none.
   */
  last_delivery_at: string | null;
  /**
   * Automations that a delivery can start, by slug; only where one webhook is looked at.
   */
  used_by_automations?: AutomationReference[];
  [k: string]: unknown;
}
/**
 * An automation, as other resources refer to it.
 */
export interface AutomationReference {
  /**
   * Identifier, `auto_` and 26 characters.
   */
  uid: string;
  /**
   * Permanent name inside the factory.
   */
  slug: string;
  /**
   * Label for people.
   */
  name: string;
  /**
   * Whether its triggers start anything.
   */
  enabled: boolean;
  [k: string]: unknown;
}
