/** Everything that can go wrong, as classes. Messages never hold a key, a secret, a body or a path that was sent. */

/** On the prototype, so that stack traces begin with it; text, so that it outlives minifiers. */
function setName(Class: abstract new (...given: never[]) => Error, name: string): void {
  Object.defineProperty(Class.prototype, 'name', { value: name, writable: true, configurable: true });
}

/** At hand, but not in what a log prints of an error. */
function hide(error: Error, ...members: string[]): void {
  for (const member of members) Object.defineProperty(error, member, { enumerable: false });
}

/** Base of all errors of this package; itself for what is refused before anything is sent. */
export class MillwrightError extends Error {
  static {
    setName(this, 'MillwrightError');
  }
}

/** The call was ended by its signal. `cause` is the signal's reason. */
export class UserAbortError extends MillwrightError {
  static {
    setName(this, 'UserAbortError');
  }
  constructor(reason?: unknown) {
    super('the call was ended by its signal', { cause: reason });
  }
}

/** A run did not reach the state in time. It goes on. */
export class WaitTimeoutError<Run = unknown> extends MillwrightError {
  static {
    setName(this, 'WaitTimeoutError');
  }
  /** The run as it was seen last; undefined when it was never seen. */
  readonly run: Run | undefined;
  constructor(message: string, run: Run | undefined) {
    super(message);
    this.run = run;
  }
}

/** A run has ended, in a state that was not waited for. */
export class WaitEndedError<Run = unknown> extends MillwrightError {
  static {
    setName(this, 'WaitEndedError');
  }
  /** The run as it ended. */
  readonly run: Run;
  constructor(message: string, run: Run) {
    super(message);
    this.run = run;
  }
}

/** Why a delivery is not accepted. */
export type WebhookVerificationReason =
  | 'missing-credential'
  | 'wrong-credential'
  | 'missing-header'
  | 'malformed-header'
  | 'stale-timestamp'
  | 'wrong-signature';

/** A delivery that does not prove who sent it. */
export class WebhookVerificationError extends MillwrightError {
  static {
    setName(this, 'WebhookVerificationError');
  }
  readonly reason: WebhookVerificationReason;
  constructor(reason: WebhookVerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A request was sent, and did not end well. */
export class APIError extends MillwrightError {
  static {
    setName(this, 'APIError');
  }
}

/** No whole answer came. */
export class APIConnectionError extends APIError {
  static {
    setName(this, 'APIConnectionError');
  }
  /** What the platform calls the reason, e.g. ECONNREFUSED; undefined where it has no name for it. */
  readonly code: string | undefined;
  constructor(message: string, options: { code?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = options.code;
  }
}

/** No whole answer came in time. */
export class APITimeoutError extends APIConnectionError {
  static {
    setName(this, 'APITimeoutError');
  }
  /** The limit that was reached. */
  readonly limit: 'timeout' | 'totalTimeout';
  /** How long it is. */
  readonly milliseconds: number;
  constructor(host: string, limit: 'timeout' | 'totalTimeout', milliseconds: number) {
    super(`${host}: no whole answer within ${milliseconds} ms (${limit})`);
    this.limit = limit;
    this.milliseconds = milliseconds;
  }
}

/** An answer is not what the interface promises. */
export class APIResponseValidationError extends APIError {
  static {
    setName(this, 'APIResponseValidationError');
  }
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly response: Response;
  /** Text of the answer, its first 64 Ki characters. */
  readonly body: string;
  /** JSON pointer of what is wrong; empty for the whole answer. */
  readonly pointer: string;
  /** What ought to be there. */
  readonly expected: string;
  constructor(
    message: string,
    { response, body, pointer, expected }: { response: Response; body: string; pointer: string; expected: string },
  ) {
    super(message);
    this.status = response.status;
    this.headers = response.headers;
    this.requestId = requestIdOf(response);
    this.response = response;
    this.body = body.slice(0, BODY_LENGTH_MAX);
    this.pointer = pointer;
    this.expected = expected;
    hide(this, 'headers', 'response', 'body');
  }
}

/** One thing that is wrong with a request. */
export interface ProblemMember {
  /** JSON pointer into the body, name of a query parameter, or name of a header. */
  pointer: string;
  message: string;
}

/** What an error of a status is made of. */
export interface StatusAnswer {
  /** Method and path with its `{names}`, which the message begins with. */
  label: string;
  response: Response;
  /** The whole text of the answer. */
  text: string;
  /** Seconds after which the service wants to be asked again. */
  retryAfterSeconds?: number | undefined;
  /** Whether the key of the client was sent. */
  isKeyed?: boolean | undefined;
}

/**
 * The service refuses, or something in between answers in its place. Members of the problem document are undefined
 * where it lacks them.
 */
export class APIStatusError extends APIError {
  static {
    setName(this, 'APIStatusError');
  }
  readonly status: number;
  readonly headers: Headers;
  readonly response: Response;
  /** The service's name of the request (X-Request-Id). */
  readonly requestId: string | undefined;
  /** Text of the answer, its first 64 Ki characters. */
  readonly body: string;
  /** The JSON object of the answer as it was received; undefined when it is none. */
  readonly problem: Readonly<Record<string, unknown>> | undefined;
  /** The kind of problem for programs, e.g. `resource_not_found`. */
  readonly code: string | undefined;
  /** The kind of problem in words. */
  readonly title: string | undefined;
  /** What is wrong with this request, in words. */
  readonly detail: string | undefined;
  /** Path of the request. */
  readonly instance: string | undefined;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean | undefined;
  /** Names the request in the log of the service. */
  readonly traceId: string | undefined;
  /** Each offending member; empty where the request as a whole is refused. */
  readonly errors: readonly ProblemMember[];
  /** Seconds after which the service wants to be asked again. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ label, response, text, retryAfterSeconds, isKeyed }: StatusAnswer) {
    const problem = problemOf(text);
    const remark = isKeyed === true && isKeyUnknown(response, problem) ? KEY_UNKNOWN : '';
    super(`${label}: ${statusMessage(response, problem)}${remark}`);
    this.status = response.status;
    this.headers = response.headers;
    this.response = response;
    this.requestId = requestIdOf(response);
    this.body = text.slice(0, BODY_LENGTH_MAX);
    this.problem = problem;
    this.code = textOf(problem?.['error']);
    this.title = textOf(problem?.['title']);
    this.detail = textOf(problem?.['detail']);
    this.instance = textOf(problem?.['instance']);
    this.retryable = typeof problem?.['retryable'] === 'boolean' ? problem['retryable'] : undefined;
    this.traceId = textOf(problem?.['trace_id']);
    this.errors = membersOf(problem?.['errors']);
    this.retryAfterSeconds = retryAfterSeconds;
    hide(this, 'headers', 'response', 'body');
  }
}

/** 400: the request is not understood. */
export class BadRequestError extends APIStatusError {
  static {
    setName(this, 'BadRequestError');
  }
}

/** 401: the key is not known, or not any more. */
export class AuthenticationError extends APIStatusError {
  static {
    setName(this, 'AuthenticationError');
  }
}

/** 403: the key may not do this. */
export class PermissionDeniedError extends APIStatusError {
  static {
    setName(this, 'PermissionDeniedError');
  }
}

/** 404: there is nothing of that name, or nothing that the key may see. */
export class NotFoundError extends APIStatusError {
  static {
    setName(this, 'NotFoundError');
  }
}

/** 409: what is there stands against it. */
export class ConflictError extends APIStatusError {
  static {
    setName(this, 'ConflictError');
  }
}

/** 422: the request is understood, and cannot be carried out as it is. */
export class UnprocessableEntityError extends APIStatusError {
  static {
    setName(this, 'UnprocessableEntityError');
  }
}

/** 429: too many requests; `retryAfterSeconds` says when to come again. */
export class RateLimitError extends APIStatusError {
  static {
    setName(this, 'RateLimitError');
  }
}

/** 500 and above: the service cannot serve this now. */
export class InternalServerError extends APIStatusError {
  static {
    setName(this, 'InternalServerError');
  }
}

const CLASSES: Readonly<Record<number, new (answer: StatusAnswer) => APIStatusError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** The error of an answer that is no success. */
export function statusError(answer: StatusAnswer): APIStatusError {
  const { status } = answer.response;
  const Class = CLASSES[status] ?? (status >= 500 ? InternalServerError : APIStatusError);
  return new Class(answer);
}

/** The service's name of a request. */
export function requestIdOf(response: Response): string | undefined {
  return response.headers.get('x-request-id') ?? undefined;
}

/** The kind of content, without its parameters, for messages. */
export function mediaTypeOf(response: Response): string {
  return (
    /^[\w.+-]{1,64}\/[\w.+-]{1,64}/.exec(response.headers.get('content-type') ?? '')?.[0].toLowerCase() ??
    'no content type'
  );
}

/** As much of an answer as an error keeps. */
const BODY_LENGTH_MAX = 64 * 1024;
/** As many offending members as a message names. */
const MEMBERS_IN_MESSAGE = 5;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

const KEY_UNKNOWN =
  '; the service does not know the API key that this client was given (MILLWRIGHT_API_KEY or the option)';

/** Whether it was the service that said so: what stands in between may want a credential of its own. */
function isKeyUnknown({ status }: Response, problem: Readonly<Record<string, unknown>> | undefined): boolean {
  return status === 401 && textOf(problem?.['error']) !== undefined;
}

function statusMessage(response: Response, problem: Readonly<Record<string, unknown>> | undefined): string {
  const { status } = response;
  // Browsers show nothing of a redirect, not even its status.
  if (REDIRECTS.includes(status) || response.type === 'opaqueredirect') {
    return (
      `${status === 0 ? '3xx' : status}: the answer is a redirect, which is not followed; give the address that ` +
      'it leads to'
    );
  }
  if (status === 304) return '304: the answer is "not modified", without a body';
  const code = textOf(problem?.['error']);
  const words = textOf(problem?.['detail']) ?? textOf(problem?.['title']);
  if (code === undefined && words === undefined)
    return `${status}: the answer is no problem document of a Millwright service (${mediaTypeOf(response)})`;
  const kind = code === undefined || words === undefined ? '' : ` ${code}`;
  return `${status}${kind}: ${words ?? code}${offending(membersOf(problem?.['errors']), words)}`;
}

/** The members that are wrong, in brackets, without what was said already. */
function offending(members: readonly ProblemMember[], said: string | undefined): string {
  const further = members.filter(({ message }) => message !== said);
  if (further.length === 0) return '';
  const named = further
    .slice(0, MEMBERS_IN_MESSAGE)
    .map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`));
  return ` [${[...named, ...(further.length > MEMBERS_IN_MESSAGE ? ['…'] : [])].join('; ')}]`;
}

function problemOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): ProblemMember[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (!isObject(item) || typeof item['pointer'] !== 'string' || typeof item['message'] !== 'string') return [];
    return [{ pointer: item['pointer'], message: item['message'] }];
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
