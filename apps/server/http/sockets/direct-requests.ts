/**
 * Requests whose body goes from the parser straight to who takes it. As a stream of Node.js each body costs four
 * rounds of its queue, three listeners and their events, which is a twentieth of what a delivery takes.
 */
import { IncomingMessage } from 'node:http';

/** Who takes a body. Throws nothing. */
export interface BodyTaker {
  add(piece: Buffer): void;
  /** Nothing more comes. */
  endWhole(): void;
  /** The sender went away; a stream says so behind its end as well. */
  abort(): void;
}

/** Brings all of a body to who takes it, behind this call: past the stream where nothing of it has come already. */
export function takeBody(request: IncomingMessage, taker: BodyTaker): void {
  if (!(request instanceof DirectRequest && request.giveBody(taker))) takeStream(request, taker);
}

/** What still comes of a body is its stream's, whoever has taken it. */
export function becomeStream(request: IncomingMessage): void {
  if (request instanceof DirectRequest) request.becomeStream();
}

/** Listeners stay: taking them off again costs more than their silence. */
function takeStream(request: IncomingMessage, taker: BodyTaker): void {
  request.on('data', (piece: Buffer) => taker.add(piece));
  request.on('end', () => taker.endWhole());
  // Follows every end of a request, in order or not.
  request.on('close', () => taker.abort());
}

/** What the parser makes of a head: a stream like any other, but while somebody takes its body. */
export class DirectRequest extends IncomingMessage {
  private taker: BodyTaker | undefined = undefined;
  /** All of its body was given. */
  isGivenWhole = false;

  /** Gives all of its body to a taker, behind this call. Answers whether: not when something of it has come already. */
  giveBody(taker: BodyTaker): boolean {
    if (this.complete || this.destroyed || this.readableLength > 0) return false;
    this.taker = taker;
    this.read(0); // so that the server knows that somebody reads it
    return true;
  }

  /** What still comes is the stream's, which brings it to the same taker: it flows, and can be paused and read on. */
  becomeStream(): void {
    const { taker } = this;
    this.taker = undefined;
    if (taker !== undefined && !this.destroyed) takeStream(this, taker);
  }

  /** By the parser; null: nothing more comes. Answers whether the connection is to be read on. */
  override push(piece: Buffer | null): boolean {
    const { taker } = this;
    if (taker === undefined) return super.push(piece);
    if (piece === null) {
      this.isGivenWhole = true;
      this.taker = undefined; // a connection knows its latest request for as long as it is idle
      taker.endWhole();
      return true;
    }
    taker.add(piece);
    return true; // a stream that was made of it meanwhile, and is paused, stops its sender with the next piece
  }

  override destroy(error?: Error): this {
    const { taker } = this;
    this.taker = undefined;
    if (taker !== undefined) process.nextTick(() => taker.abort());
    return super.destroy(error);
  }
}

const { get: isStreamRead } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(IncomingMessage.prototype) as object,
  'readableEnded',
) as { get(): boolean };

/** The server asks it of a request that is answered. Types of Node.js call it a member that no class may override. */
Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
  get(this: DirectRequest): boolean {
    return this.isGivenWhole || isStreamRead.call(this);
  },
});
