/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A page of a factory's open pull requests, highest number first.
 */
export interface PullRequestList {
  /**
   * The pull requests of this page.
   */
  pull_requests: PullRequest[];
  /**
   * Null: the source names none.
   */
  forge: ForgeStatus | null;
  page_info: PageInfo;
  [k: string]: unknown;
}
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
/**
 * The forge that a factory's pull requests are answered at, and how it answered last.
 */
export interface ForgeStatus {
  /**
   * Which interface it has.
   */
  kind: 'github' | 'gitlab' | 'gitea';
  /**
   * The repository there.
   */
  repository: string;
  /**
   * When it last listed its open pull requests; null: not yet.
   */
  polled_at: string | null;
  /**
   * Why it took nothing last; null: it did. `away`: not reached, or no answer of a forge. `slow-down`: too much was asked. `denied`: the token is missing, not taken, or may not do this. `missing`: there is no such repository for it.
   */
  fault: 'away' | 'slow-down' | 'denied' | 'missing' | 'refused' | null;
  /**
   * The same in a sentence.
   */
  message: string | null;
  /**
   * When it is asked again; null: with the next look.
   */
  retry_at: string | null;
  /**
   * Statuses and comments that it does not have yet.
   */
  waiting: number;
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
