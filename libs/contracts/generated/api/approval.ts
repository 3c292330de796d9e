/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An approval that is stored. It counts for exactly these deletions of this factory at this revision, or exactly this rewriting of its history.
 */
export interface Approval {
  /**
   * The factory.
   */
  factory_uid: string;
  /**
   * The digest that was approved.
   */
  plan: string;
  /**
   * True.
   */
  approved: boolean;
  [k: string]: unknown;
}
