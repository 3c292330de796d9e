/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Deliveries by outcome over time.
 */
export interface DeliveryStatistics {
  /**
   * Begin of the first bucket.
   */
  since: string;
  /**
   * End of the last one.
   */
  until: string;
  /**
   * Length of a bucket.
   */
  bucket_seconds: number;
  /**
   * Oldest first, without gaps.
   */
  buckets: {
    /**
     * Begin of the bucket.
     */
    from: string;
    /**
     * Deliveries by outcome; refusals beyond 60 a minute with their count.
     */
    outcomes: {
      [k: string]: number;
    };
    [k: string]: unknown;
  }[];
  /**
   * Deliveries by outcome in all buckets.
   */
  totals: {
    [k: string]: number;
  };
  /**
   * True where there are more entries than one request may read: then the oldest buckets are incomplete.
   */
  truncated: boolean;
  [k: string]: unknown;
}
