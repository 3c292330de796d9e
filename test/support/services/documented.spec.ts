/** The comparison of answers with the API document finds what departs, and nothing else. */
import { departuresOf, type SeenAnswer } from './documented.ts';

const RUN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const REQUEST_ID = { 'x-request-id': 'abc' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', ...REQUEST_ID };
const PROBLEM_TYPE = { 'content-type': 'application/problem+json; charset=utf-8', ...REQUEST_ID };
const problem = (status: number, more: object = {}): string =>
  JSON.stringify({
    type: 'https://x/errors/y',
    title: 'T',
    status,
    error: 'invalid_request',
    detail: 'd',
    instance: '',
    retryable: false,
    trace_id: 'abc',
    errors: [],
    ...more,
  });

const seen = (more: Partial<Omit<SeenAnswer, 'headers'>> & { headers?: Record<string, string> }): SeenAnswer => ({
  method: 'POST',
  path: `/agent/runs/${RUN_ID}/cancel`,
  query: '',
  status: 200,
  json: JSON.stringify(RUN_ID),
  ...more,
  headers: new Headers(more.headers ?? JSON_TYPE),
});

describe('an answer conforms', () => {
  it.each<[why: string, answer: SeenAnswer]>([
    ['a documented success', seen({})],
    ['a documented refusal', seen({ status: 400, headers: PROBLEM_TYPE, json: problem(400) })],
    [
      'a refusal with further members',
      seen({ status: 409, headers: PROBLEM_TYPE, json: problem(409, { used_by: ['x'] }) }),
    ],
    ['a status that any request can have', seen({ status: 406, headers: PROBLEM_TYPE, json: problem(406) })],
    [
      'one that was refused before the API',
      seen({ status: 421, headers: { 'content-type': 'application/json' }, json: '{"error": "x"}' }),
    ],
    ['no such route', seen({ path: '/no/such/route', status: 404, headers: PROBLEM_TYPE, json: problem(404) })],
    [
      'an address that cannot be decoded',
      seen({ path: '/agent/runs/%zz/cancel', status: 400, headers: PROBLEM_TYPE, json: problem(400) }),
    ],
    [
      'no body, to who has it already',
      seen({
        method: 'GET',
        path: '/openapi.json',
        status: 304,
        headers: { etag: '"x"', ...REQUEST_ID },
        json: undefined,
      }),
    ],
    ['HEAD is answered like GET, without a body', seen({ method: 'HEAD', path: '/agent/runs', json: undefined })],
  ])('%s', (_why, answer) => {
    expect(departuresOf(answer)).toEqual([]);
  });
});

describe('an answer departs', () => {
  it.each<[why: string, answer: SeenAnswer, departure: RegExp]>([
    [
      'an undocumented status',
      seen({ status: 418, headers: PROBLEM_TYPE, json: problem(418) }),
      /^cancelRun: the status is not documented \(200, 400, /,
    ],
    ['a success that is documented nowhere', seen({ path: '/no/such/route' }), /no operation has this method and path/],
    ['another method', seen({ method: 'PUT' }), /no operation has this method and path/],
    ['a body of another type', seen({ json: '{}' }), /the body must be string/],
    ['a body of another format', seen({ json: '"x"' }), /the body must match format/],
    [
      'a problem without a member',
      seen({ status: 404, headers: PROBLEM_TYPE, json: problem(404, { trace_id: undefined }) }),
      /required property 'trace_id'/,
    ],
    [
      'no such route, and no problem',
      seen({ path: '/no/such/route', status: 404, headers: JSON_TYPE, json: '{}' }),
      /no problem\+json/,
    ],
    [
      'another media type',
      seen({ headers: { 'content-type': 'text/plain', ...REQUEST_ID }, json: undefined }),
      /its type text\/plain is not documented \(application\/json\)/,
    ],
    ['no media type', seen({ headers: REQUEST_ID, json: undefined }), /its type \(none\) is not documented/],
    [
      'a missing header',
      seen({ status: 429, headers: PROBLEM_TYPE, json: problem(429) }),
      /the header Retry-After is missing/,
    ],
    [
      'a body where there is none',
      seen({ method: 'GET', path: '/openapi.json', status: 304, headers: { etag: '"x"', ...JSON_TYPE }, json: '{}' }),
      /none is documented/,
    ],
    [
      'a member that the document does not know',
      seen({
        method: 'GET',
        path: '/agent/runs',
        json: '{"runs": [], "page_info": {"has_next_page": false, "total": 3}}',
      }),
      /^listRuns: \/page_info\/total is in the answer and not in the document$/,
    ],
  ])('%s', (_why, answer, departure) => {
    expect(departuresOf(answer)).toEqual([expect.stringMatching(departure)]);
  });

  it('in several ways, and all are named', () => {
    expect(
      departuresOf(
        seen({
          status: 429,
          headers: { 'content-type': 'application/problem+json' },
          json: problem(429, { title: 5 }),
        }),
      ),
    ).toHaveLength(3);
  });
});
