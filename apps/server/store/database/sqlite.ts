/**
 * SQLite through one connection: a transaction is one synchronous function, so that nothing of another request can land
 * inside it; and the free space within its file.
 */
import type Database from 'better-sqlite3';
import { type DeferredIndex, UncopiedError } from './deferred-index.ts';
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

/** Rows copied to a deferred table before others get their turn, each perhaps to a page of its own. */
const CATCH_UP_ROWS = 200;

type CatchUp = Extract<Statement, { kind: 'catchUp' }>;

const NOTHING: Outcome = { rows: [], changes: 0 };

export interface SqliteRunner extends TransactionRunner {
  /** Fills a deferred table with what was committed by now, in parts; others get their turn between them. */
  catchUp(statement: CatchUp): Promise<void>;
}

/** `deferred`: what is inserted into the sources of these is copied later. They are recovered here. */
export function sqliteRunner(
  connection: Database.Database,
  nowMs: () => number,
  deferred: readonly DeferredIndex[] = [],
): SqliteRunner {
  const prepared = new Map<string, Database.Statement>();
  /** By how they begin and their rows: as many as the program has column lists, for each size of a slice. */
  const inserts = new Map<string, Database.Statement[]>();
  for (const index of deferred) {
    hearOfChanges(connection, index);
    runGenerator(index.recover());
  }

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
      case 'dialect':
        return { rows: [{ dialect: 'sqlite' }], changes: 0 };
      case 'lock':
        return NOTHING; // there is one writer
      case 'call':
        throw new StoreError('broken', 'no functions');
      case 'catchUp':
        return catchUpHere(statement);
      case 'together':
        return { ...NOTHING, each: statement.statements.map(execute) };
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
    const indexes = deferred.filter((index) => index.table.source === table);
    const stored = storedPositions(columns, indexes);
    const head = `INSERT INTO ${table} (${stored.map((at) => columns[at]).join(', ')})`;
    const tail = ignoreConflicts ? ' ON CONFLICT DO NOTHING' : '';
    let inserted = 0;
    // Many rows to a statement take a quarter less of time than a statement each.
    for (const some of inSlices(rows)) {
      const compiled = preparedInsert(head, tail, { rows: some.length, columns: stored.length });
      inserted += compiled.run(...flatten(some, stored)).changes;
    }
    for (const index of indexes) index.note(columns, rows, !ignoreConflicts);
    return inserted;
  }

  /** By how it begins and the number of rows: its text is long, and made once. */
  function preparedInsert(head: string, tail: string, size: { rows: number; columns: number }): Database.Statement {
    let sizes = inserts.get(head + tail);
    if (sizes === undefined) inserts.set(head + tail, (sizes = []));
    return (sizes[size.rows] ??= connection.prepare(`${head} VALUES ${rowsOfPlaceholders(size)}${tail}`));
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

  function indexOf({ table }: CatchUp): DeferredIndex | undefined {
    return deferred.find((index) => index.table.name === table);
  }

  /** Within the open transaction. */
  function catchUpHere(statement: CatchUp): Outcome {
    const index = indexOf(statement);
    if (index !== undefined) runGenerator(index.catchUp(leadingOf(statement)));
    return NOTHING;
  }

  /** Steps on to the end, or to where a deferred table is asked for, which outside a transaction takes one. */
  function advance<T>(
    work: Transaction<T>,
    first: IteratorResult<Statement, T>,
  ): IteratorReturnResult<T> | IteratorYieldResult<CatchUp> {
    let step = first;
    while (step.done !== true) {
      if (step.value.kind === 'catchUp' && !connection.inTransaction) return { done: false, value: step.value };
      let outcome: Outcome;
      try {
        outcome = execute(step.value);
      } catch (error) {
        step = work.throw(toStoreError(error)); // the body may catch a conflict
        continue;
      }
      step = work.next(outcome);
    }
    return step;
  }

  function runGenerator<T>(work: Transaction<T>): T {
    const end = advance(work, work.next());
    if (end.done !== true) throw new StoreError('broken', 'catch-up outside a transaction');
    return end.value;
  }

  async function catchUp(statement: CatchUp): Promise<void> {
    const [index, leading] = [indexOf(statement), leadingOf(statement)];
    if (index === undefined) return;
    while (index.isBehind(leading)) {
      // What a power cut takes back is still behind the marker.
      try {
        lazily(() => attempt(() => index.catchUp(leading, CATCH_UP_ROWS)));
      } catch (error) {
        throw error instanceof StoreError && error.kind === 'full' ? new UncopiedError(index.table, error) : error;
      }
      if (index.isBehind(leading)) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function attempt<T>(body: () => Transaction<T>): T {
    // Two nested transactions would silently become one: refuse instead.
    if (connection.inTransaction) throw new StoreError('broken', 'transaction already open');
    begin();
    try {
      const result = runGenerator(body());
      for (const index of deferred) runGenerator(index.finish());
      connection.exec('COMMIT');
      for (const index of deferred) index.committed();
      return result;
    } catch (error) {
      for (const index of deferred) index.forget();
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw toStoreError(error);
    }
  }

  /** Another program may write to the file for longer than a statement waits. */
  function begin(): void {
    try {
      connection.exec('BEGIN IMMEDIATE');
    } catch (error) {
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
        const work = body();
        let step = advance(work, work.next());
        while (step.done !== true) {
          const failure = await catchUp(step.value).then(() => undefined, toStoreError);
          // the body may do with what there is
          step = advance(work, failure === undefined ? work.next(NOTHING) : work.throw(failure));
        }
        return step.value;
      } catch (error) {
        throw toStoreError(error);
      }
    },
    catchUp,
  };
}

/** Triggers of this connection alone, which writes all there is: other programs open the file as before. */
function hearOfChanges(connection: Database.Database, index: DeferredIndex): void {
  const { name, source, columns, order } = index.table;
  const hear = `${name}_source_changed`;
  const repeated = columns.filter((column) => !index.isOwn(column));
  connection.function(hear, (changed: string | number) => index.changed(changed));
  for (const act of [`UPDATE OF ${repeated.join(', ')}`, 'DELETE'])
    connection.exec(
      `CREATE TEMP TRIGGER IF NOT EXISTS ${hear}_by_${act.slice(0, 6).toLowerCase()} AFTER ${act} ON main.${source} ` +
        `BEGIN SELECT ${hear}(old.${order}); END`,
    );
}

function rowsOfPlaceholders({ rows, columns }: { rows: number; columns: number }): string {
  return Array.from({ length: rows }, () => `(${placeholders(columns)})`).join(', ');
}

/** Where the columns stand that the table itself stores, and not only what is filled from it. */
function storedPositions(columns: readonly string[], indexes: readonly DeferredIndex[]): number[] {
  return columns.flatMap((column, at) => (indexes.some((index) => index.isOwn(column)) ? [] : [at]));
}

/** The values of rows at these positions, one after the other: `flat` defines each by a call of the runtime. */
function flatten(rows: readonly (readonly SqlValue[])[], positions: readonly number[]): SqlValue[] {
  const values: SqlValue[] = [];
  for (const row of rows) for (const position of positions) values.push(row[position] as SqlValue);
  return values;
}

function leadingOf({ leading }: CatchUp): ReadonlySet<SqlValue> | undefined {
  return leading && new Set(leading);
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
