/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * The JSON Schemas of the definition files.
 */
export interface SchemaDocumentList {
  /**
   * Version of the definition files' format.
   */
  schema_version: string;
  /**
   * Every document.
   */
  schemas: {
    /**
     * Name of the document.
     */
    name: 'factory' | 'webhook' | 'automation' | 'environment' | 'agent';
    /**
     * What it describes.
     */
    description: string;
    /**
     * Where it is.
     */
    url: string;
    /**
     * Its entity tag, as that address answers it.
     */
    etag: string;
    [k: string]: unknown;
  }[];
  /**
   * Version of the hosted format that the documents describe.
   */
  current_version: string;
  /**
   * The versions that are served: one.
   */
  versions: {
    /**
     * The version.
     */
    schema_version: string;
    /**
     * Where all of its documents are: a path from the root of this server.
     */
    schema_url: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
