/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
