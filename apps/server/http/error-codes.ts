/**
 * The one error table of the API: code → status, title, whether a retry can help, and what it means in words. contract
 * §3.10 (Errors).
 */

export const ERROR_CODES = {
  invalid_request: {
    status: 400,
    title: 'The request is invalid',
    retryable: false,
    meaning:
      'The request cannot be understood as it is. errors names each offending member: of the body by JSON ' +
      'pointer, of the query and the headers by name. The status says more: 405 the method is not one of the ' +
      'path’s, 406 the Accept header excludes every type of answer, 408 the body took too long, 413 it is too ' +
      'large, 415 it is not JSON, 421 the Host header names another server, 431 the headers are too large.',
  },
  authentication_required: {
    status: 401,
    title: 'An API key is required',
    retryable: false,
    meaning:
      'The request carries no valid API key: none, an unknown one, one that was revoked or has run out. Send it ' +
      'as Authorization: Bearer mw_…. A browser whose session has ended signs in again.',
  },
  not_authorized: {
    status: 403,
    title: 'The key does not allow this',
    retryable: false,
    meaning:
      'The API key is valid and its role does not suffice, or it is limited to factories and the request ' +
      'concerns all of them: ask an admin for another key. Or a browser that is signed in asked without the ' +
      'X-CSRF-Token of its session, or from a page of another site.',
  },
  feature_not_available: {
    status: 403,
    title: 'Not available',
    retryable: false,
    meaning: 'This service does not offer what was asked for.',
  },
  budget_exceeded: {
    status: 403,
    title: 'The budget is used up',
    retryable: false,
    meaning: 'A limit that was set for this work is reached.',
  },
  resource_not_found: {
    status: 404,
    title: 'Not found',
    retryable: false,
    meaning: 'There is no such resource, or the API key may not see it: both are the same answer.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    retryable: true,
    meaning:
      'The request does not fit the state that the resource is in, or its Idempotency-Key belongs to another ' +
      'request. retryable says whether the same request can succeed later; where it cannot, the header ' +
      'x-should-retry: false says so too.',
  },
  operation_not_supported: {
    status: 422,
    title: 'Not supported here',
    retryable: false,
    meaning:
      'The request is well-formed and asks for something that this service, or this resource, does not do. ' +
      'errors names the members.',
  },
  resource_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    retryable: true,
    meaning:
      'The service cannot do this now: the API key has spent its requests (429), or something that the service ' +
      'needs is away (503). Retry-After says in seconds when to ask again.',
  },
  environment_setup_failed: {
    status: 500,
    title: 'The environment could not be set up',
    retryable: false,
    meaning:
      'The environment of a run cannot be made as it is configured. Asking again does not help; its ' +
      'configuration has to change.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    retryable: true,
    meaning: 'Something failed inside the service. Its log has the details under the trace_id of the answer.',
  },
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

/** The last segment of a problem's `type`, and of the page that explains it. */
export function kebabCode(code: ErrorCode): string {
  return code.replaceAll('_', '-');
}

export interface MemberError {
  /** JSON pointer into the body, or the name of a query parameter or header. */
  pointer: string;
  message: string;
}

/** What an expected no says beyond its code. */
export interface RefusalOptions {
  /** Only where one code has several. */
  status?: number;
  /** Only where that of the code would mislead. */
  title?: string;
  errors?: readonly MemberError[];
  /** Only where it is not what the code says of itself. */
  retryable?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  /** Further members of the problem: what a caller needs to go on. */
  members?: Readonly<Record<string, unknown>>;
}

/** An expected no of the API. */
export class RefusalError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly errors: readonly MemberError[];
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: ErrorCode, detail: string, options: RefusalOptions = {}) {
    super(detail);
    this.code = code;
    this.status = options.status ?? ERROR_CODES[code].status;
    this.title = options.title ?? ERROR_CODES[code].title;
    this.errors = options.errors ?? [];
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }
}

/** An `application/problem+json` answer, ready to be written. Header names are in lower case. */
export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Seconds after which a client may ask again where nobody knows better. */
const RETRY_AFTER_SECONDS = 5;

/** The answer to a refused request. `instance`: its path, or '' where it is not repeated. */
export function problemAnswer(
  refusal: RefusalError,
  context: { publicUrl: string; instance: string; traceId: string },
): ProblemAnswer {
  const { status, retryAfterSeconds } = refusal;
  const waits = retryAfterSeconds !== undefined || status === 429 || status === 503;
  return {
    status,
    headers: {
      ...Object.fromEntries(Object.entries(refusal.headers).map(([name, value]) => [name.toLowerCase(), value])),
      ...(waits ? { 'retry-after': String(retryAfterSeconds ?? RETRY_AFTER_SECONDS) } : {}),
      ...(!refusal.retryable && isRetriedByClients(status) ? { 'x-should-retry': 'false' } : {}),
      'content-type': 'application/problem+json; charset=utf-8',
    },
    body: JSON.stringify(toProblem(refusal, context)),
  };
}

/** What published clients ask again by themselves, unless they are told not to. contract §3.10 (Errors). */
function isRetriedByClients(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function toProblem(
  refusal: RefusalError,
  context: { publicUrl: string; instance: string; traceId: string },
): Record<string, unknown> {
  return {
    ...refusal.members,
    type: `${context.publicUrl}/errors/${kebabCode(refusal.code)}`,
    title: refusal.title,
    status: refusal.status,
    error: refusal.code,
    detail: refusal.message,
    instance: context.instance,
    retryable: refusal.retryable,
    trace_id: context.traceId,
    errors: refusal.errors,
  };
}

/** A conflict that asking again does not end. contract §3.10 (Errors). */
export function lastingConflict(
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
  errors: readonly MemberError[] = [],
): RefusalError {
  return new RefusalError('conflict', detail, { retryable: false, members, errors });
}

/**
 * Every member that is wrong, in one 400; a single one is the detail itself. `what` calls them when they are several.
 * contract §3.10 (Errors).
 */
export function invalidMembers(errors: readonly MemberError[], what = 'members of the body'): RefusalError {
  return new RefusalError(
    'invalid_request',
    errors.length === 1 ? (errors[0]?.message ?? '') : `${errors.length} ${what} are invalid`,
    { errors },
  );
}

export const notFound = (what: string): RefusalError => new RefusalError('resource_not_found', `${what} was not found`);
