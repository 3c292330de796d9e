/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What became of one revision: whether it, or one that holds it, serves.
 */
export interface RevisionStatus {
  /**
   * The revision: the whole commit ID, or `sha256:…` of a directory's files; as it was asked for where it is unknown.
   */
  revision: string;
  /**
   * `serving`: it or a descendant is applied, and every replica that lives has loaded it. `waiting`: it is on its way: a replica has not loaded it, a sync window is closed, reconciling is suspended. `blocked`: people must act. `failed`: the service could not apply it and tries again. `superseded`: newer commits came before it was applied, and none of them serves yet. `lost`: it is no longer part of the branch. `unknown`: no pass has seen it yet.
   */
  state: 'serving' | 'waiting' | 'blocked' | 'failed' | 'superseded' | 'lost' | 'unknown';
  /**
   * Sentence for people.
   */
  message: string;
  /**
   * Revision that is applied; null before the first one.
   */
  serving_revision: string | null;
  /**
   * Processes that take deliveries and were heard of in the last 15 seconds.
   */
  replicas: {
    /**
     * Host, process and a random part.
     */
    name: string;
    /**
     * When it was heard of last.
     */
    seen_at: string;
    /**
     * Whether it has loaded what is applied in this factory.
     */
    serving: boolean;
    [k: string]: unknown;
  }[];
  /**
   * The pass that judged it, with its problems; null where none has.
   */
  sync: Sync | null;
  /**
   * Pull requests that brought it: the one that it is the head or the merge of, else all that were merged between the tip before it and the one that brought it, at most 20. Empty: none is known. Null: the forge has not been asked since it came.
   */
  pull_requests: MergedPullRequest[] | null;
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
