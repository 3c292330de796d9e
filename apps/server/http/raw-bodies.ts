/**
 * Bytes of bodies as they come, within bounds of size and time. contract §5.2 (413), §5.3 (Body).
 */
import type { IncomingMessage } from 'node:http';

export type RawBody =
  | { kind: 'whole'; bytes: Buffer }
  /** More than the limit: declared by Content-Length, or counted until it was passed. */
  | { kind: 'too-large'; sizeBytes: number }
  | { kind: 'timeout' }
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

/** One body on its way in. */
class Collecting implements Waiting {
  readonly untilMs: number;
  private readonly request: IncomingMessage;
  private readonly bytesMax: number;
  private readonly done: (body: RawBody) => void;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private isOver = false;

  constructor(request: IncomingMessage, bytesMax: number, timeoutMs: number, done: (body: RawBody) => void) {
    this.request = request;
    this.bytesMax = bytesMax;
    this.untilMs = performance.now() + timeoutMs;
    this.done = done;
  }

  add(chunk: Buffer): void {
    if (this.isOver) return; // somebody reads the rest only to be rid of it
    this.size += chunk.length;
    if (this.size <= this.bytesMax) return void this.chunks.push(chunk);
    this.request.pause();
    this.end({ kind: 'too-large', sizeBytes: this.size });
  }

  endWhole(): void {
    const { chunks } = this;
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.size);
    this.end({ kind: 'whole', bytes });
  }

  giveUp(): void {
    this.end({ kind: 'timeout' });
  }

  end(body: RawBody): void {
    if (this.isOver) return;
    this.isOver = true;
    waiting.delete(this);
    this.done(body);
  }
}

/**
 * Reads at most `bytesMax` bytes within `timeoutMs` (looked at once a second) and calls `done` once, not before this
 * returns. Listeners stay: taking them off again costs more than their silence.
 */
export function collectRawBody(
  request: IncomingMessage,
  bytesMax: number,
  timeoutMs: number,
  done: (body: RawBody) => void,
): void {
  const collecting = new Collecting(request, bytesMax, timeoutMs, done);
  wait(collecting);
  request.on('data', (chunk: Buffer) => collecting.add(chunk));
  request.on('end', () => collecting.endWhole());
  // Follows every end of a request, in order or not.
  request.on('close', () => collecting.end({ kind: 'aborted' }));
}

/**
 * Reads at most `bytesMax` bytes within `timeoutMs`. A declared length above the limit is refused unread; `begin` is
 * called before anything is read.
 */
export async function readRawBody(
  request: IncomingMessage,
  bytesMax: number,
  timeoutMs: number,
  begin: () => void = () => undefined,
): Promise<RawBody> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > bytesMax) return { kind: 'too-large', sizeBytes: declared };
  begin();
  return new Promise((resolve) => collectRawBody(request, bytesMax, timeoutMs, resolve));
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
