/**
 * Tables of a SQLite file that are filled later: what an index with random keys would cost every insert is paid once
 * for many rows, sorted, so that neighbours share pages.
 *
 * Why nothing is ever missing: a row enters such a table only as a copy of its source row as it is in that transaction,
 * and triggers change and delete copies with what they were copied from: what is there is right, and copying it again
 * does nothing. A row that memory still has as it was inserted is not read again for that; memory hears of every change
 * and deletion in the source within the statement that makes it, and reads what they concern. What is not there yet is
 * in memory, or ordered at or behind the stored marker: the marker moves with the last slice of a pass, up to the first
 * row that is still to be copied and no further, and a row that comes with an order before it (clocks step, requests
 * overtake each other) is copied by its own transaction. Memory changes when the transaction has committed and not
 * before, and after a crash it is read again from behind the marker. Who reads such a table asks for it by `catchUp`
 * first.
 *
 * A source is filled by `insert` statements alone, never by REPLACE, whose deletions no trigger hears, and no savepoint
 * is rolled back behind one.
 */
import { Backlog } from '#deliveries';
import { StoreError } from './store-errors.ts';
import { change, insert, inSlices, placeholders, row, rows, type SqlValue, type Transaction } from './transactions.ts';

/** A table that is filled later, from another one. On PostgreSQL a view of it. */
export interface DeferredTable {
  readonly name: string;
  readonly source: string;
  /** Those of the source that it repeats. */
  readonly columns: readonly string[];
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
 * Rows that wait before they are sorted: the more, the more of them share a page, and the more a read of everything
 * catches up. With 4,000 leading values 4,000 rows cost what an index does, these about half.
 */
const PASS_ROWS = 16_000;

/** Rows that a transaction copies beside those that it inserts itself: more than any has, so that no backlog grows. */
const SLICE_ROWS = 500;

type Order = string | number;

/** Changed rows of the source that are remembered, before all that waits is looked through for them. */
const CHANGED_MAX = 1_000;

/** A row of the source that may not be copied yet. */
interface Uncopied {
  readonly leading: SqlValue;
  readonly order: Order;
  isCopied: boolean;
  /** What is to be copied, where that is known and has not changed. */
  values: readonly SqlValue[] | undefined;
}

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

export interface DeferredOptions {
  passRows?: number;
  sliceRows?: number;
  changedMax?: number;
}

/** What is still to be copied into one table. All of its transactions go through one connection. */
export class DeferredIndex {
  readonly table: DeferredTable;
  private readonly passRows: number;
  private readonly sliceRows: number;
  private readonly changedMax: number;
  /** As stored: what is ordered before it is copied. */
  private marker: Order = '';
  private highest: Order = '';
  private waiting = new Backlog<SqlValue, Uncopied>();
  /** What waited before, and the same sorted: copied up to `position` at least. */
  private passing = new Backlog<SqlValue, Uncopied>();
  private pass: readonly Uncopied[] = [];
  private position = 0;
  /** Of the open transaction: rows that it inserted into the source, rows that it copied, the marker it stored. */
  private inserted: Uncopied[] = [];
  private copied: Uncopied[] = [];
  /** Rows of the source that were changed or deleted, and may wait with what they had before. */
  private readonly changedRows = new Set<Order>();
  private nextMarker: Order | undefined;
  private prepared: PreparedRows | undefined;

  constructor(
    table: DeferredTable,
    { passRows = PASS_ROWS, sliceRows = SLICE_ROWS, changedMax = CHANGED_MAX }: DeferredOptions = {},
  ) {
    [this.table, this.passRows, this.sliceRows, this.changedMax] = [table, passRows, sliceRows, changedMax];
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
    this.marker = this.highest = yield* this.storedMarker();
    const known = prepared === undefined ? undefined : yield* this.goneOnFrom(prepared);
    const found = known ?? (yield* this.behind(this.marker));
    this.waiting = new Backlog();
    for (const { leading: of, position } of found) {
      this.waiting.add(newUncopied(of, position));
      if (position > this.highest) this.highest = position;
    }
  }

  private *storedMarker(): Transaction<Order> {
    const stored = yield* row<{ marker: Order }>('SELECT marker FROM deferred WHERE name = ?', this.table.name);
    if (stored === undefined) throw new StoreError('broken', 'no marker');
    return stored.marker;
  }

  private behind(marker: Order, and = '', ...params: SqlValue[]): Transaction<SourceRow[]> {
    const { source, leading, order } = this.table;
    return rows<SourceRow>(
      `SELECT ${leading} AS leading, ${order} AS position FROM ${source} WHERE ${order} >= ? ${and}`,
      marker,
      ...params,
    );
  }

  /** What lies behind the marker by now; undefined where that cannot be told from what was prepared. */
  private *goneOnFrom({ marker, last, rows: known }: PreparedRows): Transaction<SourceRow[] | undefined> {
    const { source, order } = this.table;
    const text = `SELECT 1 AS same FROM ${source} WHERE rowid = ? AND ${order} = ?`;
    // While the last row of then is there, whatever came later has a higher number.
    if (this.marker < marker || (yield* row(text, last.number, last.position)) === undefined) return undefined;
    const later = yield* this.behind(this.marker, 'AND rowid > ?', last.number);
    return [...known.filter(({ position }) => position >= this.marker), ...later];
  }

  /** The open transaction has inserted these rows into the source; `isSure`: these, and not others before them. */
  note(columns: readonly string[], rowsOfValues: readonly (readonly SqlValue[])[], isSure: boolean): void {
    const [leading, order] = [columns.indexOf(this.table.leading), columns.indexOf(this.table.order)];
    const copied = this.table.columns.map((column) => columns.indexOf(column));
    const isWhole = isSure && !copied.includes(-1);
    for (const values of rowsOfValues) {
      const kept = isWhole ? copied.map((at) => values[at] as SqlValue) : undefined;
      this.inserted.push(newUncopied(values[leading] ?? null, values[order] as Order, kept));
    }
  }

  /** The open transaction has changed or deleted a row of the source: what memory has of it is not true any more. */
  changed(order: Order): void {
    // What is ordered before the marker is copied, but for what is inserted just now.
    if (order < this.marker && this.inserted.length === 0) return;
    this.changedRows.add(order);
    if (this.changedRows.size >= this.changedMax) this.dropChanged();
  }

  private dropChanged(): void {
    for (const some of [this.pass, this.waiting.rows(), this.inserted])
      for (const one of some) if (this.changedRows.has(one.order)) one.values = undefined;
    this.changedRows.clear();
  }

  /** The last statements of a transaction: what comes too late for the marker, and a slice of what waits. */
  *finish(): Transaction<void> {
    if (this.inserted.length === 0) return;
    if (this.inserted.some(({ order }) => order < this.marker))
      yield* this.copy(this.inserted.filter(({ order }) => order < this.marker));
    if (this.pass.length === 0 && this.waiting.size >= this.passRows) this.startPass();
    if (this.pass.length === 0) return;
    const slice = this.restOfPass(this.sliceRows + 1);
    yield* this.copy(slice.slice(0, this.sliceRows));
    if (slice.length <= this.sliceRows) yield* this.moveMarker();
  }

  /** Copies some of what waits; a part of it where `max` is given. */
  *catchUp(leading?: ReadonlySet<SqlValue>, max = Infinity): Transaction<void> {
    if (leading === undefined && this.position === this.pass.length) this.startPass();
    const pending = this.pending(leading, max);
    yield* this.copy([...pending, ...this.inserted.slice(0, max - pending.length)]);
  }

  /** Whether any row is committed and not copied. */
  isBehind(leading?: ReadonlySet<SqlValue>): boolean {
    return this.pending(leading, 1).length > 0;
  }

  /** Rows that are committed and not copied, `max` at most. */
  private pending(leading: ReadonlySet<SqlValue> | undefined, max: number): Uncopied[] {
    const pending = leading === undefined ? this.restOfPass(max) : this.passing.uncopied(max, leading);
    return pending.length === max ? pending : [...pending, ...this.waiting.uncopied(max - pending.length, leading)];
  }

  /** Of the pass the first rows that are still to be copied: a long one is not looked through for a slice of it. */
  private restOfPass(max: number): Uncopied[] {
    const found: Uncopied[] = [];
    for (let at = this.position; at < this.pass.length && found.length < max; at += 1) {
      const one = this.pass[at] as Uncopied;
      if (!one.isCopied) found.push(one);
    }
    return found;
  }

  /** The transaction has committed: before anything else of this process happens. */
  committed(): void {
    for (const one of this.copied) one.isCopied = true;
    for (const one of this.inserted) {
      if (one.order > this.highest) this.highest = one.order;
      if (!one.isCopied) this.waiting.add(one);
    }
    while (this.pass[this.position]?.isCopied === true) this.position += 1;
    if (this.nextMarker !== undefined) {
      this.marker = this.nextMarker;
      [this.passing, this.pass, this.position] = [new Backlog(), [], 0];
    }
    this.forget();
  }

  /** The transaction has not committed. */
  forget(): void {
    [this.inserted, this.copied, this.nextMarker] = [[], [], undefined];
  }

  private startPass(): void {
    [this.pass, this.position] = [this.waiting.sorted(), 0];
    this.passing = this.pass.length === 0 ? new Backlog() : this.waiting;
    this.waiting = new Backlog();
  }

  private *copy(some: readonly Uncopied[]): Transaction<void> {
    const { name, source, columns, order } = this.table;
    const list = columns.join(', ');
    const known: (readonly SqlValue[])[] = [];
    const unknown: Uncopied[] = [];
    for (const one of some) {
      if (one.values === undefined || this.changedRows.has(one.order)) unknown.push(one);
      else known.push(one.values);
    }
    yield* insert(name, columns, known, { ignoreConflicts: true });
    for (const slice of inSlices(unknown))
      yield* change(
        `INSERT OR IGNORE INTO ${name} (${list}) SELECT ${list} FROM ${source} ` +
          `WHERE ${order} IN (${placeholders(slice.length)})`,
        ...slice.map((one) => one.order),
      );
    for (const one of some) this.copied.push(one);
  }

  /** The pass is at its end: to the first row that is behind it. */
  private *moveMarker(): Transaction<void> {
    let next = this.highest;
    for (const some of [this.waiting.rows(), this.inserted])
      for (const { order, isCopied } of some) if (!isCopied && order >= this.marker && order < next) next = order;
    this.nextMarker = next;
    yield* change('UPDATE deferred SET marker = ? WHERE name = ?', next, this.table.name);
  }
}

/** Always of the same members: they are made and dropped by the ten thousand. */
function newUncopied(leading: SqlValue, order: Order, values?: readonly SqlValue[]): Uncopied {
  return { leading, order, isCopied: false, values };
}
