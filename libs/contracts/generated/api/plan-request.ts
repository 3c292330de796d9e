/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A tree of definition files, or a ref of the repository that the factory follows: one of both.
 */
export interface PlanRequest {
  /**
   * The whole tree: what is left out counts as deleted. At most 2,000 files and 64 MiB of text together: a request body of more than 1 MiB says its length (Content-Length). Files that are no definitions are ignored.
   *
   * @maxItems 2000
   */
  files?: TreeFile[];
  /**
   * A branch or a tag (`main`, `refs/heads/main`, `refs/tags/v1`), a whole commit ID, `HEAD`, or a pull request (`pull/12`, `merge-requests/12`) of the repository that the factory follows. The service fetches it with the credential and within the bounds of a sync; nothing of it is applied. Pull requests are judged without what is known of secrets.
   */
  ref?: string;
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
