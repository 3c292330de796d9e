/**
 * Many small records as one piece of bytes outside of the heap, where they cost the garbage collector nothing: a record
 * is JSON, and says where bytes and other records lie that it refers to. What is read is what was written.
 */

/** Bytes of a pack from the first up to the second. */
export type PackRange = readonly [start: number, end: number];

export class RecordPack {
  private readonly all: Buffer;

  constructor(all: Buffer) {
    this.all = all;
  }

  /** A view. */
  bytes([start, end]: PackRange): Buffer {
    return this.all.subarray(start, end);
  }

  text([start, end]: PackRange): string {
    return this.all.toString('utf8', start, end);
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

  /** Everything that was added, in memory of its own. */
  finish(): RecordPack {
    const all = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return new RecordPack(all);
  }
}
