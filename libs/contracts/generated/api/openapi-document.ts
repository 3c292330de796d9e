/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An OpenAPI 3.1 document.
 */
export interface OpenApiDocument {
  /**
   * Version of the specification that the document follows.
   */
  openapi: string;
  /**
   * Title, version and description of the interface.
   */
  info: {
    [k: string]: unknown;
  };
  /**
   * Where the interface is reached.
   *
   * Items: One base URL.
   */
  servers: {
    [k: string]: unknown;
  }[];
  /**
   * Groups of operations, in the order of the documentation.
   *
   * Items: One group.
   */
  tags: {
    [k: string]: unknown;
  }[];
  /**
   * Operations by path and method.
   */
  paths: {
    [k: string]: unknown;
  };
  /**
   * Schemas, answers, headers and security schemes that the operations refer to.
   */
  components: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
