/**
 * Statements as PostgreSQL is sent them: however many rows and keys there are, few texts and few parameters, because it
 * reads every text anew that it was not given a name for.
 */
import type { SqlValue, Statement } from '../transactions.ts';
import { encodeColumn } from './postgres-arrays.ts';

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
export function insertStatement({ table, columns, rows, ignoreConflicts }: Inserting): PostgresStatement {
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
  const chosen = columns.map((_, column) => (named.has(column) ? `c${column}` : 'NULL')).join(', ');
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
export function lockStatement(name: string): PostgresStatement {
  return { text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', values: [name], repeats: true };
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
