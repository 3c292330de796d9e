/**
 * SQLite through one connection: a transaction is one synchronous function, so that nothing of another request can land
 * inside it; and the free space within its file.
 */
import type Database from 'better-sqlite3';
import { LostRaceError, StoreError, toStoreError } from './store-errors.ts';
import {
  inSlices,
  type Outcome,
  placeholders,
  row,
  type SqlValue,
  type Statement,
  type Transaction,
  type TransactionRunner,
} from './transactions.ts';

/** Prepared statements kept at most; the program has far fewer, so this bounds a bug rather than a load. */
const PREPARED_MAX = 2_000;

export function sqliteRunner(connection: Database.Database, nowMs: () => number): TransactionRunner {
  const prepared = new Map<string, Database.Statement>();

  function prepare(text: string): Database.Statement {
    let statement = prepared.get(text);
    if (statement === undefined) {
      if (prepared.size >= PREPARED_MAX) prepared.clear();
      statement = connection.prepare(text.replace(/ FOR (UPDATE|SHARE)( OF \w+)?( SKIP LOCKED)?\s*$/, ''));
      prepared.set(text, statement);
    }
    return statement;
  }

  function execute(statement: Statement): Outcome {
    switch (statement.kind) {
      case 'now':
        return { rows: [{ now: nowMs() }], changes: 0 };
      case 'lock':
        return { rows: [], changes: 0 }; // there is one writer
      case 'insert':
        return { rows: [], changes: insertRows(statement) };
      case 'match':
        return matchingRows(statement);
      case 'query': {
        const compiled = prepare(statement.text);
        if (compiled.reader) {
          const found = compiled.all(...(statement.params as SqlValue[])) as Outcome['rows'];
          return { rows: found, changes: found.length };
        }
        return { rows: [], changes: compiled.run(...(statement.params as SqlValue[])).changes };
      }
    }
  }

  function insertRows({ table, columns, rows, ignoreConflicts }: Extract<Statement, { kind: 'insert' }>): number {
    const compiled = prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) ` +
        `VALUES (${placeholders(columns.length)})${ignoreConflicts ? ' ON CONFLICT DO NOTHING' : ''}`,
    );
    let inserted = 0;
    for (const row of rows) inserted += compiled.run(...(row as SqlValue[])).changes;
    return inserted;
  }

  function matchingRows({
    columns,
    table,
    keys,
    tuples,
    and,
    params,
    tail,
  }: Extract<Statement, { kind: 'match' }>): Outcome {
    const found: Outcome['rows'] = [];
    for (const slice of inSlices(tuples)) {
      const matches =
        keys.length === 1
          ? `${keys[0]} IN (${placeholders(slice.length)})`
          : slice.map(() => `(${keys.map((key) => `${key} = ?`).join(' AND ')})`).join(' OR ');
      const compiled = prepare(`SELECT ${columns} FROM ${table} WHERE (${matches}) ${and} ${tail}`);
      for (const row of compiled.all(...slice.flat(), ...params) as Outcome['rows']) found.push(row);
    }
    return { rows: found, changes: found.length };
  }

  function walk<T>(work: Transaction<T>): T {
    let step = work.next();
    while (!step.done) {
      let outcome: Outcome;
      try {
        outcome = execute(step.value);
      } catch (error) {
        step = work.throw(toStoreError(error)); // the body may catch a conflict
        continue;
      }
      step = work.next(outcome);
    }
    return step.value;
  }

  function attempt<T>(body: () => Transaction<T>): T {
    // Two nested transactions would silently become one: refuse instead.
    if (connection.inTransaction) throw new StoreError('broken', 'transaction already open');
    connection.exec('BEGIN IMMEDIATE');
    try {
      const result = walk(body());
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw toStoreError(error);
    }
  }

  /** Synchronous, so that nothing else commits meanwhile. */
  function lazily<T>(act: () => T): T {
    if (connection.inTransaction) return act(); // which refuses
    connection.pragma('synchronous = NORMAL');
    try {
      return act();
    } finally {
      connection.pragma('synchronous = FULL');
    }
  }

  return {
    dialect: 'sqlite',
    async run(body, durability) {
      for (let left = 3; ; left -= 1) {
        try {
          return durability === 'lazily' ? lazily(() => attempt(body)) : attempt(body);
        } catch (error) {
          if (!(error instanceof LostRaceError) || left === 0) throw error;
        }
      }
    },
    async read(body) {
      try {
        return walk(body());
      } catch (error) {
        throw toStoreError(error);
      }
    },
  };
}

export class DatabaseFreeSpace {
  private readonly database: TransactionRunner;
  constructor(database: TransactionRunner) {
    this.database = database;
  }

  /** Free bytes within the file; none where the database is another program's. */
  async reusableBytes(): Promise<number> {
    if (this.database.dialect !== 'sqlite') return 0;
    const found = await this.database.read(() =>
      row<{ bytes: number }>(
        'SELECT f.freelist_count * s.page_size AS bytes FROM pragma_freelist_count AS f, pragma_page_size AS s',
      ),
    );
    return found?.bytes ?? 0;
  }
}
