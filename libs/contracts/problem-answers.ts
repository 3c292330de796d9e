/**
 * Which problems an operation can be answered with: they follow from what it takes, and are said once for all
 * operations. contract §3.10 (Errors).
 */
import type { Operation } from './operations.ts';

interface ProblemAnswer {
  /** Name of the response component. */
  name: string;
  description: string;
  /** Components of headers that such an answer carries, by header name. */
  headers: Readonly<Record<string, string>>;
}

/** Every status that a problem of the interface can have. */
export const PROBLEM_ANSWERS: Readonly<Record<number, ProblemAnswer>> = {
  400: problem(
    'BadRequest',
    'The request is malformed: `errors` names each offending member of the body by JSON pointer, each parameter ' +
      'of the query and each header by its name.',
  ),
  401: problem('Unauthorized', 'The key is missing, unknown, revoked or expired, or the session has ended.', {
    'WWW-Authenticate': 'WwwAuthenticate',
  }),
  403: problem('Forbidden', 'The key may see this and may not do it, or a session asks without its CSRF token.'),
  404: problem('NotFound', 'There is no such resource, or the key may not see it.'),
  409: problem(
    'Conflict',
    'The request does not fit the state of the resource, or its idempotency key belongs to another request. ' +
      '`retryable`, and `x-should-retry: false` where it is false, say whether asking again can help.',
    { 'x-should-retry': 'ShouldRetry', 'Retry-After': 'MayRetryAfter' },
  ),
  413: problem('ContentTooLarge', 'The body is too large.'),
  415: problem('UnsupportedMediaType', 'The body is not application/json.'),
  422: problem('UnprocessableContent', 'The request is well-formed and asks for what is not supported here.'),
  429: problem('TooManyRequests', 'The key has spent its requests; `Retry-After` says when there are new ones.', {
    'Retry-After': 'RetryAfter',
  }),
  431: problem('HeadersTooLarge', 'Address and headers together are too large.'),
  500: problem('InternalError', 'Something failed inside the service; its log has the details under `trace_id`.'),
  503: problem('Unavailable', 'The service cannot do this now; `Retry-After` says when to ask again.', {
    'Retry-After': 'RetryAfter',
  }),
};

/** Statuses of the problems that an operation can be answered with, ascending. */
export function problemStatusesOf(operation: Operation): number[] {
  const { role, body, method, parameters = [], refusals = [] } = operation;
  const takes = (place: 'path' | 'query'): boolean => parameters.some((parameter) => parameter.in === place);
  const writes = method === 'post' || method === 'put' || method === 'patch';
  const statuses = [
    ...refusals,
    ...(role === undefined ? [] : [401, 403, 429]),
    ...(takes('path') ? [404] : []),
    ...(takes('query') || body !== undefined || takesIdempotencyKey(operation) ? [400] : []),
    // What is short enough for its parameter can be too long for an address.
    ...(takes('query') ? [431] : []),
    // A body that nobody asked for is read, too.
    ...(writes ? [400, 413, 415] : []),
    ...(takesIdempotencyKey(operation) ? [409] : []),
    500,
    503,
  ];
  return [...new Set(statuses)].sort((left, right) => left - right);
}

/** contract §3.2 (Create): on every POST that a key makes, also where it could come without one. */
export function takesIdempotencyKey({ method, role, refusals = [] }: Operation): boolean {
  return method === 'post' && (role !== undefined || refusals.includes(401));
}

function problem(name: string, description: string, headers: Readonly<Record<string, string>> = {}): ProblemAnswer {
  return { name, description, headers };
}
