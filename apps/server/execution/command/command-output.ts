/** Turns a command's output into bounded, redacted events: of a flood the beginning and the end, never all in memory. contract 3, 10. */
import type { Readable } from 'node:stream';
import { redactor } from '#isolation';
import { headAndTail, type HeadAndTail } from './head-and-tail.ts';

/** One thing a command printed, or one thing that happened to it. `text` keeps its line breaks: joined texts are the output. */
export interface CommandEvent {
  kind: 'stdout' | 'stderr' | 'status';
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

type StreamKind = 'stdout' | 'stderr';

export interface OutputRelay {
  attach(stream: Readable, kind: StreamKind): void;
  /** Says something about the command, in order with its output. */
  status(text: string): void;
  /** Gives out what is held back: unfinished lines and the end of a flood. */
  finish(): void;
}

export interface OutputOptions {
  /** Bytes of output that become events; more is cut in the middle. */
  bytesMax: number;
  /** Values that must not appear. */
  secrets: readonly string[];
  /** Must not throw. */
  onEvent: (event: CommandEvent) => void;
  now: () => number;
}

/** UTF-16 units of one event: a screenful or two, and under 64 KiB of JSON whatever they are; a line longer than this is cut. */
const EVENT_LENGTH_MAX = 10_000;

/** Bytes that an event costs beside its text, so that a flood of empty lines is bounded too. */
const EVENT_COST_BYTES = 128;

/** Milliseconds in which lines are collected into one event: few rows for a chatty command, and soon enough to watch. */
const COLLECT_MS = 100;

/** Bytes read from one command in a window: a command that floods is slowed by its full pipe, not served at the expense of everybody. */
const WINDOW_BYTES_MAX = 2 * 1_024 * 1_024;
const WINDOW_MS = 100;

/** A relay for the streams of one command. */
export function outputRelay(options: OutputOptions): OutputRelay {
  const kept = bounded(options);
  const collected = collector((kind, text) => kept.add({ kind, text, at: options.now() }));
  const paced = pace();
  const ends: (() => void)[] = [];
  return {
    attach: (stream, kind) => {
      const lines = lineReader(options.secrets, (text) => collected.add(kind, text));
      stream.on('data', (bytes: Buffer) => {
        lines.push(bytes);
        paced.spend(stream, bytes.length);
      });
      // A stream that breaks has said what it had to say.
      stream.on('error', () => undefined);
      ends.push(() => lines.end());
    },
    status: (text) => {
      collected.flush();
      options.onEvent({ kind: 'status', text, at: options.now() });
    },
    finish: () => {
      for (const end of ends) end();
      collected.flush();
      kept.finish();
      paced.stop();
    },
  };
}

/** Decodes, redacts and cuts into pieces that end with a line where possible. */
function lineReader(
  secrets: readonly string[],
  give: (text: string) => void,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const hiding = redactor(secrets);
  let rest = '';
  const take = (text: string): void => {
    // A database text cannot hold NUL.
    rest += text.replaceAll('\0', '\ufffd');
    const lines = rest.lastIndexOf('\n') + 1;
    const ready = Math.max(lines, rest.length > EVENT_LENGTH_MAX ? rest.length - (rest.length % EVENT_LENGTH_MAX) : 0);
    for (const piece of pieces(rest.slice(0, ready))) give(piece);
    rest = rest.slice(ready);
  };
  return {
    push: (bytes) => take(hiding.push(decoder.decode(bytes, { stream: true }))),
    end: () => {
      take(hiding.push(decoder.decode()) + hiding.end());
      for (const piece of pieces(rest)) give(piece);
      rest = '';
    },
  };
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
function collector(give: (kind: StreamKind, text: string) => void): {
  add(kind: StreamKind, text: string): void;
  flush(): void;
} {
  let waiting: { kind: StreamKind; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const ready = waiting;
    waiting = undefined;
    if (ready !== undefined) give(ready.kind, ready.text);
  };
  return {
    flush,
    add: (kind, text) => {
      if (waiting !== undefined && (waiting.kind !== kind || waiting.text.length + text.length > EVENT_LENGTH_MAX))
        flush();
      waiting = { kind, text: (waiting?.text ?? '') + text };
      timer ??= setTimeout(flush, COLLECT_MS);
    },
  };
}

/** Passes the first half of the allowance on at once, then keeps only the latest half until the end. */
function bounded({ bytesMax, onEvent, now }: OutputOptions): HeadAndTail<CommandEvent> {
  const half = { items: Number.POSITIVE_INFINITY, bytes: bytesMax / 2 };
  return headAndTail<CommandEvent>({
    head: half,
    tail: half,
    bytesOf: cost,
    give: onEvent,
    say: (text) => onEvent({ kind: 'status', text, at: now() }),
    missing: ({ items, bytes }) => `… ${bytes - items * EVENT_COST_BYTES} bytes of output left out …`,
    nowMs: now,
  });
}

function cost(event: CommandEvent): number {
  return Buffer.byteLength(event.text) + EVENT_COST_BYTES;
}

/** Lets streams of one command be read at a bounded speed: over it they pause until the next window. */
function pace(): { spend(stream: Readable, bytes: number): void; stop(): void } {
  let left = WINDOW_BYTES_MAX;
  let timer: NodeJS.Timeout | undefined;
  const paused = new Set<Readable>();
  const open = (): void => {
    timer = undefined;
    left = WINDOW_BYTES_MAX;
    for (const stream of paused) stream.resume();
    paused.clear();
  };
  return {
    spend: (stream, bytes) => {
      left -= bytes;
      timer ??= setTimeout(open, WINDOW_MS);
      if (left > 0) return;
      stream.pause();
      paused.add(stream);
    },
    stop: () => clearTimeout(timer),
  };
}
