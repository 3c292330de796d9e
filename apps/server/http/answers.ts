/** The one error table of the API: code → status, title and whether a retry can help. contract 3 (Errors). */

export const ERROR_CODES = {
  invalid_request: { status: 400, title: 'The request is invalid', retryable: false },
  authentication_required: { status: 401, title: 'An API key is required', retryable: false },
  not_authorized: { status: 403, title: 'The key does not allow this', retryable: false },
  feature_not_available: { status: 403, title: 'Not available', retryable: false },
  budget_exceeded: { status: 403, title: 'The budget is used up', retryable: false },
  resource_not_found: { status: 404, title: 'Not found', retryable: false },
  conflict: { status: 409, title: 'Conflict', retryable: true },
  operation_not_supported: { status: 422, title: 'Not supported here', retryable: false },
  resource_unavailable: { status: 503, title: 'Temporarily unavailable', retryable: true },
  environment_setup_failed: { status: 500, title: 'The environment could not be set up', retryable: false },
  internal_error: { status: 500, title: 'Internal error', retryable: true },
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

export interface MemberError {
  /** JSON pointer into the body, or a query parameter's name. */
  pointer: string;
  message: string;
}

/** What an expected no says beyond its code. */
export interface RefusalOptions {
  /** Only where one code has several. */
  status?: number;
  errors?: readonly MemberError[];
  /** Only where it is not what the code says of itself. */
  retryable?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  /** Further members of the problem: what a caller needs to go on. */
  members?: Readonly<Record<string, unknown>>;
}

/** An expected no of the API. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: readonly MemberError[];
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: ErrorCode, detail: string, options: RefusalOptions = {}) {
    super(detail);
    this.code = code;
    this.status = options.status ?? ERROR_CODES[code].status;
    this.errors = options.errors ?? [];
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }
}

/** Body of an `application/problem+json` answer. */
export function toProblem(refusal: Refusal, context: { publicUrl: string; instance: string; traceId: string }): Record<string, unknown> {
  return {
    ...refusal.members,
    type: `${context.publicUrl}/errors/${refusal.code.replaceAll('_', '-')}`,
    title: ERROR_CODES[refusal.code].title,
    status: refusal.status,
    error: refusal.code,
    detail: refusal.message,
    instance: context.instance,
    retryable: refusal.retryable,
    trace_id: context.traceId,
    errors: refusal.errors,
  };
}

/** A conflict that asking again does not end: clients that retry by themselves are told so twice. contract 3 (Errors). */
export function lastingConflict(detail: string, members: Readonly<Record<string, unknown>> = {}): Refusal {
  return new Refusal('conflict', detail, { retryable: false, headers: { 'x-should-retry': 'false' }, members });
}

export const notFound = (what: string): Refusal => new Refusal('resource_not_found', `${what} was not found`);
