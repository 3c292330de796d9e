/**
 * Checks that answers have the shape that the API document promises: members that have to be there, and JSON types.
 * Unknown members and unknown listed values are kept.
 */
import { SHAPES } from './shapes.generated.ts';

/**
 * What a JSON value has to be. A string is a kind of value, or `#` and the name of another shape; names of members end
 * in `?` when they may be absent.
 */
export type Shape =
  | string
  | { readonly list: Shape }
  | { readonly members: Readonly<Record<string, Shape>>; readonly entries?: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly all: readonly Shape[] };

/** Names of the models that answers can be checked against. */
export type ShapeName = keyof typeof SHAPES;

/** The first place where a value is not what was promised. */
export interface Misfit {
  /** JSON pointer of the place; empty for the whole value. */
  pointer: string;
  /** What ought to be there, e.g. `string`, `string or null`. */
  expected: string;
  /** What is there: its JSON type with its article, or `nothing`. */
  found: string;
}

type Members = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  anything: () => true,
  'date-time': isDateTime,
};

/** The first misfit of a parsed answer, members in the document's order; undefined when it has the shape. */
export function findMisfit(name: ShapeName, value: unknown): Misfit | undefined {
  return misfitOf(SHAPES[name], value, '');
}

function misfitOf(shape: Shape, value: unknown, pointer: string): Misfit | undefined {
  if (typeof shape === 'string') {
    if (shape.startsWith('#')) return misfitOf(SHAPES[shape.slice(1) as ShapeName], value, pointer);
    return KINDS[shape]?.(value) === true ? undefined : misfit(shape, value, pointer);
  }
  if ('list' in shape) return misfitOfList(shape.list, value, pointer);
  if ('members' in shape) return misfitOfObject(shape, value, pointer);
  if ('all' in shape) return firstOf(shape.all, (part) => misfitOf(part, value, pointer));
  return misfitOfEither(shape.either, value, pointer);
}

function misfitOfList(item: Shape, value: unknown, pointer: string): Misfit | undefined {
  if (!Array.isArray(value)) return misfit('list', value, pointer);
  for (let index = 0; index < value.length; index += 1) {
    const found = misfitOf(item, value[index], `${pointer}/${index}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function misfitOfObject(
  { members, entries }: { members: Readonly<Record<string, Shape>>; entries?: Shape },
  value: unknown,
  pointer: string,
): Misfit | undefined {
  if (!isMembers(value)) return misfit('object', value, pointer);
  for (const declared in members) {
    const optional = declared.endsWith('?');
    const name = optional ? declared.slice(0, -1) : declared;
    const there = Object.hasOwn(value, name);
    if (!there && optional) continue;
    const found = misfitOf(members[declared]!, there ? value[name] : undefined, `${pointer}/${name}`);
    if (found !== undefined) return found;
  }
  return entries === undefined
    ? undefined
    : firstOf(Object.keys(value), (name) => misfitOf(entries, value[name], `${pointer}/${inPointer(name)}`));
}

/** Of several shapes the one of the value's own JSON type says what is wrong inside it. */
function misfitOfEither(shapes: readonly Shape[], value: unknown, pointer: string): Misfit | undefined {
  let deeper: Misfit | undefined;
  for (const shape of shapes) {
    const found = misfitOf(shape, value, pointer);
    if (found === undefined) return undefined;
    if (found.pointer.length > pointer.length) deeper = found;
  }
  return deeper ?? { pointer, expected: shapes.map(nameOf).join(' or '), found: described(value) };
}

function nameOf(shape: Shape): string {
  if (typeof shape === 'string') return shape.startsWith('#') ? nameOf(SHAPES[shape.slice(1) as ShapeName]) : shape;
  if ('list' in shape) return 'list';
  return 'either' in shape ? shape.either.map(nameOf).join(' or ') : 'object';
}

function misfit(expected: string, value: unknown, pointer: string): Misfit {
  return { pointer, expected, found: described(value) };
}

/** The JSON type of a value with its article; never the value. */
export function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf<T>(list: readonly T[], look: (item: T) => Misfit | undefined): Misfit | undefined {
  for (const item of list) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** RFC 3339 without leap seconds, which neither `Date` nor Python's `datetime` can hold. */
function isDateTime(value: unknown): boolean {
  const [, year, month, day] = typeof value === 'string' ? (DATE_TIME.exec(value) ?? []) : [];
  if (year === undefined) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}
