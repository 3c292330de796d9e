/** Knows which conditions could tell payloads from others, how telling each is, and whether a payload fails one. */
import { isObject, isScalar, pointerTo } from './json.ts';
import { isExactNumber } from './sets.ts';
import type { JsonScalar, JsonValue } from './types.ts';

/** Names on the way to a field that a suggestion may ask for: less than a filter may have, for people read it. */
export const SUGGESTED_DEPTH_MAX = 5;
/**
 * Fields of one payload that are looked at, those nearest to the root first: all of any known sender's that would be
 * asked for.
 */
export const FIELDS_MAX = 1_000;
/**
 * Values that one field is allowed: a longer list is a table, and tells nothing of what its deliveries have in common.
 */
const VALUES_MAX = 8;
/** Characters of a name, or of a value, that anybody would write into a filter. */
const NAME_LENGTH_MAX = 64;
const VALUE_LENGTH_MAX = 64;

/** Something that all taken payloads satisfy. The way to the field leads through objects only, in each of them. */
export interface SuggestedCondition {
  path: readonly string[];
  /** JSON pointer of `path`: names the field. */
  pointer: string;
  test: { in: readonly JsonScalar[] } | { exists: boolean };
  /** The lower, the more telling and the easier to read. */
  cost: number;
}

/** A field of a payload, reached through objects only. */
export interface SuggestedField {
  path: readonly string[];
  pointer: string;
  value: JsonValue;
}

/**
 * The fields of a payload nearest to its root, in the order of their depth, and whether these are all down to
 * `depthMax`. Names that nobody would write are left out.
 */
export function fieldsOf(payload: JsonValue, depthMax: number): { fields: SuggestedField[]; areAll: boolean } {
  const fields: SuggestedField[] = [];
  let open: SuggestedField[] = [{ path: [], pointer: '', value: payload }];
  for (let depth = 0; depth < depthMax; depth += 1) {
    const inner: SuggestedField[] = [];
    for (const { path, pointer, value } of open) {
      if (!isObject(value)) continue;
      for (const name in value) {
        if (!Object.hasOwn(value, name) || !isReadable(name, NAME_LENGTH_MAX)) continue;
        if (fields.length === FIELDS_MAX) return { fields, areAll: false };
        const field = { path: [...path, name], pointer: pointerTo(pointer, name), value: value[name] as JsonValue };
        fields.push(field);
        inner.push(field);
      }
    }
    open = inner;
  }
  return { fields, areAll: true };
}

/**
 * The value at a path through objects; `array`: the way leads through one, so that a filter would look at its elements.
 */
export function fieldValueAt(payload: JsonValue, path: readonly string[]): { value: JsonValue } | 'absent' | 'array' {
  let value = payload;
  for (const name of path) {
    if (Array.isArray(value)) return 'array';
    if (!isObject(value) || !Object.hasOwn(value, name)) return 'absent';
    value = value[name] as JsonValue;
  }
  return { value };
}

/**
 * Whether a payload surely fails a condition. No says nothing where an array stands on the way: its elements are not
 * looked at.
 */
export function fails({ path, test }: SuggestedCondition, payload: JsonValue): boolean {
  const found = fieldValueAt(payload, path);
  if (found === 'array') return false;
  if (found === 'absent') return !('exists' in test) || test.exists || !isObjectAt(payload, path.slice(0, -1));
  if ('exists' in test) return !test.exists;
  return !(Array.isArray(found.value) ? found.value : [found.value]).some((value) =>
    test.in.includes(value as JsonScalar),
  );
}

function isObjectAt(payload: JsonValue, path: readonly string[]): boolean {
  const found = fieldValueAt(payload, path);
  return typeof found !== 'string' && isObject(found.value);
}

/** Words of which the last one of a field's name makes it tell what its delivery is about. */
const TELLING: ReadonlySet<string> = new Set([
  'action',
  'branch',
  'category',
  'channel',
  'conclusion',
  'env',
  'environment',
  'event',
  'kind',
  'level',
  'method',
  'object',
  'operation',
  'outcome',
  'phase',
  'priority',
  'reason',
  'ref',
  'resource',
  'result',
  'severity',
  'source',
  'stage',
  'state',
  'status',
  'topic',
  'trigger',
  'type',
]);
/** Words that end the names of fields which are about this one delivery, or are for people. */
const PARTICULAR: ReadonlySet<string> = new Set([
  'at',
  'avatar',
  'body',
  'comment',
  'content',
  'count',
  'created',
  'cursor',
  'date',
  'description',
  'digest',
  'email',
  'etag',
  'guid',
  'hash',
  'href',
  'id',
  'ids',
  'index',
  'ip',
  'link',
  'message',
  'node',
  'nonce',
  'number',
  'phone',
  'sequence',
  'sha',
  'size',
  'summary',
  'text',
  'time',
  'timestamp',
  'title',
  'ts',
  'uid',
  'updated',
  'uri',
  'url',
  'uuid',
  'version',
]);
/** Names of what should not be copied anywhere. */
const CONFIDENTIAL = /secret|token|passw|passphrase|signature|credential|authorization|cookie|private|apikey|api_key/i;

/**
 * The condition that a field has one of these values; undefined where that would tell nothing, or nobody would write
 * it. `taken`: payloads that the values are of.
 */
export function inCondition(
  path: readonly string[],
  pointer: string,
  values: readonly JsonScalar[],
  matchingCount: number,
): SuggestedCondition | undefined {
  const name = path.at(-1) ?? '';
  if (values.length > VALUES_MAX || path.some((each) => CONFIDENTIAL.test(each))) return undefined;
  const isParticular = PARTICULAR.has(lastWordOf(name)) || values.some(isParticularValue);
  // What is about one delivery tells something only where several agree on it; otherwise so many values are just those
  // of these deliveries.
  if (isParticular && (values.length > 1 || matchingCount < 2)) return undefined;
  const isTelling = TELLING.has(lastWordOf(name)) && !isParticular;
  if (!isTelling && values.length > Math.max(2, matchingCount / 2)) return undefined;
  return {
    path,
    pointer,
    test: { in: [...values].sort(inOrder) },
    cost: costOf(path) + (isTelling ? 0 : 4) + 2 * (values.length - 1) + (isParticular ? 24 : 0),
  };
}

/**
 * The condition that a field is there, or is not. Where something inside of it leaves the same others, it is its
 * presence that tells.
 */
export function existsCondition(path: readonly string[], pointer: string, isThere: boolean): SuggestedCondition {
  return { path, pointer, test: { exists: isThere }, cost: costOf(path) + (isThere ? 1.5 : 6) };
}

/** Whether a value can stand in a suggested filter at all. */
export function isWritable(value: JsonValue): value is JsonScalar {
  if (typeof value === 'string') return isReadable(value, VALUE_LENGTH_MAX) && value.trim().split(/\s+/).length <= 3;
  return isScalar(value) && isExactNumber(value);
}

/** Deep and long-named fields cost more. */
function costOf(path: readonly string[]): number {
  return 2 * path.length + path.reduce((sum, name) => sum + name.length, 0) / 16;
}

/** Of IDs, times, addresses, numbers that count something. */
function isParticularValue(value: JsonScalar): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Math.abs(value) >= 1_000;
  if (typeof value !== 'string') return false;
  return /:\/\/|@|(?:\d.*){4}/s.test(value) || /^(?=.*\d)[0-9a-f]{7,}$/i.test(value);
}

/** No control characters, nothing invisible, no half of a character, not endless. */
function isReadable(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

/** Of `event_type`, `eventType`, `event-type`: type. */
function lastWordOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return (words.at(-1) ?? '').toLowerCase();
}

/** By kind and then by value, so that equal sets are written alike. */
function inOrder(left: JsonScalar, right: JsonScalar): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [`${typeof left} ${String(left)}`, `${typeof right} ${String(right)}`];
  return a === b ? 0 : a < b ? -1 : 1;
}
