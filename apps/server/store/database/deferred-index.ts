/**
 * Tables of a SQLite file that are filled later: what an index with random keys would cost every insert is paid once
 * for many rows, sorted, so that neighbours share pages.
 *
 * Why nothing is ever missing: a row enters such a table only as a copy of its source row as it is in that transaction,
 * and triggers change and delete copies with what they were copied from: what is there is right, and copying it again
 * does nothing. A row that memory still has as it was inserted is not read again for that; memory hears of every change
 * and deletion in the source within the statement that makes it, and reads what they concern. What is not there yet is
 * in memory, or ordered at or behind the stored marker: the marker moves with the last rows of a pass, up to the first
 * row that is still to be copied and no further, and a row that comes with an order before it (clocks step, requests
 * overtake each other) is copied by its own transaction. Memory changes when the transaction has committed and not
 * before, and after a crash it is read again from behind the marker. Who reads such a table asks for it by `catchUp`
 * first.
 *
 * A source is filled by `insert` statements alone, never by REPLACE, whose deletions no trigger hears, and no savepoint
 * is rolled back behind one.
 */
import { DeferredRows, type DeferredBounds, rowsIn, type RowsToCopy } from '#deliveries';
import { StoreError } from './store-errors.ts';
import { change, insert, inSlices, placeholders, row, rows, type SqlValue, type Transaction } from './transactions.ts';

/** A table that is filled later, from another one. On PostgreSQL a view of it. */
export interface DeferredTable {
  readonly name: string;
  readonly source: string;
  /** Those of the source that it repeats, and its own. */
  readonly columns: readonly string[];
  /**
   * Columns that rows are inserted into the source with, and that the source does not keep: they follow from what it
   * refers to, which never changes. `view`: its rows with them.
   */
  readonly own?: { readonly columns: readonly string[]; readonly view: string };
  /** Its primary key is this column, by which it is read, and `order`. */
  readonly leading: string;
  /** Unique in the source and indexed there; about the order in which rows are inserted. */
  readonly order: string;
  /** Rows of the source have numbers (`rowid`), each higher than all that are there when it is inserted. */
  readonly isNumbered?: boolean;
}

/**
 * All rows of a deferred table that were committed by now can be read in the next statement; of these leading values
 * alone. Of other tables nothing is waited for.
 */
export function* catchUp(table: string, leading?: readonly SqlValue[]): Transaction<void> {
  yield { kind: 'catchUp', table, leading };
}

/**
 * The same for a read outside of a transaction. Answers the table where there is no room for copies, so that it may
 * lack rows (`behindMarker`).
 */
export function* catchUpIfRoom(table: string, leading?: readonly SqlValue[]): Transaction<DeferredTable | undefined> {
  try {
    yield* catchUp(table, leading);
    return undefined;
  } catch (error) {
    if (error instanceof UncopiedError) return error.table;
    throw error;
  }
}

/**
 * The same for statements that need all rows: what finds them, to stand behind FROM with a name. The table, or, where
 * there is no room for copies, what it has and what it lacks.
 */
export function* caughtUpRelation(table: string, leading?: readonly SqlValue[]): Transaction<string> {
  const lacking = yield* catchUpIfRoom(table, leading);
  if (lacking === undefined) return table;
  const { name, columns } = lacking;
  const list = columns.join(', ');
  const isSame = [lacking.leading, lacking.order].map((column) => `${column} = behind.${column}`).join(' AND ');
  const isCopied = `EXISTS (SELECT 1 FROM ${name} WHERE ${isSame})`;
  const uncopied = `SELECT ${list} FROM ${behindMarker(lacking)} AS behind WHERE NOT ${isCopied}`;
  return (
    // Read once a statement: they are in another order than who asks for them.
    `(WITH uncopied AS MATERIALIZED (${uncopied}) SELECT ${list} FROM ${name} UNION ALL SELECT ${list} FROM uncopied)`
  );
}

/** What a table may lack, and some of what it has: to stand behind FROM. */
export function behindMarker({ name, source, own, columns, order }: DeferredTable): string {
  const marker = `SELECT marker FROM deferred WHERE name = '${name}'`;
  return `(SELECT ${columns.join(', ')} FROM ${own?.view ?? source} WHERE ${order} >= (${marker}))`;
}

/** There is no room for the rows that a table lacks. */
export class UncopiedError extends StoreError {
  readonly table: DeferredTable;
  constructor(table: DeferredTable, { kind, code }: StoreError) {
    super(kind, code);
    this.table = table;
  }
}

/**
 * Rows that wait before they are sorted, more with more leading values: what a copy costs is above all the page that it
 * goes to, and those that share one cost little. A read of everything catches up all that wait.
 */
const PASS_ROWS = { min: 16_000, max: 48_000 };

/**
 * A transaction copies so many times the rows that it inserts, and some at least: more than come, so that no backlog
 * grows, and no more than the transaction is in proportion to.
 */
const SLICE = { ofInserted: 2, rowsMin: 32 };

/** Changed rows of the source that are remembered, before all that waits is looked through for them. */
const CHANGED_MAX = 1_000;

type Order = string | number;

interface SourceRow {
  readonly leading: SqlValue;
  readonly position: Order;
}

/** What lay behind the marker, up to a row of the source. */
interface PreparedRows {
  readonly marker: Order;
  readonly last: { number: number; position: Order };
  readonly rows: readonly SourceRow[];
}

export interface DeferredOptions extends Partial<DeferredBounds> {
  sliceRowsMin?: number;
}

/** What is still to be copied into one table. All of its transactions go through one connection. */
export class DeferredIndex {
  readonly table: DeferredTable;
  private readonly sliceRowsMin: number;
  /** Columns beside the leading one. */
  private readonly further: readonly string[];
  /** Where its rows are read again. */
  private readonly rowsOfSource: string;
  private readonly memory: DeferredRows<SqlValue, Order>;
  private prepared: PreparedRows | undefined;

  constructor(
    table: DeferredTable,
    { passRows = PASS_ROWS, sliceRowsMin = SLICE.rowsMin, changedMax = CHANGED_MAX }: DeferredOptions = {},
  ) {
    [this.table, this.sliceRowsMin] = [table, sliceRowsMin];
    this.further = table.columns.filter((column) => column !== table.leading);
    this.rowsOfSource = table.own?.view ?? table.source;
    const shape = { width: this.further.length, orderAt: this.further.indexOf(table.order) };
    this.memory = new DeferredRows(shape, { passRows, changedMax }, '');
  }

  /** Whether rows of the source are inserted with a column that only this table stores. */
  isOwn(column: string): boolean {
    return this.table.own?.columns.includes(column) === true;
  }

  /** Reads ahead, beside the process that writes, most of what `recover` reads. */
  *prepare(): Transaction<void> {
    const { source, order, isNumbered = false } = this.table;
    if (!isNumbered) return;
    const last = yield* row<PreparedRows['last']>(
      `SELECT rowid AS number, ${order} AS position FROM ${source} ORDER BY rowid DESC LIMIT 1`,
    );
    if (last === undefined) return;
    const marker = yield* this.storedMarker();
    this.prepared = { marker, last, rows: yield* this.behind(marker, 'AND rowid <= ?', last.number) };
  }

  /** At the start: reads what lies behind the marker. */
  *recover(): Transaction<void> {
    const { prepared } = this;
    this.prepared = undefined;
    const marker = yield* this.storedMarker();
    const known = prepared === undefined ? undefined : yield* this.goneOnFrom(prepared, marker);
    this.memory.recover(marker, known ?? (yield* this.behind(marker)));
  }

  private *storedMarker(): Transaction<Order> {
    const stored = yield* row<{ marker: Order }>('SELECT marker FROM deferred WHERE name = ?', this.table.name);
    if (stored === undefined) throw new StoreError('broken', 'no marker');
    return stored.marker;
  }

  private behind(marker: Order, and = '', ...params: SqlValue[]): Transaction<SourceRow[]> {
    const { leading, order } = this.table;
    return rows<SourceRow>(
      `SELECT ${leading} AS leading, ${order} AS position FROM ${this.rowsOfSource} WHERE ${order} >= ? ${and}`,
      marker,
      ...params,
    );
  }

  /** What lies behind the marker by now; undefined where that cannot be told from what was prepared. */
  private *goneOnFrom(
    { marker, last, rows: known }: PreparedRows,
    stored: Order,
  ): Transaction<SourceRow[] | undefined> {
    const { source, order } = this.table;
    const text = `SELECT 1 AS same FROM ${source} WHERE rowid = ? AND ${order} = ?`;
    // While the last row of then is there, whatever came later has a higher number.
    if (stored < marker || (yield* row(text, last.number, last.position)) === undefined) return undefined;
    const later = yield* this.behind(stored, 'AND rowid > ?', last.number);
    return [...known.filter(({ position }) => position >= stored), ...later];
  }

  /** The open transaction has inserted these rows into the source; `isSure`: these, and not others before them. */
  note(columns: readonly string[], rowsOfValues: readonly (readonly SqlValue[])[], isSure: boolean): void {
    const [leading, order] = [columns.indexOf(this.table.leading), columns.indexOf(this.table.order)];
    const whole = this.further.map((column) => columns.indexOf(column));
    const positions = isSure && !whole.includes(-1) ? whole : this.memory.orderAlone(order);
    for (const values of rowsOfValues)
      this.memory.note(values[leading] ?? null, values[order] as Order, values, positions);
  }

  /** The open transaction has changed or deleted a row of the source: what memory has of it is not true any more. */
  changed(order: Order): void {
    this.memory.changed(order);
  }

  /**
   * The last statements of a transaction: what comes too late for the marker, a slice of what waits, and the marker
   * behind a pass that is over, also where rows were copied because they were read.
   */
  *finish(): Transaction<void> {
    const { memory } = this;
    if (memory.hasInserted) yield* this.copySlice();
    if (memory.endsPass())
      yield* change('UPDATE deferred SET marker = ? WHERE name = ?', memory.moveMarker(), this.table.name);
  }

  private *copySlice(): Transaction<void> {
    const { memory, sliceRowsMin } = this;
    const late = memory.late();
    if (late.length > 0) yield* this.write(memory.take([], late));
    if (!memory.startPassIfDue()) return;
    const sliceRows = memory.sliceRows(sliceRowsMin, SLICE.ofInserted);
    yield* this.write(memory.take(memory.restOfPass(sliceRows), []));
  }

  /** Copies some of what waits; a part of it where `max` is given. */
  *catchUp(leading?: ReadonlySet<SqlValue>, max = Infinity): Transaction<void> {
    const { memory } = this;
    if (leading === undefined) memory.startPassIfOver();
    const pending = memory.pending(leading, max);
    yield* this.write(memory.take(pending, memory.firstInserted(max - rowsIn(pending))));
  }

  /** Whether any row is committed and not copied. */
  isBehind(leading?: ReadonlySet<SqlValue>): boolean {
    return this.memory.pending(leading, 1).length > 0;
  }

  /** The transaction has committed: before anything else of this process happens. */
  committed(): void {
    this.memory.committed();
  }

  /** The transaction has not committed. */
  forget(): void {
    this.memory.forget();
  }

  private *write({ known, unknown }: RowsToCopy<SqlValue, Order>): Transaction<void> {
    const { name, columns, leading, order } = this.table;
    const list = columns.join(', ');
    yield* insert(name, [leading, ...this.further], known, { ignoreConflicts: true });
    for (const slice of inSlices(unknown))
      yield* change(
        `INSERT OR IGNORE INTO ${name} (${list}) SELECT ${list} FROM ${this.rowsOfSource} ` +
          `WHERE ${order} IN (${placeholders(slice.length)})`,
        ...slice,
      );
  }
}
