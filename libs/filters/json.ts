/** Knows the kinds of JSON values and how a JSON pointer (RFC 6901) names one of them. */
import type { JsonScalar } from './types.ts';

/** A JSON object whose members have not been looked at. */
export type RawObject = { readonly [name: string]: unknown };

/** What a value is, in words for people; `other` is anything JSON cannot say (a date, undefined, a bigint …). */
export type RawKind = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'other';

/** The kind of a value of unknown origin. Asks no prototype for identity, so values of another realm count as well. */
export function kindOf(value: unknown): RawKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'object':
      return Object.prototype.toString.call(value) === '[object Object]' ? 'object' : 'other';
    default:
      return 'other';
  }
}

export function isScalar(value: unknown): value is JsonScalar {
  const kind = kindOf(value);
  return kind === 'string' || kind === 'number' || kind === 'boolean' || kind === 'null';
}

export function isObject(value: unknown): value is RawObject {
  return kindOf(value) === 'object';
}

/** The pointer of member or element `name` below `parent`; the root is the empty string. */
export function pointerTo(parent: string, name: string | number): string {
  return `${parent}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
