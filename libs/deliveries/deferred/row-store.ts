/**
 * Rows of equally many values, each behind another: a list for each of many owners, in arrays that all of them share
 * and that are used again. Tens of thousands of rows wait, and lists that grow would be copied into longer ones on and
 * on, all of which the collector of garbage has to look at.
 */

/** Rows of one array: large enough to be few, small enough to be begun by a few rows. */
const ROWS_PER_BLOCK = 1_024;
/** Arrays that are used again, for as many rows as wait in the usual course; what more have needed is given back. */
const BLOCKS_REUSED_MAX = 64;

export class RowStore<Value> {
  readonly width: number;
  private count = 0;
  /** Row behind row, `width` values each; undefined: nothing is known of it. */
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
    const { width } = this;
    this.links[blockOf(row)] ??= new Int32Array(ROWS_PER_BLOCK);
    const block = (this.blocks[blockOf(row)] ??= Array.from({ length: ROWS_PER_BLOCK * width }, () => undefined));
    const from = placeOf(row) * width;
    for (let column = 0; column < width; column += 1) block[from + column] = values[positions[column] as number];
    return row;
  }

  /** Puts the second row behind the first one. */
  link(row: number, next: number): void {
    (this.links[blockOf(row)] as Int32Array)[placeOf(row)] = next;
  }

  /** The row behind this one; behind the last one of a list it says nothing. */
  next(row: number): number {
    return (this.links[blockOf(row)] as Int32Array)[placeOf(row)] as number;
  }

  value(row: number, column: number): Value | undefined {
    return this.block(row)[placeOf(row) * this.width + column];
  }

  /** All values of a row, behind a leading one. */
  rowOf<Leading>(leading: Leading, row: number): (Leading | Value | undefined)[] {
    const { width } = this;
    const block = this.block(row);
    const from = placeOf(row) * width;
    const values: (Leading | Value | undefined)[] = [leading];
    for (let column = 0; column < width; column += 1) values.push(block[from + column]);
    return values;
  }

  /** Forgets all values of a row, that of one column aside. */
  clear(row: number, except?: number): void {
    const block = this.block(row);
    const from = placeOf(row) * this.width;
    for (let column = 0; column < this.width; column += 1) if (column !== except) block[from + column] = undefined;
  }

  /** Forgets all rows, each of which was cleared, and holds on to the memory that they needed, within bounds. */
  restart(): void {
    this.count = 0;
    for (const some of [this.blocks, this.links]) some.length = Math.min(some.length, BLOCKS_REUSED_MAX);
  }

  private block(row: number): (Value | undefined)[] {
    return this.blocks[blockOf(row)] as (Value | undefined)[];
  }
}

const blockOf = (row: number): number => Math.floor(row / ROWS_PER_BLOCK);
const placeOf = (row: number): number => row % ROWS_PER_BLOCK;
