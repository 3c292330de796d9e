/**
 * Statements as PostgreSQL is sent them: however many rows and keys there are, few texts and few parameters, because it
 * reads every text anew that it was not given a name for.
 */
import type { ArrayType, FunctionCall, SqlValue, Statement } from '../transactions.ts';

type Inserting = Extract<Statement, { kind: 'insert' }>;
type Matching = Extract<Statement, { kind: 'match' }>;

/** What pg takes. `repeats`: whether the same text comes again and again, so that it is worth a name. */
export interface PostgresStatement {
  text: string;
  values: readonly SqlValue[];
  repeats: boolean;
}

/**
 * One row as it is, many as one array for each column. A column without any value is written as such: nothing would
 * tell its type.
 */
export function insertStatement({ table, columns, rows, ignoreConflicts, uuids = [] }: Inserting): PostgresStatement {
  const conflict = ignoreConflicts ? ' ON CONFLICT DO NOTHING' : '';
  const into = `INSERT INTO ${table} (${columns.join(', ')})`;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined)
    return {
      text: `${into} VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')})${conflict}`,
      values: first,
      repeats: true,
    };
  const given = columns.flatMap((_, column) =>
    rows.some((row) => (row[column] ?? null) !== null) ? [{ column, array: encodeColumn(rows, column) }] : [],
  );
  const named = new Set(given.map(({ column }) => column));
  const chosen = columns
    .map((name, column) => (named.has(column) ? `c${column}${uuids.includes(name) ? '::uuid' : ''}` : 'NULL'))
    .join(', ');
  const arrays = given.map(({ array }, at) => `$${at + 1}::${array.type}`).join(', ');
  const text =
    `${into} SELECT ${chosen} FROM unnest(${arrays}) AS ` +
    `given(${given.map(({ column }) => `c${column}`).join(', ')})${conflict}`;
  return { text, values: given.map(({ array }) => array.bytes), repeats: true };
}

/** All keys in one statement. */
export function matchStatement({ columns, table, keys, tuples, and, params, tail }: Matching): PostgresStatement {
  const columnsOfKeys = keys.map((_, column) => encodeColumn(tuples, column));
  const arrays = columnsOfKeys.map(({ type }, at) => `$${at + 1}::${type}`);
  const matches =
    keys.length === 1
      ? `${keys[0]} = ANY(${arrays[0]})`
      : `(${keys.join(', ')}) IN (SELECT * FROM unnest(${arrays.join(', ')}))`;
  let position = keys.length;
  const rest = and.replace(/\?/g, () => `$${(position += 1)}`);
  return {
    text: `SELECT ${columns} FROM ${table} WHERE ${matches} ${rest} ${tail}`,
    values: [...columnsOfKeys.map(({ bytes }) => bytes), ...params],
    repeats: true,
  };
}

/** Each column of its tables as an array. */
export function callStatement({ name, columns, params, tables }: FunctionCall): PostgresStatement {
  const arrays = tables.flatMap(({ types, rows }) => types.map((type, column) => encodeColumn(rows, column, type)));
  const types = [...params.map(() => 'bigint'), ...arrays.map(({ type }) => type)];
  return {
    text: `SELECT ${columns.join(', ')} FROM ${name}(${types.map((type, at) => `$${at + 1}::${type}`).join(', ')})`,
    values: [...params, ...arrays.map(({ bytes }) => bytes)],
    repeats: true,
  };
}

/*
 * Columns of rows as arrays in binary: lengths instead of quotes, bytes instead of hexadecimal digits, so that neither
 * side spends time on a text. PostgreSQL, "Formats and Format Codes"; array_recv.
 */

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
 * The values that rows have in one column; where all of them are null, as texts unless a type is given. Throws a
 * TypeError for a value of another type than that or the first one's, and for a number that is no whole one below 2^53.
 */
export function encodeColumn(rows: readonly (readonly SqlValue[])[], column: number, type?: ArrayType): BinaryArray {
  if (type !== undefined) return encode(rows, column, ELEMENTS[type]);
  const value = rows.find((row) => row[column] != null)?.[column];
  if (typeof value === 'number') return encode(rows, column, BIGINT);
  return value instanceof Uint8Array ? encode(rows, column, BYTEA) : encode(rows, column, TEXT);
}

interface Element<T extends SqlValue = SqlValue> {
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

const ELEMENTS = { 'text[]': TEXT, 'bigint[]': BIGINT, 'bytea[]': BYTEA } as Readonly<Record<ArrayType, Element>>;

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

/** The database's clock in whole milliseconds. */
export const NOW: PostgresStatement = {
  text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  values: [],
  repeats: true,
};

/**
 * Of the transaction, not of the session: that also holds behind PgBouncer. Names that share a number only wait for
 * each other.
 */
export function lockStatement(name: string, isShared: boolean): PostgresStatement {
  const take = isShared ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  return { text: `SELECT ${take}(hashtextextended($1, 0))`, values: [name], repeats: true };
}

/** Names that one process gives at most: each is kept by every connection, on both of its ends. */
const NAMES_MAX = 200;

/** Short names for texts that come again. */
export class StatementNames {
  private readonly names = new Map<string, string>();

  /** The name of a text; undefined where there are too many already. */
  of(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size >= NAMES_MAX) return known;
    const name = `s${this.names.size + 1}`;
    this.names.set(text, name);
    return name;
  }
}
