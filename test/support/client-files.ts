/**
 * Generated files of the TypeScript client, each a function of the API document: the shapes that answers are checked
 * against, and the names of the models.
 */

interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  format?: string;
  const?: unknown;
  enum?: readonly unknown[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
}
interface Answer {
  content?: Record<string, { schema?: Schema }>;
}
interface ApiDocument {
  paths: Record<string, Record<string, { responses?: Record<string, Answer> }>>;
  components: { schemas: Record<string, Schema> };
}
/** As libs/client-typescript/src/shapes.ts declares it. */
type Shape =
  | string
  | { list: Shape }
  | { members: Record<string, Shape>; entries?: Shape }
  | { either: Shape[] }
  | { all: Shape[] };

const KINDS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** `shapes.generated.ts`: every component that an answer of success can hold, a line each. */
export function clientShapes(text: string): string {
  const document = JSON.parse(text) as ApiDocument;
  const names = answeredComponents(document);
  const lines = names.map((name) => `  ${name}: ${inCode(shapeOf(document.components.schemas[name]!))},`);
  return (
    `/** Generated from the API document by test/support/client-files.ts; do not edit. Members with \`?\` may be ` +
    `absent; \`#\` names another shape. */\nimport type { Shape } from './shapes.ts';\n\nexport const SHAPES = ` +
    `{\n${lines.join('\n')}\n} as const satisfies Readonly<Record<string, Shape>>;\n`
  );
}

/** `models.ts`: every component of the document under its own name. */
export function clientModels(text: string): string {
  const { components } = JSON.parse(text) as ApiDocument;
  const exported = Object.keys(components.schemas)
    .sort()
    .map(
      (name) =>
        `/** ${onOneLine(components.schemas[name]!.description ?? name)} ` +
        `*/\n${modelOf(name, components.schemas[name]!)}`,
    );
  return (
    '/** Generated from the API document by test/support/client-files.ts; do not edit. Every model of the ' +
    `interface under its own name. */\nimport type { components } from './generated.ts';\n\n/** As the document ` +
    `has it. */\ntype Component<Name extends keyof components['schemas']> = ` +
    `components['schemas'][Name];\n\n${exported.join('\n\n')}\n`
  );
}

/** Compilers call an interface by its name in what they say; an alias is spelled out. */
function modelOf(name: string, { type, anyOf, allOf }: Schema): string {
  return type === 'object' && anyOf === undefined && allOf === undefined
    ? `export interface ${name} extends Component<'${name}'> {}`
    : `export type ${name} = Component<'${name}'>;`;
}

function answeredComponents({ paths, components }: ApiDocument): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      const name = key === '$ref' ? componentOf(String(member)) : undefined;
      if (name !== undefined && !found.has(name)) visit(components.schemas[found.add(name) && name]);
      visit(member);
    }
  };
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, answer] of Object.entries(operation.responses ?? {}))
      if (status.startsWith('2')) visit(answer.content);
  }
  return [...found].sort();
}

function componentOf(reference: string): string | undefined {
  return /^#\/components\/schemas\/([A-Za-z]+)$/.exec(reference)?.[1];
}

/** Constraints (patterns, ranges, lengths, listed values) are left out: clients keep what they do not know. */
function shapeOf(schema: Schema): Shape {
  const named = schema.$ref === undefined ? undefined : componentOf(schema.$ref);
  if (named !== undefined) return `#${named}`;
  if (schema.allOf !== undefined) return { all: schema.allOf.map(shapeOf) };
  if (schema.anyOf !== undefined) return { either: schema.anyOf.map(shapeOf) };
  if (schema.const !== undefined) return typeof schema.const;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const shapes = types.map((type) => shapeOfType(type, schema));
  if (shapes.length === 0) return schema.enum === undefined ? 'anything' : 'string';
  return shapes.length === 1 ? shapes[0]! : { either: shapes };
}

function shapeOfType(type: string, schema: Schema): Shape {
  if (type === 'object') return objectShape(schema);
  if (type === 'array') return { list: shapeOf(schema.items ?? {}) };
  const kind = KINDS[type];
  if (kind === undefined) throw new Error(`no shape for the type ${type}`);
  return kind === 'string' && schema.format === 'date-time' ? 'date-time' : kind;
}

function objectShape({ properties = {}, required = [], additionalProperties }: Schema): Shape {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [required.includes(name) ? name : `${name}?`, shapeOf(member)]),
  );
  return typeof additionalProperties === 'object' ? { members, entries: shapeOf(additionalProperties) } : { members };
}

/** An object literal on one line, names bare where they can be. */
function inCode(shape: unknown): string {
  if (typeof shape === 'string') return `'${shape}'`;
  if (Array.isArray(shape)) return `[${shape.map(inCode).join(', ')}]`;
  const members = Object.entries(shape as Record<string, unknown>).map(
    ([name, value]) => `${/^\w+$/.test(name) ? name : `'${name}'`}: ${inCode(value)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function onOneLine(text: string): string {
  return text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim();
}
