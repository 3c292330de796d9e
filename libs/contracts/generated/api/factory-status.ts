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
   * Revision that was advertised last, whether it may apply or not.
   */
  revision_seen: string | null;
  /**
   * Revision that was last judged. One that is not verified, or whose rewritten history waits for an approval, is not judged.
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
   * The pass that found what waits for an approval now; its `plan` is what `approve` takes. It stays while the files cannot be read. Null when nothing waits.
   */
  held_sync: Sync | null;
  /**
   * The newest passes that brought something new, newest first; at most 5.
   */
  recent_syncs: {
    /**
     * The pass.
     */
    id: string;
    /**
     * When it ended.
     */
    finished_at: string;
    /**
     * As a sync's.
     */
    ending: 'applied' | 'blocked' | 'failed';
    /**
     * As a sync's.
     */
    reason: string | null;
    /**
     * Revision that was looked at.
     */
    revision: string | null;
    /**
     * How many were applied.
     */
    changes: number;
    /**
     * How many were found.
     */
    problems: number;
    /**
     * Commits in between that never applied by themselves.
     */
    superseded: number;
    [k: string]: unknown;
  }[];
  /**
   * The newest events, newest first; at most 10.
   */
  events: FactoryEvent[];
  /**
   * What is applied, by kind and name.
   */
  inventory: InventoryItem[];
  [k: string]: unknown;
}
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
   * Digest that an approval of the held deletions, or of the rewritten history, names; null where none is needed.
   */
  plan: string | null;
  /**
   * Milliseconds by step; `total_ms` is the whole pass.
   */
  timings: {
    [k: string]: number;
  };
  /**
   * Revision that the branch held before, where its history was rewritten; else null.
   */
  rewritten_from: string | null;
  /**
   * Commits that came between the revision before and this one, and never applied by themselves.
   */
  superseded: number;
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
  /**
   * The lines around the place; long ones are cut, `•••` stands for what could be a secret, and what cannot be printed is written as `\u{…}`. Absent where the text was not at hand, and beyond the first hundred problems.
   */
  excerpt?: {
    /**
     * Number of the first of these lines.
     */
    first_line: number;
    /**
     * At most five.
     */
    lines: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One step from what is applied to what the files say. Shows names of members; a plan also shows old and new of each, secrets never.
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
   * Of a plan: old and new of each key of an object that changes, 50 at most. Of prompts and other long texts, how many lines and from which on they differ; `•••` for what may be a secret.
   */
  values?: {
    /**
     * JSON pointer into the definition.
     */
    key: string;
    /**
     * JSON text of the old value; absent where there was none.
     */
    before?: string;
    /**
     * JSON text of the new value; absent where there is none.
     */
    after?: string;
    [k: string]: unknown;
  }[];
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
  /**
   * Of a plan: where the webhook is delivered to now, if that changes with its `authMode`.
   */
  ingress_url_before?: string;
  /**
   * Of a plan: the secret of a webhook that is made, or that changes its `secretName`. Never its value.
   */
  secret?: {
    /**
     * What it uses now; null for a new webhook.
     */
    before: {
      /**
       * Name of the secret.
       */
      name: string;
      /**
       * How often its value was set; 0: not set, or nothing that this factory may use.
       */
      version: number;
      /**
       * Equal for equal values within this factory, and good for nothing else; null where none is set.
       */
      fingerprint: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * What it will use.
     */
    after: {
      /**
       * Name of the secret.
       */
      name: string;
      /**
       * How often its value was set; 0: not set, or nothing that this factory may use.
       */
      version: number;
      /**
       * Equal for equal values within this factory, and good for nothing else; null where none is set.
       */
      fingerprint: string | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  };
  /**
   * Of a plan: use that was made of the object within the last days, counted by the times that IDs name. Of a webhook: its deliveries and the runs that they started. Of an automation: deliveries to the webhooks that it selects now or will, and its runs. Of an environment or skill: runs of the factory that named it; a skill that is named by its repository is not told. Of the factory: everything.
   */
  traffic?: {
    /**
     * Days that are counted.
     */
    days: 7;
    /**
     * Entries of the delivery log; null for environments and skills.
     */
    deliveries: number | null;
    /**
     * Deliveries of these that were accepted; null for environments and skills.
     */
    accepted: number | null;
    /**
     * Runs that were created.
     */
    runs: number;
    /**
     * Runs of these that ended as FAILED or ERROR.
     */
    failed_runs: number;
    /**
     * The newest of the deliveries; null without any.
     */
    last_delivery_at: string | null;
    /**
     * When the newest of the runs was created; null without any.
     */
    last_run_at: string | null;
    [k: string]: unknown;
  };
  /**
   * Of a plan: what names an environment that is deleted, so that its runs will fail: schedules and agent identities of the factory, and automations by its UID. Absent where nothing does.
   */
  used_by?: {
    /**
     * What it is.
     */
    kind: 'automation' | 'schedule' | 'agent_identity';
    /**
     * The name that it has now.
     */
    name: string;
    /**
     * Identifier of a schedule or an agent identity; absent for an automation.
     */
    uid?: string;
    [k: string]: unknown;
  }[];
  /**
   * Of a plan: secrets of the runs of a factory's defaults, an environment or an automation that comes or changes, and where each of them is.
   */
  run_secrets?: {
    /**
     * Name of the managed secret.
     */
    name: string;
    /**
     * Host whose requests carry it: it is added outside of the sandbox.
     */
    host?: string;
    /**
     * Header that carries it.
     */
    header?: string;
    /**
     * Methods of these requests.
     */
    methods?: string[];
    /**
     * Paths of these requests.
     */
    paths?: string[];
    /**
     * env: it is inside the sandbox, as a variable.
     */
    expose?: string;
    [k: string]: unknown;
  }[];
  /**
   * Of a plan: the newest accepted deliveries that are stored, 50 at most, asked again. Of an automation whose triggers or `enabled` change, or that comes or goes: those of all webhooks that it selects, on either side; whether it would start. Of a webhook that is enabled, disabled, made or deleted: its own; whether anything would start.
   */
  replay?: {
    /**
     * Deliveries that were asked.
     */
    deliveries: number;
    /**
     * How many of them start something as it is now.
     */
    before: number;
    /**
     * How many of them would start something once this is applied.
     */
    after: number;
    /**
     * Log entries that start nothing now and would: the newest 5.
     */
    starts: string[];
    /**
     * Log entries that start something now and would not: the newest 5.
     */
    stops: string[];
    /**
     * Deliveries whose stored payload cannot be read; they count as starting nothing.
     */
    unreadable: number;
    /**
     * Filters, now and then, that cannot be used; they match nothing.
     */
    filters_unreadable: number;
    /**
     * Asking the older of the deliveries too would be more work than a plan may take: the counts are those of the newest `deliveries` alone, of which there can be none. The same plan is cut at the same place each time.
     */
    cut: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Something that happened to a factory. Told once, however often a pass finds it again; never holds a secret or a payload.
 */
export interface FactoryEvent {
  /**
   * UUIDv7 of the event.
   */
  id: string;
  /**
   * When it happened.
   */
  at: string;
  /**
   * `Warning` where people should look.
   */
  type: 'Normal' | 'Warning';
  /**
   * kebab-case word for programs.
   */
  reason: string;
  /**
   * Sentence for people.
   */
  message: string;
  /**
   * Revision that it is about; null where it is about none.
   */
  revision: string | null;
  /**
   * The pass that it happened in; null where it was none, or one that was not recorded.
   */
  sync: string | null;
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
   * Object ID that git gives the file as it is applied (SKILL.md of a skill); null on a dashboard factory.
   */
  blob: string | null;
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
