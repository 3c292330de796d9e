/** What the API document says about an answer, and how an answer departs from it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '#contracts';

type Json = Record<string, unknown>;

export interface SeenAnswer {
  method: string;
  /** Below the API base, without the query. */
  path: string;
  query: string;
  status: number;
  headers: Headers;
  /** Text of a JSON body; undefined: another type, or not read. */
  json?: string;
}

interface DocumentedAnswer {
  headers?: Json;
  content?: Record<string, { schema?: Json }>;
}

interface DocumentedOperation {
  operationId: string;
  method: string;
  pattern: RegExp;
  /** Segments that are not parameters: of two that match, the more literal one is meant. */
  literals: number;
  responses: Record<string, Json>;
}

/** Statuses that any request can be answered with, whatever it asks for; the document says so in its introduction. */
const GENERAL_STATUSES = new Set([405, 406, 408, 414, 421, 431]);

const document = openApiDocument('');
const ajv = newEngine();
const validators = new Map<string, ValidateFunction>();
const operations = operationsOf();

/** Everything in which an answer departs from the document; empty: it conforms. Repeats no value of the answer. */
export function departuresOf(answer: SeenAnswer): string[] {
  const operation = operationFor(answer);
  if (operation === undefined)
    return answer.status < 400 ? ['no operation has this method and path'] : problemDepartures(answer);
  const documented = operation.responses[answer.status];
  if (documented !== undefined)
    return answerDepartures(answer, resolve(documented) as DocumentedAnswer).map(
      (text) => `${operation.operationId}: ${text}`,
    );
  if (GENERAL_STATUSES.has(answer.status) || isUnreadable(answer)) return problemDepartures(answer);
  return [
    `${operation.operationId}: the status is not documented (${Object.keys(operation.responses).join(', ')} are)`,
  ];
}

/** The operation that a request is for; HEAD is answered like GET. */
function operationFor({ method, path }: SeenAnswer): DocumentedOperation | undefined {
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  return operations
    .filter((operation) => operation.method === asked && operation.pattern.test(path))
    .sort((left, right) => right.literals - left.literals)[0];
}

/** An address that cannot be decoded, or that holds U+0000: refused before anybody looks what it is for. */
function isUnreadable({ path, query, status }: SeenAnswer): boolean {
  return (status === 400 || status === 404) && /%(?![0-9A-Fa-f]{2})|%00|%[89A-Fa-f]/.test(`${path}?${query}`);
}

function problemDepartures(answer: SeenAnswer): string[] {
  if (!typeOf(answer).startsWith('application/problem+json'))
    return answer.status === 404 ? ['it is no problem+json'] : []; // refused before the API
  return bodyDepartures(answer, { $ref: '#/components/schemas/Error' });
}

function answerDepartures(answer: SeenAnswer, { headers = {}, content = {} }: DocumentedAnswer): string[] {
  const missing = Object.entries(headers).filter(
    ([name, header]) =>
      (resolve(header as Json) as { required?: boolean }).required === true && answer.headers.get(name) === null,
  );
  return [...missing.map(([name]) => `the header ${name} is missing`), ...contentDepartures(answer, content)];
}

function contentDepartures(answer: SeenAnswer, content: NonNullable<DocumentedAnswer['content']>): string[] {
  const type = typeOf(answer);
  if (answer.method === 'HEAD') return [];
  if (Object.keys(content).length === 0) return type === '' ? [] : [`it has a body of ${type}, and none is documented`];
  const documented = Object.entries(content).find(([range]) =>
    new RegExp(`^${range.replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]+')}$`).test(type),
  );
  if (documented === undefined)
    return [`its type ${type === '' ? '(none)' : type} is not documented (${Object.keys(content).join(', ')})`];
  return documented[1].schema === undefined ? [] : bodyDepartures(answer, documented[1].schema);
}

function bodyDepartures({ json }: SeenAnswer, schema: Json): string[] {
  if (json === undefined) return [];
  const value: unknown = JSON.parse(json);
  const validate = validatorOf(schema);
  if (!validate(value))
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath === '' ? 'the body' : instancePath} ${message} ${JSON.stringify(params)}`,
    );
  return [...undocumented([schema], value, '')].map((pointer) => `${pointer} is in the answer and not in the document`);
}

function validatorOf(schema: Json): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = validators.get(key);
  if (known !== undefined) return known;
  const absolute = JSON.parse(key.replaceAll('"$ref":"#/', '"$ref":"openapi.json#/')) as Json;
  const validate = ajv.compile(absolute);
  validators.set(key, validate);
  return validate;
}

/** JSON pointers of members that none of the schemas of a value names. */
function* undocumented(schemas: readonly Json[], value: unknown, pointer: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  const all = schemas.flatMap(flattened);
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items }) => (items === undefined ? [] : [items as Json]));
    for (const [index, item] of value.entries()) yield* undocumented(items, item, `${pointer}/${index}`);
    return;
  }
  const named = all.filter(({ properties }) => properties !== undefined);
  const open =
    named.length === 0 ||
    all.some(({ additionalProperties }) => additionalProperties !== undefined && additionalProperties !== false);
  for (const [key, member] of Object.entries(value)) {
    const described = all.flatMap(({ properties, additionalProperties }) => {
      const members = (properties ?? {}) as Json;
      const own = Object.hasOwn(members, key) ? members[key] : additionalProperties;
      return isSchema(own) ? [own] : [];
    });
    if (described.length > 0) yield* undocumented(described, member, `${pointer}/${key}`);
    else if (!open) yield `${pointer}/${key}`;
  }
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** A schema with everything that it is made of. */
function flattened(schema: Json): Json[] {
  if (typeof schema['$ref'] === 'string') return flattened(resolve(schema) as Json);
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (schema[keyword] as Json[] | undefined) ?? []);
  const conditional = ['then', 'else'].flatMap((keyword) =>
    schema[keyword] === undefined ? [] : [schema[keyword] as Json],
  );
  return [schema, ...[...parts, ...conditional].flatMap(flattened)];
}

function resolve(value: Json): unknown {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (inner, segment) => (inner as Json)[segment.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );
}

function typeOf({ headers }: SeenAnswer): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function operationsOf(): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      operationId,
      method,
      responses,
      pattern: new RegExp(`^${path.replace(/[.+]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      literals: path.split('/').filter((segment) => !segment.startsWith('{')).length,
    })),
  );
}

function newEngine(): Ajv2020 {
  const engine = new Ajv2020({ allErrors: true, strict: false });
  addFormats.default(engine);
  engine.addSchema({ $id: 'openapi.json', components: document.components });
  return engine;
}
