/**
 * The open connections of a server, and how they end when it does: behind an answer that says so, after a time in which
 * nothing was asked, or not at all, where another process takes them over. contract §1.8, §5.11 (stops).
 */
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { BODY_MS_MAX } from '#deliveries';
import { isTrusted, trustConnection } from './anonymous-connections.ts';
import { acceptHandle, handleOf, idleSockets, type SocketHandle } from './socket-handles.ts';

/** What the kernel has taken is read by then. */
const UNREAD_MS = 100;
/** Between two looks whether the rest of a request that was answered early has come. */
const FREEZE_MS = 10;

/** A server that stops waits so long for a client that takes nothing of its answer, or sends nothing of its request. */
export const STALLED_MS_MAX = 4_000;
/** … and so long for any: a body that comes as slowly as it may is there by then. */
export const STOP_MS_MAX = BODY_MS_MAX;

/** What is known of one open socket. */
interface Connection {
  /** What its latest request is or was answered with; undefined: nothing was asked yet. */
  latest: ServerResponse | undefined;
  /** Whether its latest request is a delivery. */
  isDelivery: boolean;
  /** Whether it ends with the client's half, but for a delivery that is being answered. */
  isReaders: boolean;
  /** Nothing is read of it any more: it waits for the process that takes it over. */
  isFrozen: boolean;
}

/** A connection for another process, which has to be told what it cannot see. */
export interface PassedConnection {
  handle: SocketHandle;
  /** Somebody has shown a valid key on it. */
  isTrusted: boolean;
}

export interface ConnectionsOptions {
  isEncrypted?: boolean;
  /**
   * Whether others answer where this server has listened: then a connection on which nothing is asked stays open for
   * STALLED_MS_MAX when it stops, so that a request that is on its way is answered, and its sender told to go to them.
   */
  othersAnswer?: boolean;
}

/** The open connections of one server: what each is being answered, and which of them end when the server stops. */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  /** Below encrypted ones, from before their handshakes on: a request may come of each. */
  private readonly accepted = new Set<Socket>();
  private readonly server: Server;
  private readonly options: ConnectionsOptions;
  private isRetiring = false;
  private isFreezing = false;
  /** Called when one has frozen or is gone. */
  private changed: () => void = () => undefined;

  constructor(server: Server, options: ConnectionsOptions = {}) {
    this.server = server;
    this.options = options;
    // Known to node's server, not to its types: a connection that its sender has half closed lives until its last
    // answer is out.
    Object.assign(server, { httpAllowHalfOpen: true });
    if (options.isEncrypted === true) server.on('connection', (socket: Socket) => this.noteAccepted(socket));
    server.on(options.isEncrypted === true ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.connectionOf(socket);
      this.freezeIdle();
    });
    server.close = (done) => {
      NetServer.prototype.close.call(server, done);
      this.changed();
      this.boundStop();
      // Requests that were under way when nothing more was taken are read first: an end would reset them.
      setTimeout(() => this.endAll(), UNREAD_MS);
      return server;
    };
  }

  /**
   * Notes a request, and answers what the one before it on its connection is or was answered with. `isDelivery`: all
   * other connections end with the client's half, so that nobody streams to who is gone.
   */
  begin({ socket }: IncomingMessage, response: ServerResponse, isDelivery: boolean): ServerResponse | undefined {
    const connection = this.connectionOf(socket);
    const before = connection.latest;
    connection.latest = response;
    connection.isDelivery = isDelivery;
    if (!isDelivery && !connection.isReaders) {
      connection.isReaders = true;
      socket.once('end', () => {
        if (!connection.isDelivery) socket.end();
      });
    }
    if (this.isFreezing) this.freezeBehind(response);
    // A server that stops answers what has come and takes nothing more of the connection: else one busy sender would
    // hold it up.
    else if (!this.server.listening || this.isRetiring) {
      response.shouldKeepAlive = false;
      this.endBehind(socket, response);
    }
    return before;
  }

  /** What is or was answered last on a socket. */
  latest(socket: Socket): ServerResponse | undefined {
    return this.open.get(socket)?.latest;
  }

  /** Whether all of its latest request was read, and its answer is not given yet. */
  isAnswering(socket: Socket): boolean {
    const latest = this.latest(socket);
    return latest?.req.complete === true && !latest.writableEnded;
  }

  /** All that are open. */
  sockets(): Iterable<Socket> {
    return this.open.keys();
  }

  /**
   * Before `freeze`: encrypted connections cannot be passed to another process, so that each ends behind its next
   * answer, or when nothing was asked on it for STALLED_MS_MAX: `freeze` would wait for it, and everybody meanwhile.
   */
  async retire(): Promise<void> {
    if (this.options.isEncrypted !== true) return;
    this.isRetiring = true;
    const givenUpAtMs = performance.now() + STALLED_MS_MAX;
    const before = [...this.open.keys()];
    await this.until(() => before.every(({ destroyed }) => destroyed), givenUpAtMs);
    for (const socket of before) if (this.latest(socket)?.writableFinished !== false) socket.destroySoon();
  }

  /**
   * With the server's close: reads no more of any connection once its request is answered, so that what its sender
   * writes on waits in the kernel like new connections; encrypted ones end. Resolves when nothing is under way and
   * nothing more can come; what is under way after `withinMs` is cut off, handshakes too.
   */
  async freeze(withinMs: number): Promise<void> {
    this.isFreezing = this.options.isEncrypted !== true;
    for (const { latest } of this.open.values()) if (latest?.writableFinished === false) this.freezeBehind(latest);
    this.freezeIdle();
    const again = setInterval(() => this.freezeIdle(), FREEZE_MS);
    const isOver = (): boolean => !this.server.listening && this.underWay().length === 0;
    await this.until(isOver, performance.now() + withinMs);
    clearInterval(again);
    for (const socket of this.underWay()) socket.destroy();
  }

  /** Gives those that are frozen to another process, and closes them here, which their senders do not notice. */
  async pass(send: (connection: PassedConnection) => Promise<void>): Promise<void> {
    for (const [socket, { isFrozen }] of this.open) {
      const handle = isFrozen ? handleOf(socket) : undefined;
      if (handle !== undefined) await send({ handle, isTrusted: isTrusted(socket) });
      if (isFrozen) socket.destroy();
    }
  }

  /** Takes over a connection of another process, as if it had been opened here; one that stops already closes it. */
  adopt({ handle, isTrusted: isKnown }: PassedConnection): void {
    if (!this.server.listening) return void handle.close();
    if (isKnown) this.server.on('connection', trustConnection);
    acceptHandle(this.server, handle);
    this.server.off('connection', trustConnection);
  }

  private connectionOf(socket: Socket): Connection {
    let connection = this.open.get(socket);
    if (connection === undefined) {
      connection = { latest: undefined, isDelivery: false, isReaders: false, isFrozen: false };
      this.open.set(socket, connection);
      socket.once('close', () => {
        this.open.delete(socket);
        this.changed();
      });
    }
    return connection;
  }

  private noteAccepted(socket: Socket): void {
    this.accepted.add(socket);
    socket.once('close', () => {
      this.accepted.delete(socket);
      this.changed();
    });
  }

  private underWay(): Socket[] {
    if (this.options.isEncrypted === true) return [...this.accepted];
    return [...this.open].filter(([, { isFrozen }]) => !isFrozen).map(([socket]) => socket);
  }

  private until(isDone: () => boolean, givenUpAtMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(), givenUpAtMs - performance.now());
      this.changed = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve();
      };
      this.changed();
    });
  }

  private freezeBehind(response: ServerResponse): void {
    // Node ends the request behind the answer, in this round of the event loop.
    response.once('close', () => setImmediate(() => this.freezeIdle()));
  }

  private freezeIdle(): void {
    if (!this.isFreezing) return;
    const idle = idleSockets(this.server, this.open.keys());
    for (const [socket, connection] of this.open) {
      const { latest, isFrozen } = connection;
      const isAnswered = latest === undefined ? socket.bytesRead === 0 : latest.writableFinished && idle.has(socket);
      if (isFrozen || !isAnswered || socket.destroyed) continue;
      connection.isFrozen = true;
      socket.setTimeout(0);
      socket.on('resume', pauseAgain).pause();
    }
    this.changed();
  }

  /** When the server is closed. */
  private endAll(): void {
    for (const [socket, connection] of this.open) this.endSoon(socket, connection);
    if (this.options.othersAnswer !== true && !this.isFreezing) this.server.closeIdleConnections();
  }

  /** A head that has begun to come is waited for; of encrypted ones nobody can tell. */
  private endSoon(socket: Socket, { latest }: Connection): void {
    if (latest === undefined) {
      const isUnused = this.options.isEncrypted === true || socket.bytesRead === 0;
      if (isUnused && this.options.othersAnswer !== true && !this.isFreezing) socket.destroy();
    } else if (!latest.writableFinished) this.endBehind(socket, latest);
    else if (!latest.req.complete) socket.destroySoon(); // the rest of a body that was answered
  }

  /** Whoever neither sends nor takes anything holds the stop up for a moment only, and nobody for long. */
  private boundStop(): void {
    this.server.timeout = STALLED_MS_MAX;
    this.server.on('timeout', (socket: Socket) => {
      if (this.waitsForClient(socket)) socket.destroy();
    });
    for (const [socket, { isFrozen }] of this.open) if (!isFrozen) socket.setTimeout(STALLED_MS_MAX);
    setTimeout(() => this.cut(), STOP_MS_MAX).unref();
  }

  private cut(): void {
    for (const socket of [...this.open.keys(), ...this.accepted]) socket.destroy();
  }

  /** Whether it is the client's turn to do something: its answer may take as long as it takes us. */
  private waitsForClient(socket: Socket): boolean {
    const latest = this.latest(socket);
    return latest === undefined || latest.writableFinished || !latest.req.complete || socket.writableLength > 0;
  }

  private endBehind(socket: Socket, response: ServerResponse): void {
    response.once('finish', () => {
      if (this.latest(socket) === response) socket.destroySoon();
    });
  }
}

/**
 * The parser asks for more on its own, also of whoever was paused before that and would not say so again. A function of
 * its own: reading in turns takes only its own one off again.
 */
function pauseAgain(this: Socket): void {
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
