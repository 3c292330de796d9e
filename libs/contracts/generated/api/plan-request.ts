/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A tree of definition files.
 */
export interface PlanRequest {
  /**
   * The whole tree: what is left out counts as deleted. At most 2,000 files, and 1 MiB of request body in all. Files that are no definitions are ignored.
   *
   * @maxItems 2000
   */
  files: TreeFile[];
  [k: string]: unknown;
}
/**
 * One file of a factory's tree.
 */
export interface TreeFile {
  /**
   * Path relative to the factory's root, with `/` between segments; no `..`, no empty segment, once in a tree.
   */
  path: string;
  /**
   * Its text. More than 256 KiB (262,144 bytes of UTF-8) are a problem of the file.
   */
  content: string;
  [k: string]: unknown;
}
