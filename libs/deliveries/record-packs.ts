/**
 * Many small records as one piece of bytes outside of the heap, where they cost the garbage collector nothing: a record
 * is JSON, and says where bytes and other records lie that it refers to. What is read is what was written.
 */

/** Bytes of a pack from the first up to the second. */
export type PackRange = readonly [start: number, end: number];

const RANGE_BYTES = 8;

export class RecordPack {
  /** Out of sight of whoever prints an object that holds this. */
  readonly #all: Buffer;

  constructor(all: Buffer) {
    this.#all = all;
  }

  /** A view. */
  bytes([start, end]: PackRange): Buffer {
    return this.#all.subarray(start, end);
  }

  text([start, end]: PackRange): string {
    return this.#all.toString('utf8', start, end);
  }

  rangeCount([start, end]: PackRange): number {
    return (end - start) / RANGE_BYTES;
  }

  /** As they were added. */
  ranges(list: PackRange): PackRange[] {
    const bytes = this.bytes(list);
    const ranges: PackRange[] = [];
    for (let at = 0; at < bytes.length; at += RANGE_BYTES)
      ranges.push([bytes.readUInt32LE(at), bytes.readUInt32LE(at + RANGE_BYTES / 2)]);
    return ranges;
  }

  record<Value>(range: PackRange): Value {
    return JSON.parse(this.text(range)) as Value;
  }
}

export class RecordPackWriter {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  addBytes(bytes: Uint8Array): PackRange {
    const start = this.length;
    this.parts.push(bytes);
    this.length += bytes.length;
    return [start, this.length];
  }

  /** `record`: what JSON can say. */
  addRecord(record: unknown): PackRange {
    return this.addBytes(Buffer.from(JSON.stringify(record)));
  }

  /** A list that is long, or seldom asked for. */
  addRanges(ranges: readonly PackRange[]): PackRange {
    const bytes = Buffer.allocUnsafe(ranges.length * RANGE_BYTES);
    ranges.forEach(([start, end], n) => {
      bytes.writeUInt32LE(start, n * RANGE_BYTES);
      bytes.writeUInt32LE(end, n * RANGE_BYTES + RANGE_BYTES / 2);
    });
    return this.addBytes(bytes);
  }

  /** Everything that was added. */
  finish(): RecordPack {
    return new RecordPack(Buffer.concat(this.parts, this.length));
  }
}
