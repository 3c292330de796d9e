/**
 * What a schema says of a place in a document: of all its branches, those that the document has taken. contract
 * §11.11.
 */
import { isMap, isScalar, isSeq } from 'yaml';
import { SCHEMA_DOCUMENTS, type SchemaDocumentName } from '#contracts';
import type { AnyNode } from '../yaml/yaml-composer.ts';
import type { Way } from './yaml-places.ts';

/** The members of a JSON Schema that are looked at here. */
export interface Schema {
  $ref?: string;
  description?: string;
  examples?: readonly unknown[];
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Readonly<Record<string, Schema | boolean>>;
  patternProperties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | boolean;
  required?: readonly string[];
  items?: Schema;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  if?: Schema;
  then?: Schema;
  else?: Schema;
}

/** References that are followed one after another: a schema refers to itself only below a member. */
const REFERENCES_MAX = 16;

/** What is said of the value at the end of a way: the schema of its key first, then those that it refers to. */
export function schemasAt(name: SchemaDocumentName, root: AnyNode, way: Way): Schema[] {
  const document = SCHEMA_DOCUMENTS[name] as Schema;
  let [schemas, node] = [branchesOf(document, root, document), root];
  for (const step of way) {
    const below = memberOf(node, step);
    schemas = schemas
      .flatMap((schema) => stepInto(schema, step))
      .flatMap((schema) => branchesOf(schema, below, document));
    node = below;
  }
  return schemas;
}

/** Keys that a mapping may have, by what is said of each first. */
export function keysOf(schemas: readonly Schema[]): ReadonlyMap<string, Schema> {
  const keys = new Map<string, Schema>();
  for (const { properties = {} } of schemas)
    for (const [key, schema] of Object.entries(properties)) {
      if (schema === false) continue;
      const known = keys.get(key);
      if (known === undefined || known.description === undefined) keys.set(key, schema === true ? {} : schema);
    }
  return keys;
}

/** The node at the end of a way. */
export function nodeAt(root: AnyNode, way: Way): AnyNode {
  return way.reduce<AnyNode>((node, step) => memberOf(node, step), root);
}

function memberOf(node: AnyNode, step: string | number): AnyNode {
  if (isSeq(node)) return node.items[Number(step)] as AnyNode;
  if (!isMap(node)) return undefined;
  return node.items.find(({ key }) => isScalar(key) && String(key.value) === step)?.value as AnyNode;
}

function stepInto({ properties, additionalProperties, items }: Schema, step: string | number): Schema[] {
  if (typeof step === 'number') return items === undefined ? [] : [items];
  const own = properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : undefined;
  const next = own ?? additionalProperties;
  return typeof next === 'object' ? [next] : [];
}

/**
 * A schema and what belongs to it for this node: what it refers to, all of its parts, and the branch that was taken.
 */
function branchesOf(schema: Schema, node: AnyNode, document: Schema, depth = 0): Schema[] {
  if (depth > REFERENCES_MAX) return [];
  const branch = schema.if === undefined ? undefined : satisfies(schema.if, node) ? schema.then : schema.else;
  const parts = [
    ...(schema.$ref === undefined ? [] : [resolve(schema.$ref, document)]),
    ...(schema.allOf ?? []),
    ...(branch === undefined ? [] : [branch]),
  ];
  return [schema, ...parts.flatMap((part) => branchesOf(part, node, document, depth + 1))];
}

/** References of the documents stay inside: each is complete in itself. */
function resolve(reference: string, document: Schema): Schema {
  const { $defs = {} } = document as { $defs?: Record<string, Schema> };
  return $defs[reference.slice('#/$defs/'.length)] ?? {};
}

/**
 * Whether a node is what a condition of a schema asks for; keywords that no condition of ours has count for nothing.
 */
function satisfies(condition: Schema, node: AnyNode): boolean {
  const { type, required = [], properties = {}, anyOf } = condition;
  if (type !== undefined && ![type].flat().some((one) => isOfType(node, one))) return false;
  if ('const' in condition && !(isScalar(node) && node.value === condition.const)) return false;
  if (isMap(node)) {
    if (!required.every((key) => node.has(key))) return false;
    const isWrong = Object.entries(properties).some(
      ([key, schema]) => node.has(key) && typeof schema === 'object' && !satisfies(schema, memberOf(node, key)),
    );
    if (isWrong) return false;
  }
  return anyOf === undefined || anyOf.some((one) => satisfies(one, node));
}

function isOfType(node: AnyNode, type: string): boolean {
  if (type === 'object') return isMap(node);
  if (type === 'array') return isSeq(node);
  if (!isScalar(node)) return false;
  return type === 'null' ? node.value === null : typeof node.value === (type === 'integer' ? 'number' : type);
}
