/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A page of a webhook's delivery log, newest first.
 */
export interface DeliveryList {
  /**
   * The entries of this page.
   */
  deliveries: Delivery[];
  page_info: PageInfo;
  [k: string]: unknown;
}
/**
 * One entry of a webhook's delivery log.
 */
export interface Delivery {
  /**
   * UUIDv7 of the entry.
   */
  entry_id: string;
  /**
   * Identity of the delivery, as its sender was answered; of a refused one the first usable delivery header, else the entry's own ID; of one that counts, of the first of them.
   */
  delivery_id: string;
  /**
   * What became of it; never changes.
   */
  outcome: 'Accepted' | 'Duplicate' | 'Rejected (auth)' | 'Rejected (invalid JSON)' | 'Rejected (too large)' | 'Throttled';
  /**
   * Bytes of the body.
   */
  size: number;
  /**
   * False where the body was refused before its end: then size is what was declared or counted until then.
   */
  size_exact: boolean;
  /**
   * When it came.
   */
  received_at: string;
  /**
   * Address of the sender, of IPv6 as it was seen.
   */
  client_address: string;
  /**
   * Revision of the definitions that it was judged by.
   */
  revision: string;
  /**
   * Deliveries that this entry stands for: more than one only for refusals beyond 60 a minute, and for those that were throttled (answered 429), of which each minute has one entry.
   */
  count: number;
  /**
   * Why it was refused; shown to managers only.
   */
  refused_because?: string;
  /**
   * Of a refused delivery: which check it failed. Never shows a value that was sent. Absent for entries that stand for many.
   */
  refusal?: {
    /**
     * The check that failed.
     */
    check: 'credential' | 'signature' | 'timestamp' | 'size' | 'json';
    /**
     * The header that is missing, repeated or malformed, where one is to blame.
     */
    header?: string;
    /**
     * How far the sender's timestamp was off, where one was read: positive for the past.
     */
    skew_seconds?: number;
    /**
     * For managers: the common mistake with which the signature would have matched. Looked for at receipt, as long as the client's failures are within their budget.
     */
    hint?: 'trailing-newline' | 're-encoded-json' | 'key-encoding' | 'other-scheme';
    [k: string]: unknown;
  };
  /**
   * The entry whose stored bytes were delivered again, where somebody asked for that.
   */
  resent_from?: string;
  /**
   * Of an accepted delivery: automations that matched, with the runs that they started.
   */
  started?: {
    /**
     * The automation that matched.
     */
    automation_id: string;
    /**
     * The run that it started.
     */
    run_id: string;
    [k: string]: unknown;
  }[];
  /**
   * Of an accepted delivery: automations that select the webhook and started nothing.
   */
  skipped?: {
    /**
     * The automation.
     */
    automation_id: string;
    /**
     * Why it started nothing; `filter-budget`: the filters before its own took all the time that there is for one delivery; `busy`: another run of its concurrency group was open.
     */
    reason: 'disabled' | 'filter' | 'filter-unreadable' | 'filter-budget' | 'busy';
    /**
     * First key of its filter that failed.
     */
    failed_pointer?: string;
    /**
     * What that key asks for.
     */
    operator?: 'in' | 'not_in' | 'exists' | 'nested';
    [k: string]: unknown;
  }[];
  /**
   * Of an accepted delivery: where the exact bytes of the body are, for the same key.
   */
  payload_url?: string;
  [k: string]: unknown;
}
/**
 * Whether a list goes on, and where.
 */
export interface PageInfo {
  /**
   * Whether there are further entries.
   */
  has_next_page: boolean;
  /**
   * Opaque position to ask for as `cursor`, with otherwise the same query; only while there are further entries.
   */
  next_cursor?: string;
  [k: string]: unknown;
}
