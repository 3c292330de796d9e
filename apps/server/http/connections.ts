/**
 * Sockets below the requests: answers that close them, requests that come one behind the other, silent and half-open
 * peers, clients that go away. contract §1.
 */
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { DRAIN_BYTES_MAX, DRAIN_MS_MAX } from '#deliveries';
import { RefusalError } from './error-codes.ts';

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

/**
 * Lets a connection that its sender has half closed live until its last answer is out. `isDelivery`: whether a request
 * is one of theirs; for all others the connection ends with the client's half, so that nobody streams to who is gone.
 */
export function answerHalfOpen(server: Server, isDelivery: (request: IncomingMessage) => boolean): void {
  Object.assign(server, { httpAllowHalfOpen: true }); // known to node's server, not to its types
  const ofReaders = new WeakSet<Socket>();
  server.prependListener('request', (request: IncomingMessage) => {
    const { socket } = request;
    if (ofReaders.has(socket) || isDelivery(request)) return;
    ofReaders.add(socket);
    socket.once('end', () => socket.end());
  });
}

/** Makes the server end them when it is closed. `opened`: the event by which it tells of a connection. */
export function endSilentOnClose(server: Server, opened: 'connection' | 'secureConnection'): void {
  const silent = new Set<Socket>();
  server.on(opened, (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage) => silent.delete(socket));
  const close = server.close.bind(server);
  server.close = (done) => {
    // A head that has begun to come is waited for. Of encrypted ones nobody can tell.
    for (const socket of silent) if (opened === 'secureConnection' || socket.bytesRead === 0) socket.destroy();
    return close(done);
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Begins a request at its turn. `before`: the answer to the one before on the same connection, if there is one. */
export function serializePipelined(
  before: ServerResponse | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handler,
): void {
  if (before === undefined || before.writableFinished) return handle(request, response);
  before.once('close', () => {
    if (before.shouldKeepAlive && !request.socket.destroyed) handle(request, response);
  });
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
