/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Where a factory stands.
 */
export interface FactoryStatus {
  /**
   * The factory.
   */
  factory_uid: string;
  /**
   * Whether reconciling is stopped.
   */
  suspended: boolean;
  /**
   * Whether files decide its definitions.
   */
  definitions_managed: boolean;
  /**
   * Every condition, in a fixed order.
   */
  conditions: Condition[];
  /**
   * How the last pass ended.
   */
  condition: {
    /**
     * `none` before the first pass; else as a sync's.
     */
    ending: 'applied' | 'blocked' | 'failed' | 'none';
    /**
     * kebab-case word for programs; null for `applied`.
     */
    reason: string | null;
    /**
     * Sentence for people; null for `applied`.
     */
    message: string | null;
    /**
     * Since when passes have ended like this, revision and problems included.
     */
    since: string;
    /**
     * When the last pass ended.
     */
    checked_at: string;
    [k: string]: unknown;
  };
  /**
   * Rises with every request for a pass.
   */
  generation_requested: number;
  /**
   * The request that the last pass answered; equal to generation_requested when nothing waits.
   */
  generation_handled: number;
  /**
   * Revision that was last read.
   */
  revision_seen: string | null;
  /**
   * Revision that was last judged.
   */
  revision_attempted: string | null;
  /**
   * Revision that serves.
   */
  revision_applied: string | null;
  /**
   * The last pass that brought something new; null before there was one.
   */
  last_sync: Sync | null;
  /**
   * What is applied, by kind and name.
   */
  inventory: InventoryItem[];
  [k: string]: unknown;
}
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
/**
 * One pass that brought something new.
 */
export interface Sync {
  /**
   * UUIDv7 of the pass.
   */
  id: string;
  /**
   * What asked for it.
   */
  triggers: ('start' | 'timer' | 'watcher' | 'api' | 'secret' | 'push' | 'approval')[];
  /**
   * When it began.
   */
  started_at: string;
  /**
   * When it ended.
   */
  finished_at: string;
  /**
   * `applied`: the tree is what serves. `blocked`: people must act. `failed`: tried again by itself.
   */
  ending: 'applied' | 'blocked' | 'failed';
  /**
   * kebab-case word for programs; null for `applied`.
   */
  reason: string | null;
  /**
   * Sentence for people; null for `applied`.
   */
  message: string | null;
  /**
   * Revision that was looked at: `branch@sha1:…`, or `sha256:…` of a directory's files; null when none could be read.
   */
  revision: string | null;
  /**
   * Problems in the files, in reading order; at most 500.
   */
  problems: Diagnostic[];
  /**
   * What was applied, in order.
   */
  changes: Change[];
  /**
   * Deletions that were held back.
   */
  held: Change[];
  /**
   * Digest that an approval of the held deletions names; null where none is needed.
   */
  plan: string | null;
  /**
   * Milliseconds by step; `total_ms` is the whole pass.
   */
  timings: {
    [k: string]: number;
  };
  [k: string]: unknown;
}
/**
 * A problem in a definition file, with the place to look at.
 */
export interface Diagnostic {
  /**
   * File, relative to the factory's root.
   */
  path: string;
  /**
   * Line, counted from 1.
   */
  line: number;
  /**
   * Column, counted from 1 in UTF-16 units.
   */
  column: number;
  /**
   * Line where the place ends.
   */
  end_line?: number;
  /**
   * Column behind its last character.
   */
  end_column?: number;
  /**
   * An error keeps its file from applying; a warning does not.
   */
  severity: 'error' | 'warning';
  /**
   * kebab-case identifier of the rule.
   */
  rule: string;
  /**
   * Published code of the rule: `FF_…`.
   */
  code: string;
  /**
   * What was found, what was expected, and the way out.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * One step from what is applied to what the files say. Shows names of members, never values.
 */
export interface Change {
  /**
   * What happens to the object.
   */
  action: 'create' | 'update' | 'delete';
  /**
   * Kind of object.
   */
  kind: 'factory' | 'environment' | 'skill' | 'webhook' | 'automation';
  /**
   * Name inside the factory; empty for the factory itself.
   */
  slug: string;
  /**
   * Identifier that the object has or will have.
   */
  uid: string;
  /**
   * File that decides it.
   */
  path: string;
  /**
   * Of an update: members of the definition that differ, as the file spells them; else empty.
   */
  changes: string[];
  /**
   * Of a create: file of the deleted object with the very same definition.
   */
  renamed_from?: string;
  /**
   * Of a pass: the secret whose new version the webhook took over.
   */
  secret_name?: string;
  /**
   * That version; null when the secret is gone and the webhook refuses everything.
   */
  secret_version?: number | null;
  /**
   * Of a plan: where the webhook is or will be delivered to; `{token}` stands for the secret of a url_token webhook.
   */
  ingress_url?: string;
  [k: string]: unknown;
}
/**
 * One object that is applied in a factory.
 */
export interface InventoryItem {
  /**
   * Kind of object.
   */
  kind: 'environment' | 'skill' | 'webhook' | 'automation';
  /**
   * Name inside the factory.
   */
  slug: string;
  /**
   * Stable identifier.
   */
  uid: string;
  /**
   * File that decides it, relative to the factory's root; null on a dashboard factory.
   */
  file: string | null;
  /**
   * Revision that it was last changed by.
   */
  revision: string;
  /**
   * `applied`; `disabled` where its own definition says so; `held` where its file has an error or its deletion waits: it serves as it was applied before.
   */
  state: 'applied' | 'disabled' | 'held';
  [k: string]: unknown;
}
