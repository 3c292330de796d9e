/**
 * Large JSON that is read while it comes: each object of a list at the root (`{"files": [{…}, {…}]}`) is parsed as soon
 * as it is whole, so that nobody holds the text of all of them, and other work is done between the pieces.
 */

/** What is wrong with a text; where is not said: it is not there any more. */
export type IncrementalJsonFault = 'not-utf8' | 'not-json' | 'too-deep' | 'too-large' | 'too-many-members';

export interface IncrementalJsonBounds {
  depthMax: number;
  /** Bytes of all that is no such object. */
  restBytesMax: number;
  /** Members and items of one such object, at any depth: a value of many small ones takes far more than its text. */
  membersMax: number;
  /** What no string of the text is, as nobody can guess it: stands for the objects in the rest. */
  mark: string;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [ARRAY_START, ARRAY_END, OBJECT_START, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

export class IncrementalJsonParser {
  /** Set once something is wrong; what comes after it is not looked at. */
  fault: IncrementalJsonFault | undefined;
  private readonly bounds: IncrementalJsonBounds;
  private readonly parts: unknown[] = [];
  private readonly rest = new Pieces();
  /** The object that is coming; undefined: none is. */
  private part: Pieces | undefined;
  /** At most so many values are in the object that is coming. */
  private partMembers = 0;
  private depth = 0;
  private isListAtRoot = false;
  private isInString = false;
  private isEscaped = false;

  constructor(bounds: IncrementalJsonBounds) {
    this.bounds = bounds;
  }

  add(chunk: Uint8Array): void {
    let from = 0;
    for (let at = 0; at < chunk.length && this.fault === undefined; at += 1) {
      const byte = chunk[at] as number;
      if (this.isInString) this.passString(byte);
      else if (byte === QUOTE) this.isInString = true;
      else if (byte === COMMA) this.countMember();
      else if (byte === OBJECT_START || byte === ARRAY_START) {
        this.countMember();
        if (byte === OBJECT_START && this.depth === 2 && this.isListAtRoot) {
          this.keep(chunk.subarray(from, at));
          [this.part, this.partMembers, from] = [new Pieces(), 1, at];
        }
        this.depth += 1;
        if (this.depth === 2) this.isListAtRoot = byte === ARRAY_START;
        if (this.depth > this.bounds.depthMax) this.fault = 'too-deep';
      } else if (byte === OBJECT_END || byte === ARRAY_END) {
        this.depth -= 1;
        if (this.depth !== 2 || this.part === undefined) continue;
        this.part.add(chunk.subarray(from, at + 1));
        this.endPart(this.part);
        [this.part, from] = [undefined, at + 1];
      }
    }
    if (this.fault !== undefined) return;
    if (this.part === undefined) this.keep(chunk.subarray(from));
    else this.part.add(chunk.subarray(from));
  }

  /** The value of the text. Only where there is no fault, and then there may be one. */
  end(): unknown {
    const value = this.parsed(this.rest);
    if (this.fault !== undefined || typeof value !== 'object' || value === null) return value;
    const { mark } = this.bounds;
    for (const list of Object.values(value)) {
      if (!Array.isArray(list)) continue;
      for (const [index, item] of list.entries())
        if (typeof item === 'string' && item.startsWith(mark))
          list[index] = this.parts[Number(item.slice(mark.length))];
    }
    return value;
  }

  private countMember(): void {
    if (this.part === undefined) return;
    this.partMembers += 1;
    if (this.partMembers > this.bounds.membersMax) this.fault = 'too-many-members';
  }

  private passString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.isInString = false;
  }

  private endPart(part: Pieces): void {
    const value = this.parsed(part);
    this.keep(new TextEncoder().encode(`"${this.bounds.mark}${this.parts.length}"`));
    this.parts.push(value);
  }

  private keep(piece: Uint8Array): void {
    this.rest.add(piece);
    if (this.rest.bytes > this.bounds.restBytesMax) this.fault = 'too-large';
  }

  private parsed(pieces: Pieces): unknown {
    let text: string;
    try {
      text = pieces.text();
    } catch {
      this.fault = 'not-utf8';
      return undefined;
    }
    try {
      return JSON.parse(text);
    } catch {
      this.fault = 'not-json';
      return undefined;
    }
  }
}

/** Pieces are copied into blocks of so many bytes: a sender of single bytes must not cost an object for each. */
const BLOCK_BYTES = 16_384;

/** Bytes that come in pieces, however small, and hold no chunk that they came in. */
class Pieces {
  /** In order; the last one may not be full yet. */
  private readonly blocks: Uint8Array[] = [];
  /** Bytes of the last block that are filled. */
  private filled = 0;
  bytes = 0;

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    for (let from = 0; from < piece.length;) {
      const block = this.open(piece.length - from);
      const taken = piece.subarray(from, from + block.length - this.filled);
      block.set(taken, this.filled);
      this.filled += taken.length;
      from += taken.length;
    }
  }

  /** Throws TypeError where it is not UTF-8. */
  text(): string {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const texts = this.blocks.map((block, at) => {
      const isLast = at === this.blocks.length - 1;
      return decoder.decode(isLast ? block.subarray(0, this.filled) : block, { stream: true });
    });
    return texts.join('') + decoder.decode();
  }

  /** The block with room. Most objects come whole: the first block is as large as what is `wanted`. */
  private open(wanted: number): Uint8Array {
    const last = this.blocks.at(-1);
    if (last !== undefined && this.filled < last.length) return last;
    const block = new Uint8Array(last === undefined ? wanted : Math.max(wanted, BLOCK_BYTES));
    this.blocks.push(block);
    this.filled = 0;
    return block;
  }
}
