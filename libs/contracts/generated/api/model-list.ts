/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * The models that are known here, and what drives them.
 */
export interface ModelList {
  /**
   * By their IDs.
   */
  models: Model[];
  /**
   * What `harness.type` can name; absent where the operator has profiles of its own.
   */
  harnesses?: string[];
  /**
   * Model of a run that names none; `auto` where its harness chooses.
   */
  default_model_id: string;
  [k: string]: unknown;
}
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
