/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
