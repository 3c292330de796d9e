/**
 * What PostgreSQL is sent: one statement and few parameters however many rows there are, of the types that its columns
 * have.
 */
import type { SqlValue } from '../transactions.ts';
import { encodeColumn, insertStatement, matchStatement, StatementNames } from './postgres-statements.ts';

const insert = (rows: (string | number | null | Uint8Array)[][], ignoreConflicts = false) =>
  insertStatement({ kind: 'insert', table: 't', columns: ['a', 'b', 'c', 'd'], rows, ignoreConflicts });

const arrayOf = (...values: SqlValue[]): Buffer =>
  encodeColumn(
    values.map((value) => [value]),
    0,
  ).bytes;

describe('an insert', () => {
  it('of one row sends its values as they are', () => {
    expect(insert([['x', 1, null, new Uint8Array([7])]])).toEqual({
      text: 'INSERT INTO t (a, b, c, d) VALUES ($1, $2, $3, $4)',
      values: ['x', 1, null, new Uint8Array([7])],
      repeats: true,
    });
  });

  it('of many rows sends one array for each column that has values, of its type', () => {
    const bytes = [new Uint8Array([1]), new Uint8Array([2])] as const;
    expect(
      insert(
        [
          ['x', null, null, bytes[0]],
          ['y', 2, null, bytes[1]],
        ],
        true,
      ),
    ).toEqual({
      text:
        'INSERT INTO t (a, b, c, d) SELECT c0, c1, NULL, c3 ' +
        'FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS given(c0, c1, c3) ON CONFLICT DO NOTHING',
      values: [arrayOf('x', 'y'), arrayOf(null, 2), arrayOf(...bytes)],
      repeats: true,
    });
  });

  it('has the same text however many rows there are', () => {
    const rows = (count: number) => insert(Array.from({ length: count }, (_, at) => [`x${at}`, at, null, null])).text;
    expect(rows(2)).toBe(rows(256));
  });
});

describe('a match', () => {
  const of = { kind: 'match', columns: 'a, b', table: 't', and: '', params: [], tail: '' } as const;

  it('of one key asks for any of a list, with further conditions behind it', () => {
    const { text, values } = matchStatement({
      ...of,
      keys: ['a'],
      tuples: [['x'], ['y']],
      and: 'AND b > ? AND b < ?',
      params: [1, 9],
      tail: 'ORDER BY a FOR SHARE',
    });
    expect([text, values]).toEqual([
      'SELECT a, b FROM t WHERE a = ANY($1::text[]) AND b > $2 AND b < $3 ORDER BY a FOR SHARE',
      [arrayOf('x', 'y'), 1, 9],
    ]);
  });

  it('of several keys takes them together, not each by itself', () => {
    const hash = new Uint8Array([1]);
    const { text, values } = matchStatement({ ...of, keys: ['a', 'b'], tuples: [['x', hash]] });
    expect([text.trim(), values]).toEqual([
      'SELECT a, b FROM t WHERE (a, b) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))',
      [arrayOf('x'), arrayOf(hash)],
    ]);
  });
});

describe('names of statements', () => {
  it('stay with their texts, and are no more than a connection should keep', () => {
    const names = new StatementNames();
    const given = Array.from({ length: 250 }, (_, at) => names.of(`SELECT ${at}`));
    expect(new Set(given.filter((name) => name !== undefined)).size).toBe(200);
    expect(given.indexOf(undefined)).toBe(200);
    expect([names.of('SELECT 7'), names.of('SELECT 240')]).toEqual([given[7], undefined]);
  });
});
