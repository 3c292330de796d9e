/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What a pass over a tree would do now. Nothing is written.
 */
export interface Plan {
  /**
   * The factory.
   */
  factory_uid: string;
  /**
   * `sha256:…` of the files: what a directory with exactly these files has as its revision.
   */
  revision: string;
  /**
   * Whether no problem is an error.
   */
  valid: boolean;
  /**
   * How a pass over these files would end. `applied`: the files become what serves. `blocked`: people must act.
   */
  ending: 'applied' | 'blocked';
  /**
   * kebab-case word for programs; null for `applied`.
   */
  reason: string | null;
  /**
   * Sentence for people; null for `applied`.
   */
  message: string | null;
  /**
   * Problems in the files, in reading order.
   */
  problems: Diagnostic[];
  /**
   * What would be applied, in order: now, or where the ending is `blocked` for held deletions, once these are approved. Empty where errors block the whole tree.
   */
  changes: Change[];
  /**
   * Deletions that would be held back.
   */
  held: Change[];
  /**
   * Digest that an approval of the held deletions names; null where none is needed. It covers the revision: a commit of a git repository has another.
   */
  plan: string | null;
  /**
   * Number of changes by action, and of held deletions.
   */
  summary: {
    /**
     * Objects to create.
     */
    create: number;
    /**
     * Objects to update.
     */
    update: number;
    /**
     * Objects to delete.
     */
    delete: number;
    /**
     * Deletions held back.
     */
    held: number;
    [k: string]: unknown;
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
