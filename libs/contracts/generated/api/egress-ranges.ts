/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * By which networks runs and syncs reach others, as the operator says (MILLWRIGHT_EGRESS_RANGES).
 */
export interface EgressRanges {
  /**
   * Networks, each once; empty where the operator says nothing.
   *
   * Items: An IPv4 or IPv6 network.
   */
  cidrs: string[];
  [k: string]: unknown;
}
