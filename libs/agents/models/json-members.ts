/**
 * Finds named members near the root of a JSON text that arrives in pieces, without holding or building the rest of it.
 * contract §10.3 (Model calls).
 */

/** One member that was looked for. */
export interface JsonMember {
  /** Keys from the root, `[]` for an element of a list. */
  path: readonly string[];
  /** Its value as it is written; undefined where that is longer than is kept. */
  text?: string;
  /** How that begins. */
  head: string;
  /** Where its value begins and ends, in bytes from the beginning. */
  start: number;
  end: number;
}

/** Bytes of a value that is kept; what is looked for is a name, a switch or a few numbers. */
const VALUE_BYTES_MAX = 16_384;
/** Bytes of a key that can be one of those looked for. */
const KEY_BYTES_MAX = 256;
/** Containers in each other. */
const DEPTH_MAX = 512;
/** Depth down to which keys are known. */
const PATH_DEPTH_MAX = 8;
/** Bytes of a value that are kept of any. */
const HEAD_BYTES = 16;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'after' | 'done';

/** Reads one JSON text. What is no JSON is told by `isWhole`, and nothing after the fault is looked at. */
export class JsonMembers {
  /** Those found so far, in their order. */
  readonly found: JsonMember[] = [];
  /** Bytes from the beginning to behind the root's opening brace; undefined until it is there, or where it is none. */
  rootStart: number | undefined;
  private readonly isWanted: (path: readonly string[], isText: boolean) => boolean;
  private readonly containers: number[] = [];
  private readonly path: string[] = [];
  private expected: Expected = 'value';
  private at = 0;
  private inString: 'key' | 'value' | undefined;
  private isEscaped = false;
  private inScalar = false;
  private key: number[] = [];
  private capture:
    | { path: string[]; depth: number; start: number; bytes: number[] | undefined; head: number[] }
    | undefined;
  private isBroken = false;

  /** `isText`: the value begins as one. */
  constructor(isWanted: (path: readonly string[], isText: boolean) => boolean) {
    this.isWanted = isWanted;
  }

  push(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length && !this.isBroken; index += 1) {
      const end =
        this.inString === 'value' && !this.isEscaped && this.capture?.bytes === undefined
          ? plainEnd(bytes, index)
          : index;
      this.at += end - index;
      index = end;
      if (index === bytes.length) return;
      this.take(bytes[index] ?? 0);
      this.at += 1;
    }
  }

  /** Whether what was read is one whole JSON value. Ends a number at the root. */
  isWhole(): boolean {
    if (this.inScalar && this.containers.length === 0) this.endValue();
    return !this.isBroken && this.expected === 'done' && this.inString === undefined;
  }

  private take(byte: number): void {
    if (this.inString !== undefined) return this.takeInString(byte);
    if (this.inScalar) {
      if (isScalar(byte)) return this.keep(byte);
      this.endValue();
    }
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      if (this.capture !== undefined) this.keep(byte);
      return;
    }
    this.takeToken(byte);
  }

  private takeInString(byte: number): void {
    if (this.inString === 'key') {
      if (this.key.length <= KEY_BYTES_MAX) this.key.push(byte);
    }
    if (this.capture !== undefined) this.keep(byte);
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.endString();
    else if (byte < 0x20) this.isBroken = true;
  }

  private endString(): void {
    const was = this.inString;
    this.inString = undefined;
    if (was === 'value') return this.endValue(1);
    this.expected = 'colon';
    if (this.containers.length <= PATH_DEPTH_MAX) this.path[this.containers.length - 1] = this.keyText();
  }

  private keyText(): string {
    if (this.key.length > KEY_BYTES_MAX) return '\0';
    try {
      return String(JSON.parse(Buffer.from([QUOTE, ...this.key]).toString('utf8')));
    } catch {
      this.isBroken = true;
      return '\0';
    }
  }

  private takeToken(byte: number): void {
    const { expected } = this;
    if (byte === QUOTE && (expected === 'key' || expected === 'key-or-end')) return this.beginKey();
    if (byte === COLON && expected === 'colon') return this.pass(byte, 'value');
    if (byte === COMMA && expected === 'after')
      return this.pass(byte, this.containers.at(-1) === BRACE ? 'key' : 'value');
    if (byte === BRACE_END && this.containers.at(-1) === BRACE && (expected === 'key-or-end' || expected === 'after'))
      return this.close(byte);
    const mayEndList = expected === 'value-or-end' || expected === 'after';
    if (byte === BRACKET_END && this.containers.at(-1) === BRACKET && mayEndList) return this.close(byte);
    if (expected !== 'value' && expected !== 'value-or-end') return void (this.isBroken = true);
    this.beginValue(byte);
  }

  private pass(byte: number, expected: Expected): void {
    if (this.capture !== undefined) this.keep(byte);
    this.expected = expected;
  }

  private beginKey(): void {
    this.inString = 'key';
    this.key = [];
    if (this.capture !== undefined) this.keep(QUOTE);
  }

  private beginValue(byte: number): void {
    const depth = this.containers.length;
    if (depth <= PATH_DEPTH_MAX && this.capture === undefined && depth > 0) {
      if (this.containers.at(-1) === BRACKET) this.path[depth - 1] = '[]';
      this.path.length = depth;
      if (this.isWanted(this.path, byte === QUOTE))
        this.capture = { path: [...this.path], depth, start: this.at, bytes: [], head: [] };
    }
    if (this.capture !== undefined) this.keep(byte);
    if (byte === BRACE || byte === BRACKET) return this.open(byte);
    if (byte === QUOTE) this.inString = 'value';
    else if (isScalar(byte)) this.inScalar = true;
    else this.isBroken = true;
  }

  private open(byte: number): void {
    if (this.containers.length === 0 && byte === BRACE) this.rootStart = this.at + 1;
    this.containers.push(byte);
    this.expected = byte === BRACE ? 'key-or-end' : 'value-or-end';
    if (this.containers.length > DEPTH_MAX) this.isBroken = true;
  }

  private close(byte: number): void {
    if (this.capture !== undefined) this.keep(byte);
    this.containers.pop();
    this.endValue(1);
  }

  /** `more`: bytes of the value in hand. */
  private endValue(more = 0): void {
    this.inScalar = false;
    this.expected = this.containers.length === 0 ? 'done' : 'after';
    const { capture } = this;
    if (capture === undefined || capture.depth !== this.containers.length) return;
    const text = capture.bytes && Buffer.from(capture.bytes).toString('utf8');
    const head = Buffer.from(capture.head).toString('latin1');
    this.found.push({ path: capture.path, start: capture.start, end: this.at + more, text, head });
    this.capture = undefined;
  }

  private keep(byte: number): void {
    const { capture } = this;
    if (capture?.bytes === undefined) return;
    if (capture.head.length < HEAD_BYTES) capture.head.push(byte);
    if (capture.bytes.length < VALUE_BYTES_MAX) capture.bytes.push(byte);
    else capture.bytes = undefined;
  }
}

/** Where the part of a text ends that says nothing but itself: most of a body is such parts. */
function plainEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) break;
  }
  return at;
}

/** Numbers and the three words; which of them is a number is not asked. */
function isScalar(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    byte === 0x45
  );
}
