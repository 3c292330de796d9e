/**
 * Turns a command's output into bounded, redacted events: of a flood the beginning and the end, never all in memory.
 * contract §3, §10.
 */
import type { Readable } from 'node:stream';
import { redactor, type Redactor } from '#isolation';
import type { ExecutionOutput } from '../executor.ts';
import { HeadAndTail } from '#agents';

type StreamKind = 'stdout' | 'stderr';

export interface OutputOptions {
  /** Bytes of output that become events; more is cut in the middle. */
  bytesMax: number;
  /** Values that must not appear. */
  secrets: readonly string[];
  /** Must not throw. */
  onEvent: (event: ExecutionOutput) => void;
  now: () => number;
}

/**
 * UTF-16 units of one event: a screenful or two, and under 64 KiB of JSON whatever they are; a line longer than this is
 * cut.
 */
const EVENT_LENGTH_MAX = 10_000;

/** Bytes that an event costs beside its text, so that a flood of empty lines is bounded too. */
const EVENT_COST_BYTES = 128;

/**
 * Milliseconds in which lines are collected into one event: few rows for a chatty command, and soon enough to watch.
 */
const COLLECT_MS = 100;

/**
 * Bytes read from one command in a window: a command that floods is slowed by its full pipe, not served at the expense
 * of everybody.
 */
const WINDOW_BYTES_MAX = 2 * 1_024 * 1_024;
const WINDOW_MS = 100;

/** A relay for the streams of one command. */
export class OutputRelay {
  private readonly options: OutputOptions;
  private readonly bounded: HeadAndTail<ExecutionOutput>;
  private readonly collector: OutputCollector;
  private readonly pace = new ReadingPace();
  private readonly readers: LineReader[] = [];

  constructor(options: OutputOptions) {
    this.options = options;
    this.bounded = bounded(options);
    this.collector = new OutputCollector((kind, text) => this.bounded.add({ kind, text, at: options.now() }));
  }

  attach(stream: Readable, kind: StreamKind): void {
    const reader = new LineReader(this.options.secrets, (text) => this.collector.add(kind, text));
    stream.on('data', (bytes: Buffer) => {
      reader.push(bytes);
      this.pace.spend(stream, bytes.length);
    });
    // A stream that breaks has said what it had to say.
    stream.on('error', () => undefined);
    this.readers.push(reader);
  }

  /** Says something about the command, in order with its output. */
  status(text: string): void {
    this.collector.flush();
    this.options.onEvent({ kind: 'status', text, at: this.options.now() });
  }

  /** Gives out what is held back: unfinished lines and the end of a flood. */
  finish(): void {
    for (const reader of this.readers) reader.end();
    this.collector.flush();
    this.bounded.finish();
    this.pace.stop();
  }
}

/** Decodes, redacts and cuts into pieces that end with a line where possible. */
class LineReader {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly redactor: Redactor;
  private readonly give: (text: string) => void;
  private rest = '';

  constructor(secrets: readonly string[], give: (text: string) => void) {
    this.redactor = redactor(secrets);
    this.give = give;
  }

  push(bytes: Uint8Array): void {
    this.add(this.redactor.push(this.decoder.decode(bytes, { stream: true })));
  }

  end(): void {
    this.add(this.redactor.push(this.decoder.decode()) + this.redactor.end());
    for (const piece of pieces(this.rest)) this.give(piece);
    this.rest = '';
  }

  private add(text: string): void {
    // A database text cannot hold NUL.
    this.rest += text.replaceAll('\0', '\ufffd');
    const { length } = this.rest;
    const lines = this.rest.lastIndexOf('\n') + 1;
    const ready = Math.max(lines, length > EVENT_LENGTH_MAX ? length - (length % EVENT_LENGTH_MAX) : 0);
    for (const piece of pieces(this.rest.slice(0, ready))) this.give(piece);
    this.rest = this.rest.slice(ready);
  }
}

/** Pieces of at most one event's length, cut after a line break where there is one, never inside a surrogate pair. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + EVENT_LENGTH_MAX, text.length);
    const lineEnd = end < text.length ? text.lastIndexOf('\n', end - 1) + 1 : end;
    if (lineEnd > at) end = lineEnd;
    else if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
}

/** Joins what comes shortly after another from the same stream. */
class OutputCollector {
  private readonly give: (kind: StreamKind, text: string) => void;
  private waiting: { kind: StreamKind; text: string } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(give: (kind: StreamKind, text: string) => void) {
    this.give = give;
  }

  add(kind: StreamKind, text: string): void {
    const { waiting } = this;
    if (waiting !== undefined && (waiting.kind !== kind || waiting.text.length + text.length > EVENT_LENGTH_MAX))
      this.flush();
    this.waiting = { kind, text: (this.waiting?.text ?? '') + text };
    this.timer ??= setTimeout(() => this.flush(), COLLECT_MS);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ready = this.waiting;
    this.waiting = undefined;
    if (ready !== undefined) this.give(ready.kind, ready.text);
  }
}

/** Passes the first half of the allowance on at once, then keeps only the latest half until the end. */
function bounded({ bytesMax, onEvent, now }: OutputOptions): HeadAndTail<ExecutionOutput> {
  const half = { items: Number.POSITIVE_INFINITY, bytes: bytesMax / 2 };
  return new HeadAndTail<ExecutionOutput>({
    head: half,
    tail: half,
    bytesOf: cost,
    give: onEvent,
    say: (text) => onEvent({ kind: 'status', text, at: now() }),
    missing: ({ items, bytes }) => `… ${bytes - items * EVENT_COST_BYTES} bytes of output left out …`,
    nowMs: now,
  });
}

function cost(event: ExecutionOutput): number {
  return Buffer.byteLength(event.text) + EVENT_COST_BYTES;
}

/** Lets streams of one command be read at a bounded speed: over it they pause until the next window. */
class ReadingPace {
  private left = WINDOW_BYTES_MAX;
  private timer: NodeJS.Timeout | undefined;
  private readonly paused = new Set<Readable>();

  spend(stream: Readable, bytes: number): void {
    this.left -= bytes;
    this.timer ??= setTimeout(() => this.open(), WINDOW_MS);
    if (this.left > 0) return;
    stream.pause();
    this.paused.add(stream);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private open(): void {
    this.timer = undefined;
    this.left = WINDOW_BYTES_MAX;
    for (const stream of this.paused) stream.resume();
    this.paused.clear();
  }
}
