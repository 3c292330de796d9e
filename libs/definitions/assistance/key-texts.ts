/**
 * What there is to say of a key of a definition file to somebody who points at it. contract §11.11 (Language server).
 */
import type { SchemaDocumentName } from '#contracts';
import { classifyPath } from '../definition-paths.ts';
import { schemasAt, type Schema } from './schema-places.ts';
import { placeAt } from './yaml-places.ts';

export interface KeyText {
  /** The key, or the last one above the value. */
  key: string;
  description: string;
  /** Values that there are, where they are few. */
  values: readonly string[];
  examples: readonly unknown[];
  /** Offsets of the word that it is about. */
  start: number;
  end: number;
}

/** The schema document of a file by its path; undefined for skills and for what is none of ours. */
export function schemaNameOf(path: string): SchemaDocumentName | undefined {
  const { kind } = classifyPath(path);
  return kind === 'factory' || kind === 'webhook' || kind === 'automation' || kind === 'environment' ? kind : undefined;
}

/** The text of the key or value at an offset; undefined where nothing is known of it. Never throws. */
export function keyTextAt(path: string, text: string, offset: number): KeyText | undefined {
  const name = schemaNameOf(path);
  const place = name === undefined ? undefined : placeAt(path, text, offset);
  if (name === undefined || place === undefined) return undefined;
  const { way, start, end, root } = place;
  const schemas = schemasAt(name, root, way);
  const description = schemas.find((schema) => schema.description !== undefined)?.description;
  if (description === undefined) return undefined;
  const key = way.findLast((step) => typeof step === 'string') ?? '';
  return { key, description, values: valuesOf(schemas), examples: examplesOf(schemas), start, end };
}

/** Values that a schema lists, as they are written. */
export function valuesOf(schemas: readonly Schema[]): string[] {
  const listed = schemas.flatMap(({ enum: values = [], ...schema }) => [
    ...values,
    ...('const' in schema ? [schema.const] : []),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ]);
  return [...new Set(listed.map(String))];
}

function examplesOf(schemas: readonly Schema[]): readonly unknown[] {
  return schemas.find(({ examples }) => examples !== undefined)?.examples ?? [];
}
