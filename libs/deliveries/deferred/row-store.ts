/**
 * Rows of equally many values, each behind another: a list for each of many owners, in arrays that all of them share
 * and that are used again. Tens of thousands of rows wait, and lists that grow would be copied into longer ones on and
 * on, all of which the collector of garbage has to look at.
 */

/** Rows of one array: large enough to be few, small enough to be begun by a few rows. */
const ROWS_PER_BLOCK = 1_024;
/** Arrays that are used again, for as many rows as wait in the usual course; what more have needed is given back. */
const BLOCKS_REUSED_MAX = 64;
const NONE = -1;

export class RowStore<Value> {
  readonly width: number;
  private count = 0;
  /** Row behind row, `width` values each; undefined where nothing is, or is known. */
  private readonly blocks: (Value | undefined)[][] = [];
  /** The row behind each row, in its list. */
  private readonly links: Int32Array[] = [];

  constructor(width: number) {
    this.width = width;
  }

  /** Adds a row with those of `values` that are at these positions; answers its number. */
  add(values: readonly Value[], positions: readonly number[]): number {
    const row = this.count;
    this.count += 1;
    const block = Math.floor(row / ROWS_PER_BLOCK);
    const at = row % ROWS_PER_BLOCK;
    const { width } = this;
    const stored = (this.blocks[block] ??= Array.from({ length: ROWS_PER_BLOCK * width }, () => undefined));
    (this.links[block] ??= new Int32Array(ROWS_PER_BLOCK))[at] = NONE;
    for (let column = 0; column < width; column += 1) stored[at * width + column] = values[positions[column] as number];
    return row;
  }

  /** Puts the second row behind the first one. */
  link(row: number, next: number): void {
    (this.links[Math.floor(row / ROWS_PER_BLOCK)] as Int32Array)[row % ROWS_PER_BLOCK] = next;
  }

  /** The row behind this one. */
  next(row: number): number {
    return (this.links[Math.floor(row / ROWS_PER_BLOCK)] as Int32Array)[row % ROWS_PER_BLOCK] as number;
  }

  value(row: number, column: number): Value | undefined {
    return this.blocks[Math.floor(row / ROWS_PER_BLOCK)]?.[(row % ROWS_PER_BLOCK) * this.width + column];
  }

  /** All values of a row. */
  values(row: number): (Value | undefined)[] {
    const from = (row % ROWS_PER_BLOCK) * this.width;
    return (this.blocks[Math.floor(row / ROWS_PER_BLOCK)] as (Value | undefined)[]).slice(from, from + this.width);
  }

  /** Forgets all values of a row; of one column (`except`) it holds on to it. */
  clear(row: number, except = NONE): void {
    const block = this.blocks[Math.floor(row / ROWS_PER_BLOCK)] as (Value | undefined)[];
    const from = (row % ROWS_PER_BLOCK) * this.width;
    for (let column = 0; column < this.width; column += 1) if (column !== except) block[from + column] = undefined;
  }

  /** Forgets all rows, each of which was cleared, and holds on to the memory that they needed, within bounds. */
  restart(): void {
    this.count = 0;
    for (const some of [this.blocks, this.links]) some.length = Math.min(some.length, BLOCKS_REUSED_MAX);
  }
}
