/**
 * What is still to be copied into one table, as its only writer remembers it: rows that the open transaction has
 * inserted, rows that wait for the next pass, and the sorted rows of the pass that is under way. Exact, because nothing
 * of it changes before the transaction has committed, and because a row that was changed meanwhile is marked to be read
 * again instead of being copied as it was.
 */
import { Backlog, type RowSpan, rowsIn, uncopiedRows, type WaitingRows } from './backlog.ts';

/** Rows of a table: how many values each has beside the leading one, and which of these is its order. */
export interface RowShape {
  readonly width: number;
  readonly orderAt: number;
}

export interface DeferredBounds {
  /** How many rows wait at least, and at most, before a pass begins. */
  passRows: { min: number; max: number };
  /** Changed rows that are remembered, before all that waits is looked through for them. */
  changedMax: number;
}

/**
 * A pass begins with so many of each leading value, within its bounds: most of them share a page then. Where the upper
 * bound leaves fewer than some, they would not, and nothing is waited for.
 */
const ROWS_OF_A_VALUE = { wanted: 12, least: 4 };

/** A row that the open transaction has inserted into the source. */
export interface InsertedRow<Value, Order> {
  readonly leading: Value;
  readonly order: Order;
  /** As it was inserted. */
  readonly values: readonly Value[];
  /** Where its further values lie there; −1: nowhere, or not as they are by now. */
  positions: readonly number[];
  isCopied: boolean;
}

/** Rows to copy: their leading value and the further ones, and the order of those that are to be read again. */
export interface RowsToCopy<Value, Order> {
  known: Value[][];
  unknown: Order[];
}

type Waiting<Value> = WaitingRows<Value, Value>;
type Span<Value> = RowSpan<Value, Value>;

export class DeferredRows<Value, Order extends Value & (string | number)> {
  /** As stored: what is ordered before it is copied. */
  private marker: Order;
  private readonly shape: RowShape;
  private readonly bounds: DeferredBounds;
  private highest: Order;
  /** Of what is not known any more the order alone: it is read again. */
  private waiting: Backlog<Value, Value>;
  /** What waited before, and the same sorted: copied before `position`. */
  private passing: Backlog<Value, Value>;
  private pass: readonly Waiting<Value>[] = [];
  /** A pass has begun, perhaps of no rows, and has not moved the marker. */
  private isPassOpen = false;
  /** Rows of the pass when it began. */
  private passSize = 0;
  private position = 0;
  /** Of the open transaction: rows that it inserted, rows that it copied, the marker that it stored. */
  private inserted: InsertedRow<Value, Order>[] = [];
  private copied: Span<Value>[] = [];
  private nextMarker: Order | undefined;
  /** Rows of the source that were changed or deleted, and may wait with what they had before. */
  private readonly changedRows = new Set<Value | undefined>();

  constructor(shape: RowShape, bounds: DeferredBounds, marker: Order) {
    [this.shape, this.bounds] = [shape, bounds];
    this.marker = this.highest = marker;
    [this.waiting, this.passing] = [new Backlog(shape.width), new Backlog(shape.width)];
  }

  /** Takes in the rows that lie behind the stored marker: before anything else. */
  recover(marker: Order, rows: Iterable<{ leading: Value; position: Order }>): void {
    this.marker = this.highest = marker;
    this.waiting = new Backlog(this.shape.width);
    const positions = this.orderAlone(0);
    for (const { leading, position } of rows) {
      this.waiting.add(leading, [position], positions);
      if (position > this.highest) this.highest = position;
    }
  }

  /** The open transaction has inserted a row. */
  note(leading: Value, order: Order, values: readonly Value[], positions: readonly number[]): void {
    this.inserted.push({ leading, order, values, positions, isCopied: false });
  }

  /** Of the further values the order, which lies at this position; the others are to be read. */
  orderAlone(position: number): number[] {
    return Array.from({ length: this.shape.width }, (_, at) => (at === this.shape.orderAt ? position : -1));
  }

  /** The open transaction has changed or deleted a row of the source: what is known of it is not true any more. */
  changed(order: Order): void {
    // What is ordered before the marker is copied, but for what is inserted just now.
    if (order < this.marker && this.inserted.length === 0) return;
    this.changedRows.add(order);
    if (this.changedRows.size >= this.bounds.changedMax) this.dropChanged();
  }

  get hasInserted(): boolean {
    return this.inserted.length > 0;
  }

  /**
   * How many rows of the pass the open transaction copies: so many times those that it inserts, and more where the pass
   * has more rows than wait as a rule, as behind a crash.
   */
  sliceRows(min: number, ofInserted: number): number {
    const excess = Math.max(1, this.passSize / this.bounds.passRows.max);
    return Math.max(min, Math.ceil(this.inserted.length * ofInserted * excess));
  }

  /** Rows of the open transaction that come too late for the marker. */
  late(): InsertedRow<Value, Order>[] {
    return this.inserted.filter(({ order }) => order < this.marker);
  }

  /** Begins a pass where enough rows wait, be they copied or not. Answers whether any of one are to be copied. */
  startPassIfDue(): boolean {
    if (!this.isPassOpen && this.waiting.size >= this.rowsDue()) this.startPass();
    return this.pass.length > 0;
  }

  private rowsDue(): number {
    const { min, max } = this.bounds.passRows;
    const { leadingCount } = this.waiting;
    if (leadingCount * ROWS_OF_A_VALUE.least > max) return min;
    return Math.min(max, Math.max(min, leadingCount * ROWS_OF_A_VALUE.wanted));
  }

  /** Begins a pass where any rows wait. One whose rows are all copied has to move the marker first. */
  startPassIfOver(): void {
    if (!this.isPassOpen && this.waiting.size > 0) this.startPass();
  }

  /** Whether the open transaction writes for this table, and all rows of the pass are copied once it commits. */
  endsPass(): boolean {
    if (!this.isPassOpen || (this.inserted.length === 0 && this.copied.length === 0)) return false;
    const last = this.pass.at(-1);
    // Nearly always: rows are copied in the order of the pass.
    if (last?.isWhollyCopied === false && !this.copied.some(({ rows }) => rows === last)) return false;
    const ended = new Set(this.copied.filter(({ rows, to }) => to === rows.size).map(({ rows }) => rows));
    for (const rows of behind(this.pass, this.position)) if (!rows.isWhollyCopied && !ended.has(rows)) return false;
    return true;
  }

  /** Of the pass the first rows that are still to be copied: a long one is not looked through for a slice of it. */
  restOfPass(max: number): Span<Value>[] {
    return uncopiedRows(behind(this.pass, this.position), max);
  }

  /** Rows that are committed and not copied, `max` at most; of these leading values alone. */
  pending(leading: ReadonlySet<Value> | undefined, max: number): Span<Value>[] {
    const pending = leading === undefined ? this.restOfPass(max) : this.passing.uncopied(max, leading);
    return [...pending, ...this.waiting.uncopied(max - rowsIn(pending), leading)];
  }

  /** Of the open transaction's own rows the first ones. */
  firstInserted(max: number): InsertedRow<Value, Order>[] {
    return this.inserted.slice(0, max);
  }

  /** What is to be written for these, which are copied once the open transaction commits. */
  take(spans: readonly Span<Value>[], inserted: readonly InsertedRow<Value, Order>[]): RowsToCopy<Value, Order> {
    const rows: RowsToCopy<Value, Order> = { known: [], unknown: [] };
    for (const { rows: waiting, from, to } of spans)
      for (const row of waiting.uncopied(to - from)) this.addTo(rows, waiting.store.rowOf(waiting.leading, row));
    for (const one of inserted) {
      this.addTo(rows, [one.leading, ...one.positions.map((position) => one.values[position])]);
      one.isCopied = true;
    }
    this.copied = [...this.copied, ...spans];
    return rows;
  }

  /** `row`: its leading value, and behind it the further ones. */
  private addTo(rows: RowsToCopy<Value, Order>, row: (Value | undefined)[]): void {
    const order = row[this.shape.orderAt + 1] as Order;
    const { changedRows } = this; // nearly always none
    if (row.includes(undefined) || (changedRows.size > 0 && changedRows.has(order))) rows.unknown.push(order);
    else rows.known.push(row as Value[]);
  }

  /** The marker behind a pass that the open transaction ends: the first row that is still to be copied. */
  moveMarker(): Order {
    let next = this.highest;
    const consider = (order: Order): void => {
      if (order >= this.marker && order < next) next = order;
    };
    for (const rows of this.waiting.all())
      for (const row of rows.uncopied()) consider(rows.store.value(row, this.shape.orderAt) as Order);
    for (const { order, isCopied } of this.inserted) if (!isCopied) consider(order);
    this.nextMarker = next;
    return next;
  }

  /** The transaction has committed: before anything else of this process happens. */
  committed(): void {
    for (const { rows, to } of this.copied) rows.copiedTo(to);
    for (const { leading, order, values, positions, isCopied } of this.inserted) {
      if (order > this.highest) this.highest = order;
      if (!isCopied) this.waiting.add(leading, values, positions);
    }
    while (this.pass[this.position]?.isWhollyCopied === true) this.position += 1;
    if (this.nextMarker !== undefined) {
      this.marker = this.nextMarker;
      this.passing.restart();
      [this.pass, this.position, this.isPassOpen] = [[], 0, false];
    }
    this.forget();
  }

  /** The transaction has not committed. */
  forget(): void {
    [this.inserted, this.copied, this.nextMarker] = [[], [], undefined];
  }

  private startPass(): void {
    [this.pass, this.passSize, this.position] = [this.waiting.sorted(), this.waiting.size, 0];
    this.isPassOpen = true;
    [this.passing, this.waiting] = [this.waiting, this.passing];
    this.waiting.restart();
  }

  private dropChanged(): void {
    const { orderAt } = this.shape;
    for (const some of [this.pass, this.waiting.all()])
      for (const rows of some)
        for (const row of rows.uncopied())
          if (this.changedRows.has(rows.store.value(row, orderAt))) rows.store.clear(row, orderAt);
    for (const one of this.inserted)
      if (this.changedRows.has(one.order)) one.positions = this.orderAlone(one.positions[orderAt] as number);
    this.changedRows.clear();
  }
}

function* behind<T>(list: readonly T[], position: number): Generator<T> {
  for (let at = position; at < list.length; at += 1) yield list[at] as T;
}
