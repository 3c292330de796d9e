/** The components of the API document: schemas with references that point into it. contract §3. */
import { componentOf } from './operations.ts';

type Json = Readonly<Record<string, unknown>>;

/** A reference to the component of this name. */
export function referenceTo(component: string): Json {
  return { $ref: `#/components/schemas/${titleOf(`${component}.schema.json`)}` };
}

/** Title of the component that a schema file holds. */
export function titleOf(file: string): string {
  return String((componentOf(file.replace(/\.schema\.json$/, '')) as Json)['title']);
}

/** The component that a schema file holds, with references into the document. */
export function toComponent(file: string): Json {
  const { $id: _id, $schema: _dialect, ...schema } = componentOf(file.replace(/\.schema\.json$/, '')) as Json;
  return rewrittenSchema(schema, titleOf(file)) as Json;
}

/** A schema with its references pointing into the document; `title`: the component that it belongs to. */
export function rewrittenSchema(value: unknown, title: string): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrittenSchema(item, title));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? rewrittenReference(inner, title) : rewrittenSchema(inner, title),
    ]),
  );
}

function rewrittenReference(reference: string, title: string): string {
  const [file = '', fragment = ''] = reference.split('#');
  return `#/components/schemas/${file === '' ? title : titleOf(file)}${fragment}`;
}

/** Type that a schema says, or that the one says which it refers to. */
export function resolvedType(schema: Json): unknown {
  const reference = schema['$ref'];
  return typeof reference === 'string'
    ? (componentOf(reference.replace(/\.schema\.json$/, '')) as Json)['type']
    : schema['type'];
}
