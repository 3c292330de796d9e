/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
