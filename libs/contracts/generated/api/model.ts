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
  /**
   * Name for people: the ID.
   */
  display_name: string;
  /**
   * Who makes it, where its ID begins as theirs do.
   */
  provider: 'OPENAI' | 'ANTHROPIC' | 'GOOGLE' | 'UNKNOWN';
  /**
   * Whether it is known to see images.
   */
  vision_supported: boolean;
  [k: string]: unknown;
}
