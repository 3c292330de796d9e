/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * One thing that can be waited for. Every status has all of them: Ready (what the files say is what serves), Reconciling (a pass is asked for or under way), Stalled (nothing goes on until somebody acts), FetchFailed, DefinitionsInvalid, PruneHeld (deletions wait for an approval), SecretsDegraded (an enabled webhook has no secret to authenticate with).
 */
export interface Condition {
  /**
   * Which condition.
   */
  type: 'Ready' | 'Reconciling' | 'Stalled' | 'FetchFailed' | 'DefinitionsInvalid' | 'PruneHeld' | 'SecretsDegraded';
  /**
   * `Unknown` where the last pass could not look.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * kebab-case word for programs.
   */
  reason: string;
  /**
   * Sentence for people.
   */
  message: string;
  /**
   * Since when the passes have ended like this, revision and problems included: the condition has had its status at least since then. Null where that is not recorded.
   */
  since: string | null;
  /**
   * Generation of requests that the condition speaks of.
   */
  observed_generation: number;
  [k: string]: unknown;
}
