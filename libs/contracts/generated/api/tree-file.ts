/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
