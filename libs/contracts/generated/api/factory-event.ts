/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Something that happened to a factory. Told once, however often a pass finds it again; never holds a secret or a payload.
 */
export interface FactoryEvent {
  /**
   * UUIDv7 of the event.
   */
  id: string;
  /**
   * When it happened.
   */
  at: string;
  /**
   * `Warning` where people should look.
   */
  type: 'Normal' | 'Warning';
  /**
   * kebab-case word for programs.
   */
  reason: string;
  /**
   * Sentence for people.
   */
  message: string;
  /**
   * Revision that it is about; null where it is about none.
   */
  revision: string | null;
  /**
   * The pass that it happened in; null where it was none, or one that was not recorded.
   */
  sync: string | null;
  [k: string]: unknown;
}
