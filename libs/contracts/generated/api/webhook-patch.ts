/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Changes a webhook of a factory that is managed here; members that are absent stay. It acts on the next delivery.
 */
export interface WebhookPatch {
  /**
   * New label; slug and URL stay.
   */
  name?: string;
  /**
   * How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme.
   */
  auth_mode?: 'token' | 'url_token' | 'signature';
  /**
   * Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. null removes it.
   */
  signature_scheme?: string | null;
  /**
   * Another existing managed secret that the factory may use for webhooks; its value is not shown.
   */
  secret_name?: string;
  /**
   * Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused. null removes it.
   */
  delivery_id_header?: string | null;
  /**
   * `body`: the signed body itself identifies a delivery too, for ever, from the next delivery on. With `auth_mode` `signature` only. null removes it.
   */
  replay_protection?: 'body' | null;
  /**
   * Minutes for which the value of before is accepted too when the secret has got another one. Fewer shorten an overlap that is under way, null ends it.
   */
  secret_overlap_minutes?: number | null;
  /**
   * false: senders get 404 at once; automations and history stay.
   */
  enabled?: boolean;
  /**
   * What it is for; null removes it.
   */
  description?: string | null;
  [k: string]: unknown;
}
