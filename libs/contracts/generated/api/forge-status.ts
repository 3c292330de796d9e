/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
