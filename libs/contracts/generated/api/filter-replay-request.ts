/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Asks which of the newest deliveries a trigger would have taken.
 */
export interface FilterReplayRequest {
  /**
   * The payload filter; `{}` takes every payload.
   */
  filter: {
    [k: string]: unknown;
  };
  /**
   * Webhooks that the trigger selects. Without them the deliveries of all webhooks of the factory are asked.
   *
   * @maxItems 100
   *
   * Items: UID of a webhook.
   */
  webhook_uids?: string[];
  /**
   * Deliveries to ask at most.
   */
  limit?: number;
  [k: string]: unknown;
}
