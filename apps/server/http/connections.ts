/**
 * Sockets below the requests: answers that close them, silent and half-open peers, clients that go away, and how they
 * end when the server does. contract §1, §5.11 (stops).
 */
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { BODY_MS_MAX, DRAIN_BYTES_MAX, DRAIN_MS_MAX } from '#deliveries';
import { RefusalError } from './error-codes.ts';
import { declaredLength, skipRest, waitsForContinue } from './raw-bodies.ts';

export interface ClosingAnswer {
  status: number;
  /** Names in lower case; JSON is the type where none is said. */
  headers?: Readonly<Record<string, string>>;
  body: string;
}

/** Sends the whole answer at once and closes when the rest of the body has run out, within bounds. */
export function answerAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body }: ClosingAnswer,
): void {
  // said with the header; whoever asks of the answer, like the next request's turn, looks here
  response.shouldKeepAlive = false;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.flushHeaders();
  response.write(body);
  // Node closes the socket with the end of the answer; bytes that come in after that would make the kernel reset it.
  void drained(request).then(() => response.end());
}

/** A constant answer that is written without a framework. */
export class RawAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** All header lines that are sent, name and value in turn. */
  readonly lines: string[];
  /**
   * How much a body may declare so that what was not read of it is skipped and the connection can be used again,
   * bytes.
   */
  readonly skippedBytesMax: number;

  /** `body`: ASCII. `headers`: names in lower case, beside those of every answer. */
  constructor(
    status: number,
    body: string,
    headers: Readonly<Record<string, string>> = NO_HEADERS,
    skippedBytesMax = DRAIN_BYTES_MAX,
  ) {
    this.status = status;
    this.body = body;
    this.headers = headers;
    this.skippedBytesMax = skippedBytesMax;
    this.lines = ['x-content-type-options', 'nosniff', 'content-type', 'application/json'];
    this.lines.push('content-length', String(body.length));
    if (headers !== NO_HEADERS) this.lines.push(...Object.entries(headers).flat());
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

interface Unsent {
  request: IncomingMessage;
  response: ServerResponse;
  answer: RawAnswer;
}

/** Answers that wait for the end of the event loop's turn. */
let unsent: Unsent[] = [];

/**
 * Sends an answer whether or not the request's body was read. Node says that a body is complete only when it has read
 * the whole packet that brought it, so that an answer to what does not look complete waits for the end of the turn.
 */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: RawAnswer): void {
  if (request.complete) return write(response, answer);
  if (unsent.push({ request, response, answer }) === 1) setImmediate(sendUnsent);
}

function sendUnsent(): void {
  const sending = unsent;
  unsent = [];
  for (const { request, response, answer } of sending) {
    try {
      if (request.complete) write(response, answer);
      else if (isSkippable(request, answer)) skipBehind(request, response, answer);
      else {
        const headers = { 'x-content-type-options': 'nosniff', ...answer.headers };
        answerAndClose(request, response, { status: answer.status, headers, body: answer.body });
      }
    } catch {
      response.destroy(); // there is no answer left to give
    }
  }
}

function write(response: ServerResponse, { status, lines, body }: RawAnswer): void {
  response.writeHead(status, lines);
  response.end(body, 'latin1');
}

/** Whether so little of the body can be still to come that it is read and thrown away. */
function isSkippable(request: IncomingMessage, { skippedBytesMax }: RawAnswer): boolean {
  const declared = declaredLength(request);
  return declared !== undefined && declared <= skippedBytesMax && !waitsForContinue(request);
}

function skipBehind(request: IncomingMessage, response: ServerResponse, answer: RawAnswer): void {
  skipRest(request, BODY_MS_MAX);
  write(response, answer);
}

/** Whether a request has a body of which something is still to come. */
export function isUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
}

/** Reads and forgets the rest of a refused body; settles when it is over, too long, too slow or its sender gone. */
export function drained(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    let left = DRAIN_BYTES_MAX;
    const settle = (): void => {
      clearTimeout(timer);
      request.off('data', count).pause();
      resolve();
    };
    const count = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, DRAIN_MS_MAX);
    request.on('data', count).once('end', settle).once('close', settle).once('error', settle).resume();
  });
}

/** The same where there is no response object: on a socket whose bytes could not be read as a request. */
export function closeSocket(socket: Socket, reason: string, { status, headers = {}, body }: ClosingAnswer): void {
  const lines = Object.entries({
    connection: 'close',
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  // The HTTP server keeps half-open sockets: without a bound a silent sender would hold this one for ever.
  setTimeout(() => socket.destroy(), DRAIN_MS_MAX).unref();
}

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
}

/** The open connections of one server: what each is being answered, and which of them end when the server stops. */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private readonly server: Server;
  private readonly isEncrypted: boolean;

  constructor(server: Server, isEncrypted: boolean) {
    this.server = server;
    this.isEncrypted = isEncrypted;
    // Known to node's server, not to its types: a connection that its sender has half closed lives until its last
    // answer is out.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on(isEncrypted ? 'secureConnection' : 'connection', (socket: Socket) => this.connectionOf(socket));
    const close = server.close.bind(server);
    server.close = (done) => {
      this.boundStop();
      for (const [socket, connection] of this.open) this.endSoon(socket, connection);
      return close(done);
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
    // A server that stops answers what has come and takes nothing more of the connection: else one busy sender would
    // hold it up.
    if (!this.server.listening) {
      response.shouldKeepAlive = false;
      this.endBehind(socket, response);
    }
    return before;
  }

  /** What is or was answered last on a socket. */
  latest(socket: Socket): ServerResponse | undefined {
    return this.open.get(socket)?.latest;
  }

  /** All that are open. */
  sockets(): Iterable<Socket> {
    return this.open.keys();
  }

  private connectionOf(socket: Socket): Connection {
    let connection = this.open.get(socket);
    if (connection === undefined) {
      connection = { latest: undefined, isDelivery: false, isReaders: false };
      this.open.set(socket, connection);
      socket.once('close', () => this.open.delete(socket));
    }
    return connection;
  }

  /** When the server is closed. A head that has begun to come is waited for; of encrypted ones nobody can tell. */
  private endSoon(socket: Socket, { latest }: Connection): void {
    if (latest === undefined) {
      if (this.isEncrypted || socket.bytesRead === 0) socket.destroy();
    } else if (!latest.writableFinished) this.endBehind(socket, latest);
    else if (!latest.req.complete) socket.destroySoon(); // the rest of a body that was answered
  }

  /** Whoever neither sends nor takes anything holds the stop up for a moment only, and nobody for long. */
  private boundStop(): void {
    this.server.timeout = STALLED_MS_MAX;
    this.server.on('timeout', (socket: Socket) => {
      if (this.waitsForClient(socket)) socket.destroy();
    });
    for (const socket of this.open.keys()) socket.setTimeout(STALLED_MS_MAX);
    setTimeout(() => {
      for (const socket of this.open.keys()) socket.destroy();
    }, STOP_MS_MAX).unref();
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

/** An answer for nobody, and no fault of the service. */
export class ClientGoneError extends RefusalError {
  constructor() {
    super('resource_unavailable', 'the client left before it was answered');
  }
}

/** Aborted once the answer is out or its connection is closed. Its reason is `ClientGone`. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ClientGoneError());
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
