/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Runs by state and their start latency over time.
 */
export interface RunStatistics {
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
   * Oldest first, without gaps; a run belongs to the bucket in which it was created.
   */
  buckets: {
    /**
     * Begin of the bucket.
     */
    from: string;
    /**
     * Runs by the state that they are in now.
     */
    states: {
      [k: string]: number;
    };
    /**
     * Milliseconds from creation to the first start, of runs that were created in the bucket and have started.
     */
    start_latency: {
      /**
       * Runs.
       */
      count: number;
      /**
       * Median.
       */
      p50_ms?: number;
      /**
       * Nine of ten are faster.
       */
      p90_ms?: number;
      /**
       * Ninety-nine of a hundred are faster.
       */
      p99_ms?: number;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  }[];
  /**
   * Runs by state in all buckets.
   */
  totals: {
    [k: string]: number;
  };
  /**
   * The same over all buckets.
   */
  start_latency: {
    /**
     * Runs.
     */
    count: number;
    /**
     * Median.
     */
    p50_ms?: number;
    /**
     * Nine of ten are faster.
     */
    p90_ms?: number;
    /**
     * Ninety-nine of a hundred are faster.
     */
    p99_ms?: number;
    [k: string]: unknown;
  };
  /**
   * True where there are more runs than one request may read: then the oldest buckets are incomplete.
   */
  truncated: boolean;
  [k: string]: unknown;
}
