/** SQLite through one connection: a transaction is one synchronous function, so that nothing of another request can land inside it. */
import type Database from 'better-sqlite3';
import { LostRace, StoreFault, toStoreFault } from './faults.ts';
import type { TransactionRunner } from './engine.ts';
import type { Outcome, SqlValue, Statement, Work } from './statements.ts';

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

  function insertRows(statement: Extract<Statement, { kind: 'insert' }>): number {
    const values = statement.columns.map(() => '?').join(', ');
    const conflict = statement.ignoreConflicts ? ' ON CONFLICT DO NOTHING' : '';
    const compiled = prepare(`INSERT INTO ${statement.table} (${statement.columns.join(', ')}) VALUES (${values})${conflict}`);
    let inserted = 0;
    for (const one of statement.rows) inserted += compiled.run(...(one as SqlValue[])).changes;
    return inserted;
  }

  function walk<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) {
      let outcome: Outcome;
      try {
        outcome = execute(step.value);
      } catch (error) {
        step = work.throw(toStoreFault(error)); // the body may catch a conflict
        continue;
      }
      step = work.next(outcome);
    }
    return step.value;
  }

  function attempt<T>(body: () => Work<T>): T {
    // Two nested transactions would silently become one: refuse instead.
    if (connection.inTransaction) throw new StoreFault('broken', 'transaction already open');
    connection.exec('BEGIN IMMEDIATE');
    try {
      const result = walk(body());
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw toStoreFault(error);
    }
  }

  return {
    dialect: 'sqlite',
    async run(body) {
      for (let left = 3; ; left -= 1) {
        try {
          return attempt(body);
        } catch (error) {
          if (!(error instanceof LostRace) || left === 0) throw error;
        }
      }
    },
    async read(body) {
      try {
        return walk(body());
      } catch (error) {
        throw toStoreFault(error);
      }
    },
  };
}
