/**
 * Rows that wait to be copied somewhere, by the value they are read by there: who asks for some values looks at no row
 * of another, and all of them are sorted by sorting the values, which are far fewer. Exact, because the rows of a value
 * are in a list of its own, in the order in which they came, and are copied in that order: how many of them are copied
 * says which.
 */
import { RowStore } from './row-store.ts';

/** Rows of one leading value, with a fixed number of further values each. */
export class WaitingRows<Key, Value> {
  readonly leading: Key;
  /** How many rows. */
  size = 1;
  private copiedCount = 0;
  /** Where its rows are. */
  readonly store: RowStore<Value>;
  /** The first one that is not copied, and the last one. */
  private first: number;
  private last: number;

  /** `first`: its first row. Most of many values have no other. */
  constructor(leading: Key, store: RowStore<Value>, first: number) {
    [this.leading, this.store] = [leading, store];
    this.first = this.last = first;
  }

  /** Rows that are copied, from the first one on: nothing is known of them any more. */
  get copied(): number {
    return this.copiedCount;
  }

  get isWhollyCopied(): boolean {
    return this.copiedCount === this.size;
  }

  /** Takes a row of the store as its last one. */
  append(row: number): void {
    if (this.isWhollyCopied) this.first = row;
    else this.store.link(this.last, row);
    this.last = row;
    this.size += 1;
  }

  /** All before this one are copied. */
  copiedTo(position: number): void {
    for (; this.copiedCount < position; this.copiedCount += 1) {
      this.store.clear(this.first);
      this.first = this.store.next(this.first);
    }
  }

  /** Where in the store the first `count` rows are that are not copied. */
  *uncopied(count = this.size - this.copiedCount): Generator<number> {
    for (let [row, left] = [this.first, count]; left > 0; left -= 1) {
      yield row;
      row = this.store.next(row);
    }
  }
}

/** Rows of one leading value from the first one on that is not copied (`from`) to before another: until a commit. */
export interface RowSpan<Key, Value> {
  readonly rows: WaitingRows<Key, Value>;
  readonly from: number;
  readonly to: number;
}

/** All rows have equally many values (`width`) beside the leading one. */
export class Backlog<Key, Value> {
  private readonly store: RowStore<Value>;
  private count = 0;
  private lists = new Map<Key, WaitingRows<Key, Value>>();

  constructor(width: number) {
    this.store = new RowStore(width);
  }

  /** Of all rows, whether they were copied or not. */
  get size(): number {
    return this.count;
  }

  /** How many leading values they have. */
  get leadingCount(): number {
    return this.lists.size;
  }

  /** Takes those of `values` that are at these positions as the further values of a row. */
  add(leading: Key, values: readonly Value[], positions: readonly number[]): void {
    this.count += 1;
    const row = this.store.add(values, positions);
    const rows = this.lists.get(leading);
    if (rows === undefined) this.lists.set(leading, new WaitingRows(leading, this.store, row));
    else rows.append(row);
  }

  /** All of them. */
  all(): Iterable<WaitingRows<Key, Value>> {
    return this.lists.values();
  }

  /** `max` rows at most of those that are still to be copied; of these leading values alone. */
  uncopied(max: number, leading?: ReadonlySet<Key>): RowSpan<Key, Value>[] {
    return uncopiedRows(leading === undefined ? this.all() : this.of(leading), max);
  }

  /** Those that have rows to be copied, in the order of their leading values as text. */
  sorted(): WaitingRows<Key, Value>[] {
    const sorted = [...this.of([...this.lists.keys()].sort())];
    return sorted.filter(({ isWhollyCopied }) => !isWhollyCopied);
  }

  /** Forgets all rows, each of which is copied, and holds on to the memory of their values. */
  restart(): void {
    this.store.restart();
    this.count = 0;
    this.lists = new Map();
  }

  private *of(leading: Iterable<Key>): Generator<WaitingRows<Key, Value>> {
    for (const value of leading) {
      const rows = this.lists.get(value);
      if (rows !== undefined) yield rows;
    }
  }
}

/** The first rows of these that are still to be copied, `max` at most. */
export function uncopiedRows<Key, Value>(lists: Iterable<WaitingRows<Key, Value>>, max: number): RowSpan<Key, Value>[] {
  const found: RowSpan<Key, Value>[] = [];
  let left = max;
  for (const rows of lists) {
    if (left <= 0) break;
    const { copied: from, size } = rows;
    const to = Math.min(size, from + left);
    if (to > from) found.push({ rows, from, to });
    left -= to - from;
  }
  return found;
}

/** Rows in all of these. */
export function rowsIn(spans: readonly RowSpan<unknown, unknown>[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}
