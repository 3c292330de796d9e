/** What lists and items share on the wire: queries, pages and their cursors, times. contract §3 (List). */
import { readQuery, type RawQuery, type PageInfo } from '#contracts';
import { decodeCursor, encodeCursor, isUuid, type CursorKey } from '#runs';
import { invalidMembers, RefusalError } from './error-codes.ts';

/** `Q` is what the caller knows of the declared parameters. Throws a 400 that names each malformed one. */
export function queryOf<Q extends object>(operationId: string, raw: RawQuery): Q {
  const read = readQuery(operationId, raw);
  if (read.ok) return read.value as Q;
  throw invalidMembers(
    read.errors.map(({ pointer, message }) => ({ pointer, message })),
    'query parameters',
  );
}

/**
 * The key that a cursor stands for, its members of these types; undefined without a cursor. Throws 400 for one of
 * another query, and for anything else.
 */
export function pageKeyOf(
  cursor: string | undefined,
  digest: string,
  types: readonly ('string' | 'number' | 'uuid')[],
): CursorKey | undefined {
  if (cursor === undefined) return undefined;
  const decoded = decodeCursor(cursor, digest);
  if (
    decoded.ok &&
    decoded.key.length === types.length &&
    decoded.key.every((value, at) => isOf(types[at], value) && isStorable(value))
  )
    return decoded.key;
  throw new RefusalError('invalid_request', 'the cursor does not belong to this query', {
    errors: [{ pointer: 'cursor', message: 'must come from an answer to the same query' }],
  });
}

function isOf(type: 'string' | 'number' | 'uuid' | undefined, value: unknown): boolean {
  return type === 'uuid' ? typeof value === 'string' && isUuid(value) : typeof value === type;
}

/**
 * The first `limit` of what was found, when one more than that was asked for, and what the answer says of the next
 * page.
 */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  digest: string,
  keyOf: (last: T) => CursorKey,
): { page: readonly T[]; pageInfo: PageInfo } {
  const page = found.slice(0, limit);
  return { page, pageInfo: pageInfoOf(page.at(-1), found.length > limit, digest, keyOf) };
}

/** What an answer says of the page behind its last entry. */
export function pageInfoOf<T>(
  last: T | undefined,
  hasMore: boolean,
  digest: string,
  keyOf: (last: T) => CursorKey,
): PageInfo {
  if (!hasMore || last === undefined) return { has_next_page: false };
  return { has_next_page: true, next_cursor: encodeCursor({ query: digest, key: keyOf(last) }) };
}

/** What a database may be asked for: PostgreSQL knows neither U+0000 nor fractions of our integers. */
function isStorable(value: CursorKey[number]): boolean {
  return typeof value === 'number' ? Number.isSafeInteger(value) : !value?.includes('\0');
}

/** `ms`: milliseconds since the epoch. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds since the epoch of an RFC 3339 time; a leap second counts as the second before it. */
export function fromTime(text: string): number {
  return Date.parse(text.replace(/:60(?=[.Zz+-])/, ':59'));
}
