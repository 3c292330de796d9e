/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A page of a factory's events, newest first. The newest 1,000 are kept.
 */
export interface FactoryEventList {
  /**
   * The events of this page.
   */
  events: FactoryEvent[];
  page_info: PageInfo;
  [k: string]: unknown;
}
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
