/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A pull request that a revision came with. Titles and authors are foreign texts.
 */
export interface MergedPullRequest {
  /**
   * The revision that it came with, as it is named where this is listed.
   */
  revision: string;
  /**
   * Its number at the forge.
   */
  number: number;
  /**
   * Its title, one line, cut at 200 characters.
   */
  title: string;
  /**
   * Who opened it, as the forge says it.
   */
  author: string;
  /**
   * Its page at the forge.
   */
  url: string | null;
  /**
   * Newest commit that the branch got by it: the merge, the squash, or the last of the rebased ones.
   */
  merge_commit: string | null;
  [k: string]: unknown;
}
