/**
 * Transactions as generators: written once over SQL, run synchronously on SQLite and asynchronously on PostgreSQL by a
 * runner.
 */
import { toStoreError } from './store-errors.ts';

export type Dialect = 'sqlite' | 'postgres';
export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, SqlValue>;

/**
 * One statement of a transaction. Placeholders are `?`; a trailing FOR UPDATE or FOR SHARE is dropped where rows cannot
 * be locked.
 */
export type Statement =
  | { kind: 'query'; text: string; params: readonly SqlValue[] }
  /**
   * Rows of a table whose `keys` are one of the `tuples`, however many those are; `and`: further conditions with their
   * `params`; `tail`: order and lock.
   */
  | {
      kind: 'match';
      columns: string;
      table: string;
      keys: readonly string[];
      tuples: readonly (readonly SqlValue[])[];
      and: string;
      params: readonly SqlValue[];
      tail: string;
    }
  | {
      kind: 'insert';
      table: string;
      columns: readonly string[];
      rows: readonly (readonly SqlValue[])[];
      ignoreConflicts: boolean;
      /** Columns whose texts are UUIDs of PostgreSQL. */
      uuids?: readonly string[];
    }
  /** What may not be in a deferred table yet is copied to it first; of these leading values alone. */
  | { kind: 'catchUp'; table: string; leading: readonly SqlValue[] | undefined }
  | { kind: 'now' }
  /** Which database it is. Asks nobody. */
  | { kind: 'dialect' }
  /** Held until the transaction ends; where transactions follow each other anyway, nothing. */
  | { kind: 'lock'; name: string; isShared: boolean }
  /** A function that is the whole transaction, and one round trip to a server. PostgreSQL only. */
  | ({ kind: 'call' } & FunctionCall)
  /** One after the other, without waiting for an outcome between them. */
  | { kind: 'together'; statements: readonly Statement[] };

export type ArrayType = 'text[]' | 'bigint[]' | 'bytea[]';

export interface FunctionCall {
  name: string;
  /** What it answers. */
  columns: readonly string[];
  params: readonly number[];
  /** Behind the parameters it takes an array for each column of these. */
  tables: readonly { types: readonly ArrayType[]; rows: readonly (readonly SqlValue[])[] }[];
}

export interface Outcome {
  rows: Row[];
  /** Rows inserted, updated or deleted. */
  changes: number;
  /** Of statements together: one for each, in order. */
  each?: readonly Outcome[];
}

/**
 * A transaction's body: yields statements, receives their outcome. It must not await and must have no other effect,
 * because it may be run again.
 */
export type Transaction<T> = Generator<Statement, T, Outcome>;

/** Rows of a SELECT or of a RETURNING clause. `R` is what the caller asserts about the columns. */
export function* rows<R = Row>(text: string, ...params: SqlValue[]): Transaction<R[]> {
  const outcome = yield { kind: 'query', text, params };
  return outcome.rows as R[];
}

/**
 * Which rows, by more than their keys. `and` begins with AND; `tail`: ORDER BY and lock, the order holding among rows
 * that are found together only.
 */
export interface Match {
  columns: string;
  table: string;
  keys: readonly string[];
  and?: string;
  params?: readonly SqlValue[];
  tail?: string;
}

/** Rows whose keys are one of these tuples; none are looked for without any. */
export function* matching<R = Row>(
  { columns, table, keys, and = '', params = [], tail = '' }: Match,
  tuples: readonly (readonly SqlValue[])[],
): Transaction<R[]> {
  if (tuples.length === 0) return [];
  return (yield { kind: 'match', columns, table, keys, tuples, and, params, tail }).rows as R[];
}

/** The first row, or undefined. */
export function* row<R = Row>(text: string, ...params: SqlValue[]): Transaction<R | undefined> {
  return (yield* rows<R>(text, ...params))[0];
}

/** Number of rows that a writing statement touched. */
export function* change(text: string, ...params: SqlValue[]): Transaction<number> {
  return (yield { kind: 'query', text, params }).changes;
}

/** Inserts many rows of one table; answers how many were inserted (fewer than given only with `ignoreConflicts`). */
export function* insert(
  table: string,
  columns: readonly string[],
  values: readonly (readonly SqlValue[])[],
  { ignoreConflicts = false, uuids = [] }: { ignoreConflicts?: boolean; uuids?: readonly string[] } = {},
): Transaction<number> {
  if (values.length === 0) return 0;
  return (yield { kind: 'insert', table, columns, rows: values, ignoreConflicts, uuids }).changes;
}

/** The database's clock in milliseconds since the epoch (on SQLite the clock of the process that owns the file). */
export function* databaseNow(): Transaction<number> {
  return Number((yield { kind: 'now' }).rows[0]?.['now']);
}

/** Which database it is: for statements that each of them needs in words of its own. */
export function* dialectInUse(): Transaction<Dialect> {
  return (yield { kind: 'dialect' }).rows[0]?.['dialect'] as Dialect;
}

/**
 * Waits for every transaction that holds the lock of this name, and keeps it from others until this one ends. Of
 * several locks take the names in order. `isShared`: others may share it meanwhile.
 */
export function* lock(name: string, { isShared = false } = {}): Transaction<void> {
  yield { kind: 'lock', name, isShared };
}

/** Calls a function of the database, which is all that the transaction does. PostgreSQL only. */
export function* call<R = Row>(called: FunctionCall): Transaction<R | undefined> {
  return (yield { kind: 'call', ...called }).rows[0] as R | undefined;
}

type Results<Bodies extends readonly Transaction<unknown>[]> = {
  -readonly [At in keyof Bodies]: Bodies[At] extends Transaction<infer Result> ? Result : never;
};

/**
 * Runs bodies that do not need each other's results side by side: the next statements of all of them, in their order,
 * are one round trip to a server. Each is a statement of its own nevertheless, and sees what those before it waited
 * for. A fault ends all of them; they cannot catch it.
 */
export function* together<const Bodies extends readonly Transaction<unknown>[]>(
  ...bodies: Bodies
): Transaction<Results<Bodies>> {
  const steps = bodies.map((body) => ({ body, step: body.next() }));
  for (;;) {
    const open = steps.filter(({ step }) => step.done !== true);
    if (open.length === 0) return steps.map(({ step }) => step.value) as Results<Bodies>;
    const statements = open.map(({ step }) => step.value as Statement);
    const [only] = statements;
    const outcome: Outcome = yield only !== undefined && open.length === 1 ? only : { kind: 'together', statements };
    const outcomes = open.length === 1 ? [outcome] : (outcome.each ?? []);
    open.forEach((one, at) => (one.step = one.body.next(outcomes[at] as Outcome)));
  }
}

/** `?, ?, ?` for a list of `count` values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

/** Values are cut to a few fixed numbers, so that the statements stay few and prepared. */
const SLICES = [64, 16, 4, 1] as const;

/** The values in parts of these numbers. */
export function* inSlices<T>(values: readonly T[]): Generator<T[]> {
  for (let start = 0; start < values.length;) {
    const size = SLICES.find((candidate) => candidate <= values.length - start) ?? 1;
    yield values.slice(start, start + size);
    start += size;
  }
}

/**
 * `lazily`: a power cut may take it back, a killed process may not. For what is written again and again and harms
 * nobody when it is lost. SQLite only: spares the wait for the disk.
 */
export type Durability = 'lazily';

export interface TransactionRunner {
  readonly dialect: Dialect;
  /** Runs the body in one transaction; commits when it returns, rolls back when it throws. Retries lost races. */
  run<T>(body: () => Transaction<T>, durability?: Durability): Promise<T>;
  /** Runs a body that only reads, outside any transaction. */
  read<T>(body: () => Transaction<T>): Promise<T>;
}

/**
 * Steps through a body whose statements are executed elsewhere; a failed statement is thrown into the body, as a
 * StoreError, which may catch it.
 */
export async function runSteps<T>(
  work: Transaction<T>,
  execute: (statement: Statement) => Promise<Outcome>,
): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let outcome: Outcome;
    try {
      outcome = await execute(step.value);
    } catch (error) {
      step = work.throw(toStoreError(error));
      continue;
    }
    step = work.next(outcome);
  }
  return step.value;
}
