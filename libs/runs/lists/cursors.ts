/** Opaque page positions: the sort key of the last row seen, bound to the query it was made for. contract §3.7. */
import { createHash } from 'node:crypto';

/** Values of the sort columns of the last row of a page, the tie-breaking id last. */
export type CursorKey = readonly (string | number | null)[];

export type DecodedCursor = { ok: true; key: CursorKey } | { ok: false };

/**
 * Characters of the longest cursor that is read: a title of 200 characters in its longest JSON and base64 form fits
 * with room.
 */
const CURSOR_LENGTH_MAX = 4_096;

/** Format number; a later format refuses these instead of misreading them. */
const VERSION = 1;

/** Short digest of a query (filters, sorting), independent of the order of its members. */
export function queryDigest(query: unknown): string {
  return createHash('sha256').update(canonical(query)).digest('base64url').slice(0, 22);
}

/** An opaque cursor behind `key` for the query with this digest. contract §3.7 (List). */
export function encodeCursor(position: { query: string; key: CursorKey }): string {
  return Buffer.from(JSON.stringify([VERSION, position.query, position.key])).toString('base64url');
}

/** The key inside a cursor, or a refusal when it is malformed or belongs to another query (400). contract §3.7. */
export function decodeCursor(text: string, query: string): DecodedCursor {
  const parts = parsed(text);
  if (!Array.isArray(parts) || parts.length !== 3 || parts[0] !== VERSION || parts[1] !== query) return { ok: false };
  const key: unknown = parts[2];
  return isKey(key) ? { ok: true, key } : { ok: false };
}

function parsed(text: string): unknown {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function isKey(value: unknown): value is CursorKey {
  return Array.isArray(value) && value.length > 0 && value.every(isScalar);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (isRecord(member) ? sorted(member) : member)) ?? 'null';
}

function sorted(record: Record<string, unknown>): [string, unknown][] {
  return Object.entries(record)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
