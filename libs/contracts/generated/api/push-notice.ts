/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a git host says of a push; any body will do, also none, also a form. What it says is a hint and is kept nowhere: the pass that follows asks git itself.
 */
export interface PushNotice {
  /**
   * Full name of the ref that moved, such as `refs/heads/main`. Another branch than the one that the factory follows asks for no pass.
   */
  ref?: string;
  [k: string]: unknown;
}
