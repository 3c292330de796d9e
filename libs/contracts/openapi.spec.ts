/**
 * The document is whole: what it refers to exists, everything in it is described, and nothing has two names. contract
 * §3, §4.
 */
import { API_SCHEMAS, compileSchema, componentOf, OPERATIONS, openApiDocument, unescapeSegment } from './index.ts';

type Json = Record<string, unknown>;

const document = openApiDocument('https://millwright.example') as unknown as Json & ReturnType<typeof openApiDocument>;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation, name: `${method} ${path}` })),
);
const schemas = Object.entries(document.components.schemas) as [string, Json][];

/** Members that may be any JSON: what is judged by hand, and what is refused whatever it is. */
const ANYTHING = new Set([
  'FilterReplayRequest/filter',
  'FilterTestRequest/filter',
  'FilterTestRequest/payload',
  ...['Create', 'Update'].flatMap((kind) =>
    [
      'credential_strategy',
      'default_runner_uid',
      'harness_auth_secrets',
      'inference_providers',
      'memory',
      'on_behalf_of_enabled',
    ].map((member) => `AgentIdentity${kind}/${member}`),
  ),
  'RunAgentRequest/on_behalf_of',
]);

/** Every object of a JSON value, with its JSON pointer. */
function* objectsOf(value: unknown, pointer = ''): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Json];
  for (const [key, inner] of Object.entries(value))
    yield* objectsOf(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

function at(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .map(unescapeSegment)
    .reduce<unknown>((value, segment) => (value as Json | undefined)?.[segment], document);
}

describe('the document', () => {
  it('is OpenAPI 3.1 of this service', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Millwright', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      servers: [{ url: 'https://millwright.example/api/v1' }],
    });
    expect(openApiDocument('').servers).toEqual([{ url: '/api/v1', description: expect.any(String) }]);
  });

  it('is the same each time', () => {
    expect(JSON.stringify(openApiDocument('https://millwright.example'))).toBe(JSON.stringify(document));
  });

  it('refers to nothing that does not exist', () => {
    const references = [...objectsOf(document)].flatMap(([pointer, { $ref }]) =>
      typeof $ref === 'string' ? [{ pointer, $ref }] : [],
    );
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter(({ $ref }) => !$ref.startsWith('#/') || at($ref) === undefined)).toEqual([]);
  });

  it('holds every component under its title, and nobody else of that name', () => {
    const titles = Object.values(API_SCHEMAS).map((schema) => (schema as Json)['title']);
    expect(schemas.map(([name]) => name)).toEqual(titles);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
    expect(titles.filter((title) => !/^[A-Z][A-Za-z0-9]*$/.test(String(title)))).toEqual([]);
    for (const [, schema] of schemas) expect(schema).not.toHaveProperty('$id');
  });

  it('has the thirteen models of the interface', () => {
    const models = [
      'RunAgentRequest',
      'RunAgentResponse',
      'ListRunsResponse',
      'RunItem',
      'PageInfo',
      'RunStatusMessage',
      'RunCreatorInfo',
      'RunState',
      'RunSourceType',
      'RunFollowupRequest',
      'AmbientAgentConfig',
      'MCPServerConfig',
      'Error',
    ];
    expect(models.filter((name) => !(name in document.components.schemas))).toEqual([]);
  });

  it('has no component that nothing refers to', () => {
    const used = new Set(
      [...objectsOf(document)].flatMap(([pointer, { $ref }]) =>
        typeof $ref === 'string' && !`${pointer}/`.startsWith(`${$ref.slice(1)}/`) ? [$ref] : [],
      ),
    );
    const unused = ['schemas', 'responses', 'headers']
      .flatMap((kind) =>
        Object.keys(document.components[kind as 'schemas']).map((name) => `#/components/${kind}/${name}`),
      )
      .filter((reference) => !used.has(reference));
    expect(unused).toEqual([]);
  });

  it('has no member that is null and nothing else: generators have no type for one', () => {
    const lone = [...objectsOf(document)].filter(
      ([pointer, { type }]) => type === 'null' && !/\/(?:anyOf|oneOf)\/\d+$/.test(pointer),
    );
    expect(lone.map(([pointer]) => pointer)).toEqual([]);
  });
});

describe('every schema', () => {
  it('says what it is, and what each of its properties is', () => {
    const silent = schemas.flatMap(([name, schema]) => [
      ...(schema['description'] === undefined ? [name] : []),
      ...[...objectsOf(schema)].flatMap(([pointer, { properties }]) =>
        isPartial(pointer)
          ? []
          : Object.entries((properties ?? {}) as Json)
              .filter(([, property]) => !isDescribed(property as Json))
              .map(([key]) => `${name}${pointer}/properties/${key}`),
      ),
    ]);
    expect(silent).toEqual([]);
  });

  it('has a type, values or a reference for each property, and requires only what it describes', () => {
    const vague = schemas.flatMap(([name, schema]) =>
      [...objectsOf(schema)].flatMap(([pointer, { properties, required }]) => [
        ...(isPartial(pointer)
          ? []
          : Object.entries((properties ?? {}) as Json)
              .filter(([, property]) => Object.keys(property as Json).every((key) => key === 'description'))
              .map(([key]) => `${name}${pointer}/${key}`)),
        ...(Array.isArray(required) && properties !== undefined
          ? required
              .filter((key) => !Object.hasOwn(properties as Json, String(key)))
              .map((key) => `${name}${pointer} requires ${String(key)}`)
          : []),
      ]),
    );
    expect(vague.filter((place) => !ANYTHING.has(place))).toEqual([]);
  });

  it('has patterns that every engine of regular expressions understands', () => {
    const patterns = [...objectsOf(document)].flatMap(([pointer, { pattern }]) =>
      typeof pattern === 'string' ? [{ pointer, pattern }] : [],
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter(({ pattern }) => /\(\?[=!<]|\\[1-9pPkbB]/.test(pattern))).toEqual([]);
  });

  it('is a valid JSON Schema', () => {
    for (const schema of Object.values(API_SCHEMAS))
      expect(() => compileSchema(schema, Object.values(API_SCHEMAS))({})).not.toThrow();
  });

  /** A condition or variant says only what it adds; and the members of `properties` are no members themselves. */
  function isPartial(pointer: string): boolean {
    return /\/(if|then|else|not|allOf|anyOf|oneOf)(\/|$)|\/properties$/.test(pointer);
  }

  /** A reference is described where it leads to. */
  function isDescribed({ description, $ref }: Json): boolean {
    return typeof description === 'string' ? description.trim() !== '' : typeof $ref === 'string';
  }
});

describe('every operation', () => {
  it('has an id of its own that a client can use as a name', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index || !/^[a-z][A-Za-z0-9]*$/.test(id))).toEqual([]);
    expect(ids.length).toBe(OPERATIONS.flatMap((group) => group.operations).length);
  });

  it('has a summary, a group and an answer of success, and each answer is described', () => {
    const names = document.tags.map(({ name }) => name);
    for (const { name, operation } of operations) {
      expect({ name, summary: operation.summary }).toEqual({
        name,
        summary: expect.stringMatching(/^\S.{2,80}[^.\s]$/),
      });
      expect({ name, tags: operation.tags.filter((tag) => names.includes(tag)) }).toEqual({
        name,
        tags: operation.tags,
      });
      expect({ name, statuses: Object.keys(operation.responses) }).toEqual({
        name,
        statuses: expect.arrayContaining([expect.stringMatching(/^[23]\d\d$/)]),
      });
      const answers = Object.entries(operation.responses).map(
        ([status, answer]) =>
          [status, typeof answer['$ref'] === 'string' ? (at(answer['$ref']) as Json) : answer] as const,
      );
      expect({
        name,
        undescribed: answers
          .filter(
            ([status, { description }]) =>
              !/^\d{3}$/.test(status) || typeof description !== 'string' || description === '',
          )
          .map(([status]) => status),
      }).toEqual({ name, undescribed: [] });
    }
    expect(document.tags.filter(({ description }) => description.trim() === '')).toEqual([]);
  });

  it('declares each parameter of its path, once, and describes all of them', () => {
    for (const { path, name, operation } of operations) {
      const parameters = operation.parameters as {
        name: string;
        in: string;
        description: string;
        required: boolean;
        schema: Json;
      }[];
      expect({
        name,
        inPath: parameters
          .filter((parameter) => parameter.in === 'path')
          .map((parameter) => parameter.name)
          .sort(),
      }).toEqual({ name, inPath: [...path.matchAll(/\{([^}]+)\}/g)].map(([, key]) => key).sort() });
      expect({
        name,
        twice: parameters.filter(
          (parameter, index) =>
            parameters.findIndex((other) => other.name === parameter.name && other.in === parameter.in) !== index,
        ),
      }).toEqual({ name, twice: [] });
      expect({
        name,
        undescribed: parameters.filter(
          ({ description, schema }) => description.trim() === '' || Object.keys(schema).length === 0,
        ),
      }).toEqual({ name, undescribed: [] });
    }
  });

  it('calls the same thing by the same name', () => {
    const names = new Map<string, Set<string>>();
    for (const { path } of operations)
      for (const [, before = '', name = ''] of path.matchAll(/([^/{}]+)\/\{([a-z_]+)\}/g))
        names.set(before, (names.get(before) ?? new Set()).add(name));
    expect([...names].filter(([, called]) => called.size > 1).map(([before, called]) => [before, ...called])).toEqual(
      [],
    );
  });

  it('has a path that no other operation answers', () => {
    const shapes = operations.map(({ path, method }) => `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`);
    expect(shapes.filter((shape, index) => shapes.indexOf(shape) !== index)).toEqual([]);
    expect(
      operations.filter(({ path }) => !/^(\/([a-z0-9.-]+|\{[a-z_]+\}))+$/.test(path)).map(({ name }) => name),
    ).toEqual([]);
  });

  it('encodes arrays as repeated keys and maps by key', () => {
    for (const { name, operation } of operations) {
      for (const { in: place, schema, style, explode } of operation.parameters as {
        in: string;
        schema: Json;
        style?: string;
        explode?: boolean;
      }[]) {
        if (place === 'query' && schema['type'] === 'array')
          expect({ name, style, explode }).toEqual({ name, style: 'form', explode: true });
        if (place === 'query' && schema['type'] === 'object')
          expect({ name, style, explode }).toEqual({ name, style: 'deepObject', explode: true });
      }
    }
  });

  it(
    'that a key or a session is needed for says so, with the role; what changes something needs the session’s ' +
      'second token',
    () => {
      for (const { name, method, operation } of operations) {
        const role = operation['x-role'] as string | undefined;
        const needed =
          role === undefined
            ? []
            : [{ apiKey: [] }, method === 'get' ? { session: [] } : { session: [], csrfToken: [] }];
        expect({ name, security: operation['security'] }).toEqual({ name, security: needed });
        expect(operation.description).toContain(role === undefined ? 'Needs no API key' : `the role \`${role}\``);
      }
    },
  );

  it('that takes a body shows one, and it is valid', () => {
    const bodies = [
      ...new Set(
        OPERATIONS.flatMap((group) => group.operations).flatMap(({ body }) => (body === undefined ? [] : [body])),
      ),
    ];
    expect(bodies.length).toBeGreaterThan(10);
    for (const name of bodies) {
      const schema = componentOf(name) as Json;
      const [example] = (schema['examples'] as unknown[] | undefined) ?? [];
      expect({ name, checked: compileSchema(schema, Object.values(API_SCHEMAS))(example) }).toEqual({
        name,
        checked: { ok: true, value: expect.anything() },
      });
    }
  });

  it('that posts takes an idempotency key, where a key may come with it', () => {
    const taking = operations.filter(({ operation }) =>
      operation.parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(taking.map(({ name }) => name)).toEqual(
      operations
        .filter(
          ({ method, name, operation }) =>
            method === 'post' && (operation['x-role'] !== undefined || name === 'post /factory-files/validate'),
        )
        .map(({ name }) => name),
    );
    expect(taking.length).toBeGreaterThan(0);
  });

  it('is refused with problems only', () => {
    for (const { name, operation } of operations) {
      for (const [status, answer] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const { content } = (typeof answer['$ref'] === 'string' ? at(answer['$ref']) : answer) as { content?: Json };
        expect({ name, status, types: Object.keys(content ?? {}) }).toEqual({
          name,
          status,
          types: ['application/problem+json'],
        });
      }
    }
  });
});
