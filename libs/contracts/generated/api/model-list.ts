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
   * Which of them are to be had on the machine where runs are worked on; absent where this process works on none.
   */
  availability?: {
    /**
     * Harness of a run that names none.
     */
    default_harness: string;
    /**
     * Names of the agent that comes with the service.
     */
    built_in_harnesses: string[];
    /**
     * No model is configured: the built-in agent has the demo model, and a run of it that names another fails.
     */
    demo_model_only: boolean;
    /**
     * Harnesses that are there.
     */
    installed_harnesses: string[];
    /**
     * Harnesses that can be named, and whose runs fail.
     */
    missing_harnesses: {
      /**
       * Its name.
       */
      id: string;
      /**
       * What brings it.
       */
      way_out: string;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
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
