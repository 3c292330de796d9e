/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A webhook in an explanation: what decided, and whether it is still the same.
 */
export interface ExplainedDefinition {
  /**
   * Its UID.
   */
  uid: string;
  /**
   * Permanent name inside the factory.
   */
  slug: string;
  /**
   * File that defines it; null where it is managed over the API.
   */
  file: string | null;
  /**
   * What became of it since.
   */
  standing: 'unchanged' | 'changed' | 'deleted';
  /**
   * Revision that wrote it last, or deleted it.
   */
  revision: string;
  /**
   * When it was changed last, or deleted; null where it is unchanged.
   */
  changed_at: string | null;
  [k: string]: unknown;
}
