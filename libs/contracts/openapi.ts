/**
 * The interface as one OpenAPI 3.1 document, assembled from its operations and components: nothing is written twice.
 * contract §3, §4.
 */
import { API_SCHEMAS } from './interface.ts';
import { referenceTo, resolvedType, rewrittenSchema, titleOf, toComponent } from './openapi-components.ts';
import { OPERATIONS, type Operation, type OperationAnswer, type OperationParameter } from './operations.ts';
import { PROBLEM_ANSWERS, problemStatusesOf, takesIdempotencyKey } from './problem-answers.ts';

export interface OpenApiDocument {
  openapi: string;
  info: Readonly<Record<string, unknown>>;
  servers: readonly { url: string; description: string }[];
  tags: readonly { name: string; description: string }[];
  /** Path template → method → operation object. */
  paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  components: {
    schemas: Readonly<Record<string, Json>>;
    responses: Readonly<Record<string, Json>>;
    headers: Readonly<Record<string, Json>>;
    securitySchemes: Json;
  };
}

export interface OpenApiOperation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Json[];
  responses: Readonly<Record<string, Json>>;
  /** What a generated member says that has no name of its own here: deprecated, security, requestBody, x-role. */
  [member: string]: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** Grows with the interface; the path segment `v1` stays. */
const INTERFACE_VERSION = '1.0.0';

/** Groups that people look for first; further ones follow in the order of their files. */
const TAGS_FIRST = [
  'Runs',
  'Agents',
  'Factories',
  'Webhooks',
  'Automations',
  'Deliveries',
  'Secrets',
  'API keys',
  'Audit',
  'Factory files',
];

const DESCRIPTION = [
  'Creates, steers and inspects agent runs, and manages the factories whose webhooks and automations start them.',
  'Every request carries an API key: `Authorization: Bearer mw_…`; a browser that has signed in carries the ' +
    'cookie of its session instead, and with what changes something the header `X-CSRF-Token`. What a key may not ' +
    'see is answered exactly like what does not exist.',
  'Arrays in a query are repeated keys (`state=QUEUED&state=FAILED`), maps are `metadata[key]=value`; unknown ' +
    'parameters are ignored. Unknown members of a body are refused with 400, but for those of runs, schedules and ' +
    'agent identities, and where the description of the body says that they are ignored. Times are RFC 3339 in UTC.',
  'Every refusal is `application/problem+json`. Beyond the statuses of an operation, a wrong method is answered ' +
    '405, an `Accept` header that no answer satisfies 406, a body that does not come in time 408, a `Host` that ' +
    'is not this server’s 421, headers beyond bounds 431.',
].join('\n\n');

/**
 * The document of a service that is reached at `publicUrl` (no trailing slash; empty: relative to where the document
 * is).
 */
export function openApiDocument(publicUrl: string): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millwright',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      contact: { name: 'Who runs this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${publicUrl}/api/v1`, description: 'This service.' }],
    tags: tags(),
    paths: paths(),
    components: {
      schemas: Object.fromEntries(Object.keys(API_SCHEMAS).map((file) => [titleOf(file), toComponent(file)])),
      responses: Object.fromEntries(usedProblems().map((status) => [problemOf(status).name, problemResponse(status)])),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function tags(): { name: string; description: string }[] {
  const named = new Map<string, string>();
  for (const { tag, description } of OPERATIONS) if (!named.has(tag)) named.set(tag, description);
  const placeOf = (name: string): number => (TAGS_FIRST.includes(name) ? TAGS_FIRST.indexOf(name) : TAGS_FIRST.length);
  return [...named]
    .map(([name, description]) => ({ name, description }))
    .sort((left, right) => placeOf(left.name) - placeOf(right.name));
}

function paths(): Record<string, Record<string, OpenApiOperation>> {
  const byPath: Record<string, Record<string, OpenApiOperation>> = {};
  for (const { name } of tags()) {
    for (const operation of OPERATIONS.filter(({ tag }) => tag === name).flatMap(({ operations }) => operations)) {
      const methods = (byPath[operation.path] ??= {});
      if (methods[operation.method] !== undefined)
        throw new Error(`${operation.id}: ${operation.method} ${operation.path} is declared twice`);
      methods[operation.method] = toOperation(operation, name);
    }
  }
  return byPath;
}

function toOperation(operation: Operation, tag: string): OpenApiOperation {
  const { id, summary, description, role, deprecated, body, bodyOptional } = operation;
  const parameters = [
    ...(operation.parameters ?? []).map(toParameter),
    ...(takesIdempotencyKey(operation) ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, role === undefined ? 'Needs no API key.' : `Needs the role \`${role}\` or one above it.`]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    ...(deprecated === true ? { deprecated } : {}),
    ...(role === undefined ? {} : { 'x-role': role }),
    security: securityOf(operation),
    parameters,
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: bodyOptional !== true,
            content: { 'application/json': { schema: referenceTo(body) } },
          },
        }),
    responses: responses(operation),
  };
}

const SECURITY_SCHEMES: Json = {
  apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'mw_…', description: 'An API key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-mw_session',
    description:
      'A browser that has signed in (createSession); read where there is no Authorization header. Where the ' +
      'service is reached by plain http the cookie is called `mw_session`.',
  },
  csrfToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description:
      'The `csrf_token` of the session: it shows that a page of this service asks, and not another one that the ' +
      'browser has open.',
  },
};

/** A key, or a session; what changes something needs the session's second token too. */
function securityOf({ role, method }: Operation): Json[] {
  if (role === undefined) return [];
  return [{ apiKey: [] }, method === 'get' ? { session: [] } : { session: [], csrfToken: [] }];
}

function toParameter({ name, in: place, description, required, schema }: OperationParameter): Json {
  return {
    name,
    in: place,
    description,
    required: place === 'path' || required === true,
    ...styleOf(place, resolvedType(schema)),
    schema: rewrittenSchema(schema, ''),
  };
}

/** contract §3: repeated keys for arrays, `name[key]=value` for maps. */
function styleOf(place: OperationParameter['in'], type: unknown): Json {
  if (place !== 'query') return {};
  if (type === 'array') return { style: 'form', explode: true };
  return type === 'object' ? { style: 'deepObject', explode: true } : {};
}

function responses(operation: Operation): Record<string, Json> {
  const declared = Object.entries(operation.answers).map(([status, answer]) => [status, toResponse(answer)] as const);
  const problems = problemStatusesOf(operation)
    .filter((status) => operation.answers[status] === undefined)
    .map((status) => [String(status), { $ref: `#/components/responses/${problemOf(status).name}` }] as const);
  return Object.fromEntries([...declared, ...problems].sort(([left], [right]) => Number(left) - Number(right)));
}

function toResponse({ description, schema, contentType, otherContentTypes = [], headers = {} }: OperationAnswer): Json {
  const types = [
    ...(schema === undefined && contentType === undefined ? [] : [contentType ?? 'application/json']),
    ...otherContentTypes,
  ];
  const content = Object.fromEntries(types.map((type) => [type, contentOf(type, schema)]));
  return {
    description,
    headers: {
      ...Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          { description: text, required: true, schema: { type: 'string' } },
        ]),
      ),
      ...headerReferences({ 'X-Request-Id': 'RequestId' }),
    },
    ...(types.length === 0 ? {} : { content }),
  };
}

function contentOf(type: string, schema: string | undefined): Json {
  if (schema !== undefined && /^application\/([a-z.+-]+\+)?json$/.test(type)) return { schema: referenceTo(schema) };
  // A stream has no end at which it could be judged.
  return type.startsWith('text/') && type !== 'text/event-stream' ? { schema: { type: 'string' } } : {};
}

function problemResponse(status: number): Json {
  const { description, headers } = problemOf(status);
  return {
    description,
    headers: headerReferences({ ...headers, 'X-Request-Id': 'RequestId' }),
    content: { 'application/problem+json': { schema: referenceTo('error') } },
  };
}

/** Statuses that some operation refers to. */
function usedProblems(): number[] {
  const used = OPERATIONS.flatMap(({ operations }) =>
    operations.flatMap((operation) =>
      problemStatusesOf(operation).filter((status) => operation.answers[status] === undefined),
    ),
  );
  return [...new Set(used)].sort((left, right) => left - right);
}

function problemOf(status: number): (typeof PROBLEM_ANSWERS)[number] {
  const problem = PROBLEM_ANSWERS[status];
  if (problem === undefined) throw new Error(`no problem is described for the status ${status}`);
  return problem;
}

const HEADERS: Readonly<Record<string, Json>> = {
  RequestId: {
    description: 'Names this request in the log of the service; the `trace_id` of a problem.',
    required: true,
    schema: { type: 'string' },
  },
  MayRetryAfter: {
    description: 'Seconds after which asking again makes sense; where it does.',
    schema: { type: 'integer', minimum: 1 },
  },
  RetryAfter: {
    description: 'Seconds after which asking again makes sense.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  ShouldRetry: {
    description: '`false` where asking again cannot help.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  WwwAuthenticate: { description: 'How to authenticate: `Bearer`.', required: true, schema: { type: 'string' } },
};

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes repeating this request safe: within 24 hours the same key with the same body gets the first answer, ' +
    'with another body 409.',
  required: false,
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$', 'x-meaning': '1 to 255 visible ASCII characters' },
};

function headerReferences(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}
