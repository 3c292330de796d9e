/** Answers that end their connection although the request was not read: the sender gets to read them instead of a reset. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DRAIN_BYTES_MAX, DRAIN_MS_MAX } from '#deliveries';

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
  response.shouldKeepAlive = false; // said with the header; whoever asks of the answer, like the next request's turn, looks here
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
