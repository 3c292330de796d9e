/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A tree of definition files, to be checked without a factory.
 */
export interface FactoryFilesValidateRequest {
  /**
   * The whole tree: what is left out counts as deleted. At most 2,000 files; without a key 256 of 256 KiB each and 2 MiB together. With a key 64 MiB of text together: a request body of more than 3 MiB says its length (Content-Length). Files that are no definitions are ignored.
   *
   * @maxItems 2000
   */
  files: TreeFile[];
  /**
   * Names of the secrets that exist, for webhooks and runs alike; without them no name is checked.
   *
   * @maxItems 10000
   *
   * Items: Name of a secret.
   */
  secrets?: string[];
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
