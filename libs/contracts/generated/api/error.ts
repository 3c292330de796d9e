/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Why a request was not served: a problem (RFC 9457). Some problems have further members that say how to go on; the operation names them.
 */
export interface Error {
  /**
   * Names the kind of problem as a URL: {public}/errors/ and `error` in kebab case.
   */
  type: string;
  /**
   * The kind of problem in words; the same for every problem of a kind.
   */
  title: string;
  /**
   * The status of the answer.
   */
  status: number;
  /**
   * The kind of problem for programs.
   */
  error:
    | 'invalid_request'
    | 'authentication_required'
    | 'not_authorized'
    | 'feature_not_available'
    | 'budget_exceeded'
    | 'resource_not_found'
    | 'conflict'
    | 'operation_not_supported'
    | 'resource_unavailable'
    | 'environment_setup_failed'
    | 'internal_error';
  /**
   * What is wrong with this request, in words.
   */
  detail: string;
  /**
   * Path of the request; empty where it is not repeated.
   */
  instance: string;
  /**
   * Whether the same request can succeed later.
   */
  retryable: boolean;
  /**
   * Names the request in the log of the service; also in the header X-Request-Id.
   */
  trace_id: string;
  /**
   * Each offending member; empty where the request as a whole is refused.
   *
   * Items: One thing that is wrong.
   */
  errors: {
    /**
     * JSON pointer into the body, name of a query parameter, or name of a header.
     */
    pointer: string;
    /**
     * What is wrong with it, and what would be right.
     */
    message: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
