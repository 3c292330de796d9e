/**
 * Columns of rows as PostgreSQL receives arrays in binary: lengths instead of quotes, bytes instead of hexadecimal
 * digits, so that neither side spends time on a text. PostgreSQL, "Formatting and Format Codes"; array_recv.
 */
import type { SqlValue } from '../transactions.ts';

/** The types that our columns have. */
export type ArrayType = 'text[]' | 'bigint[]' | 'bytea[]';

/** One column of many rows. `type` is named in the statement: without it, nothing would tell what is bound to it. */
export interface BinaryArray {
  type: ArrayType;
  bytes: Buffer;
}

/** Object identifiers of the elements' types, as pg_type has had them ever since. */
const ELEMENT_OIDS: Readonly<Record<ArrayType, number>> = { 'text[]': 25, 'bigint[]': 20, 'bytea[]': 17 };

/** Dimensions, whether there are nulls, type of the elements; then length and lower bound of the one dimension. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;
const NULL_LENGTH = -1;

/** A text's UTF-8 is at most this many times as long as the text. */
const UTF8_BYTES_MAX = 3;

/** Texts up to this length are reserved by their bound and written here: a call into the runtime would cost more. */
const SHORT_LENGTH = 64;

/**
 * The values that rows have in one column; where all of them are null, as texts. Throws a TypeError for a value of
 * another type than the first one's, and for a number that is no whole one below 2^53.
 */
export function encodeColumn(rows: readonly (readonly SqlValue[])[], column: number): BinaryArray {
  const value = rows.find((row) => row[column] != null)?.[column];
  if (typeof value === 'number') return encode(rows, column, BIGINT);
  return value instanceof Uint8Array ? encode(rows, column, BYTEA) : encode(rows, column, TEXT);
}

interface Element<T extends SqlValue> {
  type: ArrayType;
  is(value: SqlValue): value is T;
  /** Bytes that the value may take. */
  bound(value: T): number;
  /** Answers how many it took. */
  write(value: T, bytes: Buffer, at: number): number;
}

const TEXT: Element<string> = {
  type: 'text[]',
  is: (value) => typeof value === 'string',
  bound: (text) => (text.length <= SHORT_LENGTH ? text.length * UTF8_BYTES_MAX : Buffer.byteLength(text)),
  write(text, bytes, at) {
    if (text.length > SHORT_LENGTH) return bytes.write(text, at);
    for (let position = 0; position < text.length; position += 1) {
      const code = text.charCodeAt(position);
      if (code > 0x7f) return bytes.write(text, at); // all of it again
      bytes[at + position] = code;
    }
    return text.length;
  },
};

const BIGINT: Element<number> = {
  type: 'bigint[]',
  is: (value): value is number => Number.isSafeInteger(value),
  bound: () => BIGINT_BYTES,
  write(value, bytes, at) {
    bytes.writeInt32BE(Math.floor(value / 2 ** 32), at);
    bytes.writeInt32BE(value | 0, at + BIGINT_BYTES / 2);
    return BIGINT_BYTES;
  },
};

const BYTEA: Element<Uint8Array> = {
  type: 'bytea[]',
  is: (value) => value instanceof Uint8Array,
  bound: ({ length }) => length,
  write(value, bytes, at) {
    bytes.set(value, at);
    return value.length;
  },
};

function encode<T extends SqlValue>(
  rows: readonly (readonly SqlValue[])[],
  column: number,
  element: Element<T>,
): BinaryArray {
  let bound = HEADER_BYTES;
  let nulls = 0;
  for (const row of rows) {
    const value = row[column] ?? null;
    bound += LENGTH_BYTES;
    if (value === null) nulls += 1;
    else if (element.is(value)) bound += element.bound(value);
    else throw new TypeError(`a value that is no element of ${element.type}`);
  }
  const bytes = Buffer.allocUnsafe(bound);
  writeHeader(bytes, { count: rows.length, hasNulls: nulls > 0, oid: ELEMENT_OIDS[element.type] });
  let end = HEADER_BYTES;
  for (const row of rows) {
    const value = (row[column] ?? null) as T | null;
    const length = value === null ? NULL_LENGTH : element.write(value, bytes, end + LENGTH_BYTES);
    bytes.writeInt32BE(length, end);
    end += LENGTH_BYTES + Math.max(0, length);
  }
  return { type: element.type, bytes: bytes.subarray(0, end) };
}

function writeHeader(bytes: Buffer, array: { count: number; hasNulls: boolean; oid: number }): void {
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(array.hasNulls ? 1 : 0, 4);
  bytes.writeInt32BE(array.oid, 8);
  bytes.writeInt32BE(array.count, 12);
  bytes.writeInt32BE(1, 16);
}
