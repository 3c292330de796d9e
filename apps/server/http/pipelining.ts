/**
 * Requests that come behind one that is not answered yet: each begins at its turn, and while one waits nothing more is
 * read of its connection, so that what else its sender writes stays in the kernel. contract §5.11 (One connection).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HEADER_MS_MAX } from '#deliveries';

/**
 * Requests of all connections that wait behind another, about 2 KiB each: 16 MiB. One connection has what a single read
 * brings, 64 KiB: 3,640 of the shortest requests that there are, some hundred of those that clients send.
 */
export const PIPELINED_REQUESTS_MAX = 8_192;

/** The same of a server that a run or a collector has: what one read brings, and some. 8 MiB. */
const SMALL_SERVER_REQUESTS_MAX = 4_096;

/** Requests whose turn comes in one round of the event loop: new connections are taken one in each round. */
const TURNS_MAX = 16;

/** One request, what answers it, and who does. */
interface Turn {
  request: IncomingMessage;
  response: ServerResponse;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** What waits on one connection. */
interface Queue {
  readonly socket: Socket;
  waiting: number;
  /** Ends the connection for a head that did not come in time, although it was not read. */
  endLate: (() => void) | undefined;
  /** Called when the connection is closed. */
  readonly forget: () => void;
}

/**
 * For `maxHeadersCount` of a server. Behind the thousandth header Node.js would drop the others in silence, while its
 * parser obeys them: what is looked at would not be what was sent. All of a head are bounded by its bytes.
 */
export const EVERY_HEADER = 0;

export interface PipeliningOptions {
  /** Waiting requests of all connections together. */
  waitingMax?: number;
  headMsMax?: number;
  /** All open connections. */
  sockets?: () => Iterable<Socket>;
  /** Called for each connection that is cut off because too many wait. */
  onCut?: () => void;
}

/** The requests of one server that wait for their turn. */
export class Pipelining {
  private readonly queues = new Map<Socket, Queue>();
  private waiting = 0;
  /** Of connections that are read again: until when the head that was begun has to be whole. */
  private readonly lateHeads = new Map<Socket, NodeJS.Timeout>();
  /** Whose turn has come, in order. */
  private readonly due: Turn[] = [];
  /** Requests that have begun to wait in this round of the event loop. */
  private waitingSinceRound = 0;
  private readonly options: Required<PipeliningOptions>;

  constructor({
    waitingMax = PIPELINED_REQUESTS_MAX,
    headMsMax = HEADER_MS_MAX,
    sockets = () => [],
    onCut = () => undefined,
  }: PipeliningOptions = {}) {
    this.options = { waitingMax, headMsMax, sockets, onCut };
  }

  /** Requests that wait. */
  get size(): number {
    return this.waiting;
  }

  /** Begins a request at its turn. `before`: the answer to the one before on the same connection, if there is one. */
  begin(before: ServerResponse | undefined, turn: Turn): void {
    const { socket, headers } = turn.request;
    // No protocol is changed to here, but the parser drops what came with such a request in one piece, and would take
    // what comes next for a head: nothing is read behind it.
    if (headers.upgrade !== undefined) turn.response.shouldKeepAlive = false;
    if (this.lateHeads.size > 0) this.clearLateHead(socket);
    if (before === undefined) return turn.handle(turn.request, turn.response);
    // What comes behind the last answer of a connection could not be answered.
    if (socket.destroyed || (before.closed && !before.shouldKeepAlive)) return;
    // Finished is too early: an answer that is given while its request is parsed is written before the next is.
    if (before.closed) return turn.handle(turn.request, turn.response);
    this.enqueue(socket);
    before.once('close', () => {
      if (!before.shouldKeepAlive || socket.destroyed) return; // what waits ends with its connection
      // Not in this round of the event loop: however many wait here, all other connections come in between.
      if (this.due.push(turn) === 1) setImmediate(this.takeSome);
    });
  }

  /**
   * Whether a head that did not come in time is excused for now, because nobody read it: some of it came with the
   * requests that wait before it. Its time begins again when its connection is read; `end` is called when that is over.
   */
  excuseLateHead(socket: Socket, end: () => void): boolean {
    const queue = this.queues.get(socket);
    if (queue !== undefined) queue.endLate = end;
    return queue !== undefined;
  }

  private enqueue(socket: Socket): void {
    const queue = this.queues.get(socket) ?? this.hold(socket);
    queue.waiting += 1;
    this.waiting += 1;
    if (this.waiting > this.options.waitingMax) this.cutLongest();
    this.waitingSinceRound += 1;
    if (this.waitingSinceRound === 1) setImmediate(() => (this.waitingSinceRound = 0));
    if (this.waitingSinceRound === this.options.waitingMax) this.endRound();
  }

  /** Reads no more of a connection. The parser asks for more with every message that is complete. */
  private hold(socket: Socket): Queue {
    const queue: Queue = {
      socket,
      waiting: 0,
      endLate: undefined,
      forget: () => {
        this.queues.delete(socket);
        this.waiting -= queue.waiting;
      },
    };
    this.queues.set(socket, queue);
    socket.prependListener('close', omitTraces).on('close', addTraces);
    socket.on('resume', pauseAgain).once('close', queue.forget).pause();
    return queue;
  }

  /**
   * Reads of no connection until the next round: what was cut off takes its memory until the end of this one, and a
   * thousand connections may have something to be read.
   */
  private endRound(): void {
    const unread = [...this.options.sockets()].filter((socket) => !this.queues.has(socket) && !socket.isPaused());
    for (const socket of unread) socket.pause();
    setImmediate(() => {
      for (const socket of unread) if (!this.queues.has(socket) && !socket.destroyed) socket.resume();
    });
  }

  private readonly takeSome = (): void => {
    const due = this.due.splice(0, TURNS_MAX);
    if (this.due.length > 0) setImmediate(this.takeSome);
    for (const turn of due) this.take(turn);
  };

  private take({ request, response, handle }: Turn): void {
    const { socket } = request;
    const queue = this.queues.get(socket);
    if (queue === undefined || socket.destroyed) return;
    queue.waiting -= 1;
    this.waiting -= 1;
    if (queue.waiting === 0) this.release(queue);
    handle(request, response);
  }

  /** The last one that waited has its turn: the connection is read again. */
  private release({ socket, endLate, forget }: Queue): void {
    this.queues.delete(socket);
    socket.off('close', omitTraces).off('close', addTraces);
    socket.off('resume', pauseAgain).off('close', forget).resume();
    if (endLate === undefined) return;
    const timer = setTimeout(() => {
      this.lateHeads.delete(socket);
      endLate();
    }, this.options.headMsMax).unref();
    this.lateHeads.set(socket, timer);
    socket.once('close', () => this.clearLateHead(socket));
  }

  private clearLateHead(socket: Socket): void {
    clearTimeout(this.lateHeads.get(socket));
    this.lateHeads.delete(socket);
  }

  /** Whoever has most waiting loses its connection: nobody else's requests wait in vain. */
  private cutLongest(): void {
    let longest: Queue | undefined;
    for (const queue of this.queues.values()) if (queue.waiting > (longest?.waiting ?? 0)) longest = queue;
    if (longest === undefined) return;
    this.options.onCut();
    longest.forget(); // counted no more from now on: it is closed only later in the round
    longest.socket.off('close', longest.forget).destroy();
  }
}

function pauseAgain(this: Socket): void {
  this.pause();
}

let traceLimit = Error.stackTraceLimit;

/**
 * Where a connection closes, node makes an error of each request that is not answered: with their traces the thousands
 * that one read brings take tens of milliseconds.
 */
function omitTraces(): void {
  traceLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
}

function addTraces(): void {
  Error.stackTraceLimit = traceLimit;
}

/** What a server of its own does with requests: of each connection one at a time, the others wait as they do here. */
export function answerInTurn(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  sockets?: () => Iterable<Socket>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const pipelining = new Pipelining({ waitingMax: SMALL_SERVER_REQUESTS_MAX, sockets });
  const latest = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const before = latest.get(request.socket);
    latest.set(request.socket, response);
    pipelining.begin(before, { request, response, handle });
  };
}
