/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Asks whether a payload would satisfy a payload filter. Exactly one of entry_id and payload is given.
 */
export interface FilterTestRequest {
  /**
   * The payload filter: an object that mirrors the body; `{}` takes every payload.
   */
  filter: {
    [k: string]: unknown;
  };
  /**
   * Log entry of an accepted delivery of this factory, whose stored payload is tested.
   */
  entry_id?: string;
  /**
   * Any JSON value, null included, nested at most 60 deep.
   */
  payload?: {
    [k: string]: unknown;
  };
  /**
   * Webhooks that the trigger selects. Without them only the payload decides.
   *
   * @maxItems 100
   *
   * Items: UID of a webhook.
   */
  webhook_uids?: string[];
  [k: string]: unknown;
}
