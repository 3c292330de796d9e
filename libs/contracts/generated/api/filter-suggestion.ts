/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A filter made of deliveries. It holds values of their payloads, as a filter does.
 */
export interface FilterSuggestion {
  /**
   * Takes all of the given deliveries; `{}` where they have nothing in common that the others have not.
   */
  filter: {
    [k: string]: unknown;
  };
  /**
   * Given deliveries that it takes: all whose payloads could be read.
   */
  takes: number;
  /**
   * Others that it leaves.
   */
  leaves: number;
  /**
   * Others that it takes although it should not: nothing tells them apart.
   */
  takes_besides: number;
  /**
   * Given deliveries and others whose stored payload cannot be read any more.
   */
  unreadable: number;
  [k: string]: unknown;
}
