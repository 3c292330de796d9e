/**
 * Bytes of bodies as they come, within bounds of size, time and memory. contract §5.2 (413), §5.3 (Body), §5.11
 * (Bodies).
 */
import type { IncomingMessage } from 'node:http';
import { BODY_COST_BYTES } from '#deliveries';
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
  readonly untilMs: number;
  giveUp(): void;
}

/** How often it is looked who has waited too long: a bound of time is kept to this. */
const SWEEP_MS = 1_000;
const waiting = new Set<Waiting>();
let sweeping: NodeJS.Timeout | undefined;

/** Begins to wait, until `waiting` has it no more. One timer for all: most bodies are there within the same packet. */
function wait(one: Waiting): void {
  waiting.add(one);
  sweeping ??= setInterval(giveUpLate, SWEEP_MS).unref();
}

function giveUpLate(): void {
  const nowMs = performance.now();
  for (const one of waiting) {
    if (one.untilMs > nowMs) continue;
    waiting.delete(one);
    one.giveUp();
  }
  if (waiting.size > 0) return;
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
}

/** Least that is allocated for a body in several pieces: a sender of single bytes must not cost a buffer for each. */
const CAPACITY_MIN = 4_096;

/** One body on its way in. */
class Collecting implements Waiting, RefusableBody {
  readonly untilMs: number;
  readonly clientAddress: string;
  private readonly request: IncomingMessage;
  private readonly bytesMax: number;
  private readonly declared: number | undefined;
  private readonly unfinished: UnfinishedBodies | undefined;
  private readonly done: (body: RawBody) => void;
  /** The first piece as it came, or room for what came with more behind it. */
  private bytes: Buffer | undefined = undefined;
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
  }

  add(chunk: Buffer): void {
    if (this.isOver) return; // somebody reads the rest only to be rid of it
    const before = this.size;
    this.size += chunk.length;
    if (this.size > this.bytesMax) {
      this.request.pause();
      return this.end({ kind: 'too-large', sizeBytes: this.size });
    }
    if (this.bytes === undefined) this.bytes = chunk;
    else chunk.copy(this.roomBehind(this.bytes, before), before);
    if (this.size !== this.declared) this.count();
  }

  endWhole(): void {
    const bytes = this.bytes ?? Buffer.alloc(0);
    this.end({ kind: 'whole', bytes: bytes.length === this.size ? bytes : bytes.subarray(0, this.size) });
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
    this.bytes = undefined;
    waiting.delete(this);
    if (this.counted > 0) this.unfinished?.release(this);
    this.done(body);
  }

  /** A buffer that begins with the first `before` bytes of this one, and has room for all that has come. */
  private roomBehind(bytes: Buffer, before: number): Buffer {
    if (bytes.length >= this.size) return bytes;
    const capacity = Math.min(this.declared ?? this.bytesMax, Math.max(2 * this.size, CAPACITY_MIN));
    const larger = Buffer.allocUnsafeSlow(Math.max(capacity, this.size));
    bytes.copy(larger, 0, 0, before);
    return (this.bytes = larger);
  }

  /** More is to come: what is there is held until then. */
  private count(): void {
    if (this.unfinished === undefined) return;
    const more = BODY_COST_BYTES + (this.bytes?.length ?? 0) - this.counted;
    this.counted += more;
    this.unfinished.charge(this, more);
  }
}

/**
 * Reads a body within bounds and calls `done` once, not before this returns. Listeners stay: taking them off again
 * costs more than their silence.
 */
export function collectRawBody(request: IncomingMessage, bounds: BodyBounds, done: (body: RawBody) => void): void {
  const collecting = new Collecting(request, bounds, done);
  wait(collecting);
  request.on('data', (chunk: Buffer) => collecting.add(chunk));
  request.on('end', () => collecting.endWhole());
  // Follows every end of a request, in order or not.
  request.on('close', () => collecting.end({ kind: 'aborted' }));
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
  const skipping: Waiting = {
    untilMs: performance.now() + timeoutMs,
    giveUp: () => request.socket.destroy(),
  };
  wait(skipping);
  request.once('close', () => waiting.delete(skipping)).resume();
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
