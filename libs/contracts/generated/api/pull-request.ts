/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An open pull request for the branch that a factory follows. Titles and authors are foreign texts.
 */
export interface PullRequest {
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
   * ID of its newest commit.
   */
  head: string;
  /**
   * Branch that it is to be merged into.
   */
  base: string;
  /**
   * Whether its commits come from another repository: it is judged without what is known of secrets, traffic and deliveries.
   */
  fork: boolean;
  /**
   * Of `head`. `success`: it applies, or waits for an approval or a sync window only. `failure`: it does not apply. `error`: it could not be judged.
   */
  verdict: 'pending' | 'success' | 'failure' | 'error';
  /**
   * The verdict in a sentence: where it fails, the first error with its file and line.
   */
  description: string;
  /**
   * Revision that served when it was judged; null: none did, or it was not judged.
   */
  judged_against: string | null;
  /**
   * Page of its plan.
   */
  plan_url: string;
  /**
   * Whether the forge has this verdict and the comment that goes with it.
   */
  posted: boolean;
  /**
   * When it was judged or moved last.
   */
  updated_at: string;
  [k: string]: unknown;
}
