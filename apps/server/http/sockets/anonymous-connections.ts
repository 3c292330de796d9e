/**
 * Connections on which nobody has shown a key yet: when they bring too much at once, few of them are read in each round
 * of the event loop, so that everybody else is answered in between. contract §5.11 (Connections without a key).
 */
import type { Socket } from 'node:net';
import { ReadRotation } from '#deliveries';

/** Milliseconds until some more are read again: all of them within half a second. */
const ADVANCE_MS = 2;

/** Milliseconds that a round of theirs takes at least, while few are read at once: most of it is everybody else's. */
const ROUND_MS = 3;

/** Connections: beyond it the one that came first is cut off. What each may hold in the kernel is bounded by it too. */
const ANONYMOUS_MAX = 4_096;
/** How often it is looked who takes nothing of an answer: after two such looks it is cut off. */
const UNREAD_MS = 30_000;

/** Of each connection the server's, whether a key was shown on it or not. */
const connectionsOf = new WeakMap<Socket, AnonymousConnections>();

/** Whoever uses the connection has shown a valid key: from now on it is always read. */
export function trustConnection(socket: Socket): void {
  connectionsOf.get(socket)?.trust(socket);
}

/** Whether somebody has shown a valid key on it. */
export function isTrusted(socket: Socket): boolean {
  return connectionsOf.get(socket)?.has(socket) !== true;
}

/** A head or a piece of a body was read. */
export function noteRead(socket: Socket): void {
  connectionsOf.get(socket)?.noteRead(socket);
}

export interface AnonymousConnectionsOptions {
  connectionsMax?: number;
  unreadMs?: number;
  /** Whether all of a request was read on it that is not answered yet. Never, if not said. */
  isAnswering?: (socket: Socket) => boolean;
  /** Called for each connection that is cut off. */
  onCut?: () => void;
}

/** Those of one server. */
export class AnonymousConnections {
  /** The one that came first at first; of each how much was written when it was looked at last. */
  private readonly open = new Map<Socket, number | undefined>();
  private readonly options: Required<AnonymousConnectionsOptions>;
  private looking: NodeJS.Timeout | undefined;
  private readonly rotation: ReadRotation<Socket>;
  private advancing: NodeJS.Timeout | undefined;
  /** Of whom something was read last in this round of the event loop, while few are read at once. */
  private noted: Socket | undefined;

  constructor(options: AnonymousConnectionsOptions = {}) {
    this.options = {
      connectionsMax: ANONYMOUS_MAX,
      unreadMs: UNREAD_MS,
      isAnswering: () => false,
      onCut: () => undefined,
      ...options,
    };
    const { isAnswering } = this.options;
    this.rotation = new ReadRotation({ pause: pauseReading, resume: resumeReading, isAnswering });
  }

  /** Connections that wait to be read, or for their answer. */
  get waitingCount(): number {
    return this.rotation.waitingCount;
  }

  add(socket: Socket): void {
    connectionsOf.set(socket, this);
    this.open.set(socket, undefined);
    this.looking ??= setInterval(() => this.cutUnread(), this.options.unreadMs).unref();
    if (this.open.size > this.options.connectionsMax) this.cutFirst();
    this.rotation.add(socket);
    this.advanceWhileWaiting();
    socket.once('close', () => this.forget(socket));
  }

  /** Whether nobody has shown a key on it, and it is open. */
  has(socket: Socket): boolean {
    return this.open.has(socket);
  }

  trust(socket: Socket): void {
    if (this.forget(socket)) resumeReading(socket);
    this.rotation.noteOther();
  }

  noteRead(socket: Socket): void {
    if (!this.open.has(socket)) return this.rotation.noteOther();
    const beginsRound = this.rotation.noteRead(socket, performance.now());
    if (!this.rotation.paced) {
      if (beginsRound) setImmediate(this.endRound);
      return;
    }
    if (beginsRound) setTimeout(this.endPacedRound, ROUND_MS);
    if (this.noted === socket) return;
    if (this.noted === undefined) setImmediate(this.endRead);
    this.noted = socket;
    process.nextTick(this.noteReadEnd);
  }

  private readonly noteReadEnd = (): void => this.rotation.noteReadEnd(performance.now());

  private readonly endRead = (): void => {
    this.noted = undefined;
    this.rotation.endRead();
  };

  private readonly endPacedRound = (): void => {
    const nowMs = performance.now();
    const restMs = this.rotation.restUntilMs - nowMs;
    if (restMs > 0) setTimeout(this.endPacedRound, restMs);
    else this.endRound(nowMs);
  };

  /** While nothing is paced the time is nobody's business, and no clock is read for it. */
  private readonly endRound = (nowMs = 0): void => {
    this.rotation.endRound(nowMs);
    this.advanceWhileWaiting();
  };

  /** Whether it was paused. */
  private forget(socket: Socket): boolean {
    return this.open.delete(socket) && this.rotation.remove(socket);
  }

  private cutFirst(): void {
    const [first] = this.open.keys();
    if (first !== undefined) this.cut(first);
  }

  /** Cuts off who has had the same answer before it at both of the last looks, and has not taken it. */
  private cutUnread(): void {
    for (const [socket, writtenBefore] of this.open) {
      const written = socket.writableLength === 0 ? undefined : socket.bytesWritten;
      if (written !== undefined && written === writtenBefore) this.cut(socket);
      else this.open.set(socket, written);
    }
    if (this.open.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }

  private cut(socket: Socket): void {
    this.options.onCut();
    this.forget(socket); // counted no more from now on: it is closed only later
    socket.destroy();
  }

  private advanceWhileWaiting(): void {
    if (this.rotation.waitingCount === 0) return;
    this.advancing ??= setInterval(() => this.advance(), ADVANCE_MS).unref();
  }

  private advance(): void {
    this.rotation.advance(performance.now());
    if (this.rotation.waitingCount > 0) return;
    clearInterval(this.advancing);
    this.advancing = undefined;
  }
}

function pauseReading(socket: Socket): void {
  socket.on('resume', pauseAgain).pause();
}

function resumeReading(socket: Socket): void {
  socket.off('resume', pauseAgain);
  if (!socket.destroyed) socket.resume();
}

/**
 * The parser asks for more on its own. Whoever is paused before it has begun to read, or while it asks, is paused then
 * already and would not say so again: the parser stops where it is told.
 */
function pauseAgain(this: Socket): void {
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
