/** Keys of definition files with what they may be and what they mean, as the JSON Schemas say it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cellOf, codeOf, pageOf, table } from './guide-markdown.ts';

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  'x-meaning'?: string;
  properties?: Record<string, Schema | boolean>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  then?: Schema;
  else?: Schema;
  required?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

const FILES: readonly (readonly [title: string, schema: string])[] = [
  ['factory.yaml', 'factory'],
  ['webhooks/<name>.yaml', 'webhook'],
  ['automations/<name>/automation.md, front matter', 'automation'],
  ['environments/<name>.yaml', 'environment'],
  ['Launch profiles (MILLWRIGHT_AGENT_PROFILES_FILE)', 'agent-profiles'],
];

/** The page of all keys, made of the schemas. */
export function definitionKeysPage(root: string): string {
  const documents = new Map<string, Schema>();
  const documentOf = (name: string): Schema => {
    const known = documents.get(name) ?? (JSON.parse(readFileSync(join(root, 'schemas', name), 'utf8')) as Schema);
    documents.set(name, known);
    return known;
  };
  const sections = FILES.map(([title, name]) => {
    const file = `${name}.schema.json`;
    const rows = keysOf(documentOf(file), { file, documentOf }, '');
    const heads = ['key', 'value', 'meaning'];
    const introduction = cellOf(documentOf(file).description ?? '');
    return `## ${title.replaceAll(/<(\w+)>/g, '`<$1>`')}\n\n${introduction}\n\n${table(heads, rows)}`;
  });
  return pageOf(
    'Keys of definition files',
    'Keys in italics are required (where a value is of several kinds, by the kind that has them). `[]` stands ' +
      'for each item of a list, `*` for a name that you choose. The JSON Schemas themselves are printed by ' +
      '`millwright schema NAME`. Payload filters have [rules of their own](../../how-to/write-definitions.md).',
    ...sections,
  );
}

interface SchemaSource {
  file: string;
  documentOf(name: string): Schema;
}

/** A schema and where its references lead from. */
function resolved(schema: Schema, source: SchemaSource): { schema: Schema; source: SchemaSource } {
  if (schema.$ref === undefined) return { schema, source };
  const [file = '', pointer = ''] = schema.$ref.split('#');
  const next = { ...source, file: file === '' ? source.file : file };
  const target = pointer
    .split('/')
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], next.documentOf(next.file)) as Schema;
  const { $ref: _, ...beside } = schema;
  return resolved({ ...target, ...beside }, next);
}

/** Rows of a schema's keys, those of objects in them behind them. A payload filter is not followed. */
function keysOf(given: Schema, from: SchemaSource, path: string): string[][] {
  const { schema, source } = resolved(given, from);
  const variants = variantsOf(schema, source);
  const rows = variants.flatMap(({ schema: variant, source: place }) =>
    Object.entries(variant.properties ?? {}).flatMap(([name, value]) =>
      typeof value === 'boolean' ? [] : rowsOf(value, place, `${path}${name}`, (variant.required ?? []).includes(name)),
    ),
  );
  // A case may name a key again; its first row, the one with words, is enough.
  return rows
    .filter(([, value, meaning]) => value !== 'any' || meaning !== '')
    .filter(([key], index, all) => all.findIndex(([other]) => bare(other) === bare(key)) === index);
}

/** A schema and those that hold beside it, of all cases. */
function variantsOf(given: Schema, from: SchemaSource): { schema: Schema; source: SchemaSource }[] {
  const { schema, source } = resolved(given, from);
  const { oneOf = [], anyOf = [], allOf = [], then, else: otherwise } = schema;
  const others = [...oneOf, ...anyOf, ...allOf, then, otherwise].filter((each) => each !== undefined);
  return [{ schema, source }, ...others.flatMap((each) => variantsOf(each, source))];
}

function rowsOf(given: Schema, from: SchemaSource, path: string, isRequired: boolean): string[][] {
  const { schema, source } = resolved(given, from);
  const key = isRequired ? `*${codeOf(path)}*` : codeOf(path);
  const row = [key, valueOf(schema, source), schema.description ?? ''];
  if (path.endsWith('filter.payload')) return [row];
  const below = keysOf(schema, source, `${path}.`);
  const items = schema.items === undefined ? [] : keysOf(schema.items, source, `${path}[].`);
  const { additionalProperties: named } = schema;
  return [row, ...below, ...items, ...(typeof named === 'object' ? keysOf(named, source, `${path}.*.`) : [])];
}

const bare = (key = ''): string => key.replaceAll('*', '');

/** What a value may be, in words. */
function valueOf(given: Schema, from: SchemaSource): string {
  const { schema, source } = resolved(given, from);
  if (schema.enum !== undefined) return schema.enum.map((each) => codeOf(String(each))).join(', ');
  if (schema.const !== undefined) return codeOf(JSON.stringify(schema.const));
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return [...new Set(variants.map((each) => valueOf(each, source)))].join(' or ');
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const items = schema.items === undefined ? '' : ` of ${valueOf(schema.items, source)}`;
  return `${type}${items}${boundsOf(schema)}`;
}

function boundsOf(schema: Schema): string {
  const between = (least: number | undefined, most: number | undefined, unit: string): string[] =>
    least === undefined && most === undefined
      ? []
      : [`${[least ?? '', most ?? ''].join('–').replace(/–$/, ' or more').replace(/^–/, 'up to ')}${unit}`];
  const bounds = [
    ...between(schema.minimum, schema.maximum, ''),
    ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${schema.exclusiveMinimum}`]),
    ...between(schema.minLength, schema.maxLength, ' characters'),
    ...between(schema.minItems, schema.maxItems, ' items'),
    ...(schema['x-meaning'] === undefined ? [] : [schema['x-meaning'].replace(/^be /, '')]),
  ];
  return bounds.length === 0 ? '' : ` (${bounds.join('; ')})`;
}
