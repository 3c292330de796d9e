/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * One thing that can be waited for. Every status has all of them, in this order: Ready (what the files say is what serves), Reconciling (a pass is asked for or under way), Stalled (nothing goes on until somebody acts; a closed sync window opens by itself), FetchFailed (the repository or folder could not be read), SourceVerificationFailed (the tip is not signed by a key of the sync policy), DefinitionsInvalid (files have errors), PruneHeld (deletions wait for an approval), SecretsDegraded (an enabled webhook has no secret to authenticate with, or secrets cannot be looked after and the last values are kept), HistoryRewritten (the tip does not descend from the one before: applied, or waiting for an approval).
 */
export interface Condition {
  /**
   * Which condition.
   */
  type:
    | 'Ready'
    | 'Reconciling'
    | 'Stalled'
    | 'FetchFailed'
    | 'SourceVerificationFailed'
    | 'DefinitionsInvalid'
    | 'PruneHeld'
    | 'SecretsDegraded'
    | 'HistoryRewritten';
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
   * Since when the condition has had its status. Null where that is not recorded: Reconciling that is True, and whatever changed since the last pass.
   */
  since: string | null;
  /**
   * Generation of requests that the condition speaks of.
   */
  observed_generation: number;
  [k: string]: unknown;
}
