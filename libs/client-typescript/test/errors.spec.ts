/** Errors: which class, which words, what is at hand, and what is not printed. */
import { inspect } from 'node:util';
import * as millwright from '../src/index.ts';
import { statusError } from '../src/errors.ts';

function errorOf(status: number, text: string, headers: Record<string, string> = {}): millwright.APIStatusError {
  return statusError({ label: 'GET /x', response: new Response(null, { status, headers }), text });
}

it.each([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [422, 'UnprocessableEntityError'],
  [429, 'RateLimitError'],
  [500, 'InternalServerError'],
  [503, 'InternalServerError'],
  [599, 'InternalServerError'],
  [402, 'APIStatusError'],
  [410, 'APIStatusError'],
  [304, 'APIStatusError'],
])('%s is %s', (status, name) => {
  const error = errorOf(status, '{"error":"some_kind","detail":"words"}');
  expect(error.name).toBe(name);
  expect(error).toBeInstanceOf((millwright as unknown as Record<string, new () => Error>)[name]!);
  for (const Base of [millwright.APIStatusError, millwright.APIError, millwright.MillwrightError, Error])
    expect(error).toBeInstanceOf(Base);
  expect(error.stack).toMatch(new RegExp(`^${name}: GET /x: ${status}`));
});

it('a problem document with its members', () => {
  const problem = {
    type: 'http://127.0.0.1:8080/errors/invalid-request',
    title: 'Invalid request',
    status: 400,
    error: 'invalid_request',
    detail: 'two members are wrong',
    instance: '/x',
    retryable: false,
    trace_id: 't1',
    errors: [
      { pointer: '/a', message: 'must be text' },
      { pointer: 'limit', message: 'must be a number' },
    ],
    used_by: ['x'],
  };
  const error = errorOf(400, JSON.stringify(problem), {
    'x-request-id': 't1',
    'content-type': 'application/problem+json',
  });
  expect(error).toMatchObject({
    message: 'GET /x: 400 invalid_request: two members are wrong [/a: must be text; limit: must be a number]',
    status: 400,
    code: 'invalid_request',
    title: 'Invalid request',
    detail: 'two members are wrong',
    instance: '/x',
    retryable: false,
    traceId: 't1',
    requestId: 't1',
    errors: problem.errors,
    problem,
    retryAfterSeconds: undefined,
  });
});

it('at most five members are in the message', () => {
  const errors = Array.from({ length: 9 }, (_, index) => ({ pointer: `/${index}`, message: 'm' }));
  expect(errorOf(400, JSON.stringify({ error: 'e', detail: 'd', errors })).message).toBe(
    'GET /x: 400 e: d [/0: m; /1: m; /2: m; /3: m; /4: m; …]',
  );
});

it('what was said already is not said again, and the whole has no name', () => {
  const messageOf = (errors: unknown): string =>
    errorOf(400, JSON.stringify({ error: 'e', detail: 'd', errors })).message;
  expect(messageOf([{ pointer: '/a', message: 'd' }])).toBe('GET /x: 400 e: d');
  expect(
    messageOf([
      { pointer: '/a', message: 'd' },
      { pointer: '', message: 'whole' },
      { pointer: '/b', message: 'part' },
    ]),
  ).toBe('GET /x: 400 e: d [whole; /b: part]');
});

it('a key that the service does not know is called one, where the service says so and our key was sent', () => {
  const of = (status: number, text: string, isKeyed: boolean): string =>
    statusError({ label: 'GET /x', response: new Response(null, { status }), text, isKeyed }).message;
  const text = JSON.stringify({ error: 'authentication_required', detail: 'no' });
  const words = '; the service does not know the API key that this client was given (MILLWRIGHT_API_KEY or the option)';
  expect(of(401, text, true)).toBe(`GET /x: 401 authentication_required: no${words}`);
  for (const message of [of(401, text, false), of(403, text, true), of(401, '<h1>Who are you?</h1>', true)])
    expect(message).not.toContain(words);
});

it.each<[string, Record<string, string>, string]>([
  [
    '<h1>Bad gateway</h1>',
    { 'content-type': 'text/html; charset=utf-8' },
    '502: the answer is no problem document of a Millwright service (text/html)',
  ],
  ['', {}, '502: the answer is no problem document of a Millwright service (no content type)'],
  [
    '[1]',
    { 'content-type': 'application/json' },
    '502: the answer is no problem document of a Millwright service (application/json)',
  ],
  [
    '{"error":5,"errors":[1,{}]}',
    { 'content-type': 'Application/JSON' },
    '502: the answer is no problem document of a Millwright service (application/json)',
  ],
  [
    '{"error":"k',
    { 'content-type': 'application/json' },
    '502: the answer is no problem document of a Millwright service (application/json)',
  ],
  ['{"error":"kind","title":"Title"}', {}, '502 kind: Title'],
  ['{"error":"only words"}', {}, '502: only words'],
])('%j', (text, headers, message) => {
  expect(errorOf(502, text, headers).message).toBe(`GET /x: ${message}`);
});

it('the text is at hand, cut, and not printed', () => {
  const error = errorOf(500, `payload ${'x'.repeat(70_000)}`);
  expect(error.body).toHaveLength(65_536);
  expect(error.response.status).toBe(500);
  expect(inspect(error, { depth: 9 })).not.toContain('payload');
  expect(JSON.stringify(error)).not.toContain('payload');
});

it('other errors say what they are', () => {
  const wait = new millwright.WaitTimeoutError('words', { run_id: 'x' });
  expect(wait).toMatchObject({ name: 'WaitTimeoutError', run: { run_id: 'x' } });
  expect(new millwright.UserAbortError('why')).toMatchObject({ name: 'UserAbortError', cause: 'why' });
  expect(new millwright.APITimeoutError('host', 'timeout', 5)).toBeInstanceOf(millwright.APIConnectionError);
  for (const error of [
    wait,
    new millwright.UserAbortError(),
    new millwright.WebhookVerificationError('stale-timestamp', 'old'),
  ]) {
    expect(error).toBeInstanceOf(millwright.MillwrightError);
    expect(error).not.toBeInstanceOf(millwright.APIError);
  }
});
