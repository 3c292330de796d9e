/**
 * Bytes of bodies as they come, within bounds of size, time and memory. contract §5.2 (413), §5.3 (Body), §5.11
 * (Bodies).
 */
import type { IncomingMessage } from 'node:http';
import { types } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { BODY_COST_BYTES } from '#deliveries';
import { noteRead } from './sockets/anonymous-connections.ts';
import { becomeStream, type BodyTaker, takeBody } from './sockets/direct-requests.ts';
import type { RefusableBody, UnfinishedBodies } from './unfinished-bodies.ts';

export type RawBody =
  | { kind: 'whole'; bytes: Buffer }
  /** More than the limit: declared by Content-Length, or counted until it was passed. */
  | { kind: 'too-large'; sizeBytes: number }
  | { kind: 'timeout' }
  /** Too much is being sent at once, and of this one nothing came for longest. */
  | { kind: 'over-budget' }
  /** The sender went away: there is nobody to answer. */
  | { kind: 'aborted' };

/** Something that waits for bytes of a sender, and what becomes of it when they do not come. */
interface Waiting {
  /** Later by every second in which its connection was not read: what does not come because of us is not late. */
  untilMs: number;
  readonly request: IncomingMessage;
  /** Where it stands among those that wait; -1: nowhere. Written by `waitFor` and `waitNoMore` alone. */
  place: number;
  giveUp(): void;
}

/** How often it is looked who has waited too long: a bound of time is kept to this. */
const SWEEP_MS = 1_000;
/** In no order. A set would copy itself again and again: every delivery enters and leaves. */
const waiting: Waiting[] = [];
let sweeping: NodeJS.Timeout | undefined;

/** One timer for all: most bodies are there within the same packet. */
function waitFor(one: Waiting): void {
  one.place = waiting.push(one) - 1;
  sweeping ??= setInterval(giveUpLate, SWEEP_MS).unref();
}

function waitNoMore(one: Waiting): void {
  const last = waiting.at(-1);
  if (one.place < 0 || last === undefined) return;
  waiting[one.place] = last;
  last.place = one.place;
  waiting.pop();
  one.place = -1;
}

function giveUpLate(): void {
  const nowMs = performance.now();
  for (const one of waiting) if (one.request.socket.isPaused()) one.untilMs += SWEEP_MS;
  for (const one of waiting.filter(({ untilMs }) => untilMs <= nowMs)) {
    if (one.place < 0) continue; // the end of another was its own
    waitNoMore(one);
    one.giveUp();
  }
  if (waiting.length > 0) return;
  clearInterval(sweeping);
  sweeping = undefined;
}

/** What a body is held to while it is read. */
export interface BodyBounds {
  bytesMax: number;
  /** Looked at once a second. */
  timeoutMs: number;
  /** Where the sender has no key: what all such bodies are counted by. */
  unfinished?: UnfinishedBodies;
  /** Who is counted. */
  clientAddress?: string;
  /** Takes each piece as it comes; then nothing is held, and the bytes of the whole body are none. Never throws. */
  sink?: (piece: Buffer) => void;
}

/** Smaller pieces of a body are gathered in blocks: a sender of single bytes must not cost a buffer for each. */
const BLOCK_BYTES = 4_096;

/** Of smaller pieces there are never so many that they matter. */
const RELEASED_BYTES_MIN = 16_384;
/** Takes what it is given away from this thread and drops it: its other end is closed. */
const { port1: nowhere, port2: otherEnd } = new MessageChannel();
nowhere.close();
otherEnd.close();

/**
 * Gives the memory of a piece back at once: it is empty afterwards. The garbage collector would find it at its next
 * round, and begins one of the whole heap, beside which everybody waits, for each 64 MiB of such pieces.
 */
function release({ buffer, byteLength }: Buffer): void {
  const isAlone = byteLength >= RELEASED_BYTES_MIN && buffer.byteLength === byteLength;
  if (isAlone && types.isArrayBuffer(buffer)) nowhere.postMessage(undefined, [buffer]);
}

/** One body on its way in. */
class Collecting implements Waiting, RefusableBody, BodyTaker {
  untilMs: number;
  place = -1;
  readonly clientAddress: string;
  readonly request: IncomingMessage;
  private readonly bytesMax: number;
  private readonly declared: number | undefined;
  private readonly unfinished: UnfinishedBodies | undefined;
  private readonly done: (body: RawBody) => void;
  private readonly sink: BodyBounds['sink'];
  /** In order; the last one may be a block that is not full yet. */
  private pieces: Buffer[] = [];
  /** Bytes of the last block that are filled; undefined: the last piece is none. */
  private filled: number | undefined = undefined;
  /** Bytes of all pieces. */
  private held = 0;
  private size = 0;
  /** Bytes that it is counted with. */
  private counted = 0;
  private isOver = false;

  constructor(request: IncomingMessage, bounds: BodyBounds, done: (body: RawBody) => void) {
    this.request = request;
    this.bytesMax = bounds.bytesMax;
    this.declared = declaredLength(request);
    this.unfinished = bounds.unfinished;
    this.clientAddress = bounds.clientAddress ?? '';
    this.untilMs = performance.now() + bounds.timeoutMs;
    this.done = done;
    this.sink = bounds.sink;
  }

  add(chunk: Buffer): void {
    if (this.isOver) return release(chunk); // somebody reads the rest only to be rid of it
    const before = this.size;
    this.size += chunk.length;
    if (before > 0) noteRead(this.request.socket); // the first piece came with the head
    if (this.size > this.bytesMax) {
      becomeStream(this.request);
      this.request.pause();
      release(chunk);
      return this.end({ kind: 'too-large', sizeBytes: this.size });
    }
    if (this.sink !== undefined) this.sink(chunk);
    else if (before === 0 || chunk.length >= BLOCK_BYTES) this.push(chunk);
    else this.gather(chunk);
    if (this.size !== this.declared) this.count();
  }

  endWhole(): void {
    if (this.isOver) return; // the rest of it has run out
    this.closeBlock();
    const [first = Buffer.alloc(0)] = this.pieces;
    if (this.pieces.length > 1) return this.end({ kind: 'whole', bytes: Buffer.concat(this.pieces, this.size) });
    this.pieces = []; // it is the body itself
    this.end({ kind: 'whole', bytes: first });
  }

  giveUp(): void {
    this.end({ kind: 'timeout' });
  }

  refuse(): void {
    this.end({ kind: 'over-budget' });
  }

  end(body: RawBody): void {
    if (this.isOver) return;
    this.isOver = true;
    if (body.kind !== 'whole') becomeStream(this.request);
    for (const piece of this.pieces) release(piece);
    this.pieces = [];
    this.filled = undefined;
    waitNoMore(this);
    if (this.counted > 0) this.unfinished?.release(this);
    this.done(body);
  }

  abort(): void {
    this.end({ kind: 'aborted' });
  }

  private push(piece: Buffer): void {
    this.closeBlock();
    this.pieces.push(piece);
    this.held += piece.length;
  }

  /** Copies a small piece into the last block, and what it has no room for into a new one. */
  private gather(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      if (this.filled === undefined || this.filled === BLOCK_BYTES) {
        this.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
        this.filled = 0;
      }
      const copied = chunk.copy(this.pieces.at(-1) as Buffer, this.filled, from);
      this.filled += copied;
      from += copied;
    }
  }

  /** The last block ends where it is filled. */
  private closeBlock(): void {
    if (this.filled !== undefined) this.pieces.push((this.pieces.pop() as Buffer).subarray(0, this.filled));
    this.filled = undefined;
  }

  /** More is to come: what is there is held until then. */
  private count(): void {
    if (this.unfinished === undefined) return;
    const more = BODY_COST_BYTES + this.held - this.counted;
    this.counted += more;
    this.unfinished.charge(this, more);
  }
}

/** Reads a body within bounds and calls `done` once, not before this returns. */
export function collectRawBody(request: IncomingMessage, bounds: BodyBounds, done: (body: RawBody) => void): void {
  const collecting = new Collecting(request, bounds, done);
  waitFor(collecting);
  takeBody(request, collecting);
}

/**
 * Reads a body within bounds. A declared length above the limit is refused unread; `begin` is called before anything is
 * read.
 */
export async function readRawBody(
  request: IncomingMessage,
  bounds: BodyBounds,
  begin: () => void = () => undefined,
): Promise<RawBody> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > bounds.bytesMax) return { kind: 'too-large', sizeBytes: declared };
  begin();
  return new Promise((resolve) => collectRawBody(request, bounds, resolve));
}

/** Reads and forgets what is still to come of a body that was answered; a sender that takes longer is cut off. */
export function skipRest(request: IncomingMessage, timeoutMs: number): void {
  becomeStream(request);
  const skipping: Waiting = {
    request,
    untilMs: performance.now() + timeoutMs,
    place: -1,
    giveUp: () => request.socket.destroy(),
  };
  waitFor(skipping);
  request
    .once('close', () => waitNoMore(skipping))
    .on('data', release)
    .resume();
}

/** Content-Length as a number; node has refused malformed and repeated ones before. */
export function declaredLength({ headers }: Pick<IncomingMessage, 'headers'>): number | undefined {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

/** Whether the sender holds its body back until it is asked for. HTTP/1.0 knows no interim answers. */
export function waitsForContinue({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const { expect } = headers;
  return expect !== undefined && httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(expect);
}
