/**
 * Rows that wait to be copied somewhere, by the value they are read by there: who asks for some values looks at no row
 * of another, and all of them are sorted by sorting the values, which are far fewer. Exact, because the rows of a value
 * are in a list of its own, in the order in which they came, and are copied in that order: how many of them are copied
 * says which. Tens of thousands wait, so that there is no object for each: their values lie one behind the other.
 */

/** Rows of one leading value, with a fixed number of further values each. */
export class WaitingRows<Key, Value> {
  readonly leading: Key;
  /** Of all rows, row after row. */
  readonly values: Value[];
  /** Rows that are copied, from the first one on. */
  copied = 0;
  private readonly width: number;

  /** `first`: the further values of its first row. Most of many values have no other. */
  constructor(leading: Key, first: Value[]) {
    [this.leading, this.values, this.width] = [leading, first, first.length];
  }

  /** How many rows. */
  get size(): number {
    return this.values.length / this.width;
  }

  get isWhollyCopied(): boolean {
    return this.copied === this.size;
  }

  /** Forgets all of them, once they are copied. */
  clear(): void {
    this.values.length = this.copied = 0;
  }

  /** The further values of one of them. */
  row(number: number): Value[] {
    return this.values.slice(number * this.width, (number + 1) * this.width);
  }
}

/** Rows of one leading value from one number on, to before another. */
export interface RowSpan<Key, Value> {
  readonly rows: WaitingRows<Key, Value>;
  readonly from: number;
  readonly to: number;
}

/** All rows have equally many values beside the leading one. */
export class Backlog<Key, Value> {
  private count = 0;
  private readonly lists = new Map<Key, WaitingRows<Key, Value>>();

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
    const rows = this.lists.get(leading);
    if (rows !== undefined) for (const position of positions) rows.values.push(values[position] as Value);
    else
      this.lists.set(
        leading,
        new WaitingRows(
          leading,
          positions.map((position) => values[position] as Value),
        ),
      );
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
