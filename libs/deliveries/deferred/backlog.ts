/**
 * Rows that wait to be copied somewhere, by the value they are read by there: who asks for some values looks at no row
 * of another, and all of them are sorted by sorting the values, which are far fewer. Exact, because each row is in the
 * list of its own value, and says itself whether it was copied.
 */

export interface DeferredRow<Key> {
  readonly leading: Key;
  isCopied: boolean;
}

export class Backlog<Key, Row extends DeferredRow<Key>> {
  private count = 0;
  /** Each in the order in which they came. */
  private readonly lists = new Map<Key, Row[]>();

  /** Of all rows, whether they were copied or not. */
  get size(): number {
    return this.count;
  }

  add(row: Row): void {
    this.count += 1;
    const list = this.lists.get(row.leading);
    if (list === undefined) this.lists.set(row.leading, [row]);
    else list.push(row);
  }

  /** All of them. */
  *rows(): Generator<Row> {
    for (const list of this.lists.values()) yield* list;
  }

  /** `max` at most of those that are still to be copied; of these leading values alone. */
  uncopied(max: number, leading?: ReadonlySet<Key>): Row[] {
    const found: Row[] = [];
    for (const value of leading ?? this.lists.keys())
      for (const row of this.lists.get(value) ?? []) {
        if (found.length >= max) return found;
        if (!row.isCopied) found.push(row);
      }
    return found;
  }

  /** All that are still to be copied, in the order of their leading values as text. */
  sorted(): Row[] {
    const sorted: Row[] = [];
    for (const value of [...this.lists.keys()].sort())
      for (const row of this.lists.get(value) ?? []) if (!row.isCopied) sorted.push(row);
    return sorted;
  }
}
