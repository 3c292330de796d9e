/**
 * Sockets below the requests: answers that close them, silent and half-open peers, and clients that go away. contract
 * §1, §5.11.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { BODY_MS_MAX, DRAIN_BYTES_MAX, DRAIN_MS_MAX } from '#deliveries';
import { declaredLength, skipRest, waitsForContinue } from './raw-bodies.ts';
import { RefusalError } from './error-codes.ts';
import { noteRead } from './sockets/anonymous-connections.ts';
import { becomeStream } from './sockets/direct-requests.ts';

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
  /** What it is counted as; set by who makes it. */
  outcome = 'accepted';
  /** Undefined: it is not traced. */
  traceId: string | undefined = undefined;

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
const ACCEPTED = 202;

interface Unsent {
  request: IncomingMessage;
  response: ServerResponse;
  answer: RawAnswer;
}

/** Answers to whole requests that wait together at most: about a millisecond. */
const UNSENT_MAX = 256;

/** Answers that wait for the end of the event loop's turn. */
let unsent: Unsent[] = [];

/**
 * Sends an answer whether or not the request's body was read. Deliveries are accepted many at a time, and answered
 * behind each other. All other answers wait for the end of the event loop's turn: Node says that a body is complete
 * only when it has read the whole packet that brought it; and an answer by itself wakes the process that waits for it,
 * which takes longer than to write it, where the first of many wakes it for all. More than some are
 * written at once: the time of reading is bounded (`ReadRotation`), and what waits is written behind it.
 */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: RawAnswer): void {
  if (request.complete && (answer.status === ACCEPTED || unsent.length >= UNSENT_MAX)) return write(response, answer);
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
  endWith(response, body);
}

/** The private member of an answer in which Node.js holds its head, as text, until it is sent. */
const HEAD = '_header';

/**
 * Ends an answer whose head is made and not sent: both in one piece. Node.js passes them to the system as two, which is
 * a tenth of what a bare answer takes; where a version of it keeps the head elsewhere, it still does.
 */
function endWith(response: ServerResponse, body: string): void {
  const { method } = response.req;
  const whole = response as { [HEAD]?: unknown };
  const head = whole[HEAD];
  if (method === 'HEAD' || typeof head !== 'string') return void response.end(body, 'latin1');
  whole[HEAD] = head + body;
  response.end();
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
      noteRead(request.socket);
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, DRAIN_MS_MAX);
    becomeStream(request);
    // First: who has taken the body drops the pieces, which are empty behind that.
    request.prependListener('data', count).once('end', settle).once('close', settle).once('error', settle).resume();
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

/** An answer for nobody, and no fault of the service. */
export class ClientGoneError extends RefusalError {
  constructor() {
    super('resource_unavailable', 'the client left before it was answered');
  }
}

/** Aborted once the answer is out or its connection is closed. Its reason is `ClientGoneError`. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ClientGoneError());
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
