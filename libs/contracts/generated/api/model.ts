/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A language model that a configuration can name.
 */
export interface Model {
  /**
   * What `model_id` is set to.
   */
  id: string;
  /**
   * server: the operator lists it. definition: an applied definition names it.
   */
  source: 'server' | 'definition';
  [k: string]: unknown;
}
