/** What cannot be read as HTTP, or is no request for a resource: constant answers that repeat nothing of it. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INGRESS_ANSWERS } from '#deliveries';
import { closeSocket, type ClosingAnswer } from './closing.ts';

interface ParserError extends Error {
  code?: string;
  /** The bytes that the parser stumbled over. */
  rawPacket?: Uint8Array;
}

const MALFORMED: ClosingAnswer = { status: 400, body: '{"error": "the request is not valid HTTP"}' };
const TOO_LARGE: ClosingAnswer = { status: 431, body: '{"error": "the request headers are too large"}' };
const TOO_SLOW: ClosingAnswer = { status: 408, body: '{"error": "the request took too long"}' };
const NOT_POST: ClosingAnswer = { status: 405, ...INGRESS_ANSWERS[405] };

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 405: 'Method Not Allowed', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

/** A request line for the ingress with a method that the parser does not know, lower-case ones included. */
const UNKNOWN_METHOD_FOR_INGRESS = /^(?!POST )[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} (?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?# ]*)?\/webhooks\//;
const REQUEST_LINE_LOOKED_AT_BYTES = 1_024;

/** Remembers what each socket is being answered, and answers what the parser refuses. */
export class ClientErrors {
  private readonly answering = new WeakMap<Socket, ServerResponse>();
  private readonly ended = new WeakSet<Socket>();

  /** To be called with every request. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.answering.set(request.socket, response);
  }

  /** Whether no later request has come on the socket. */
  isLatest(socket: Socket, response: ServerResponse): boolean {
    return this.answering.get(socket) === response;
  }

  answer(error: ParserError, socket: Socket): void {
    if (this.ended.has(socket)) return; // the parser repeats itself with every further packet
    this.ended.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const owed = this.answering.get(socket);
    if (owed === undefined || owed.writableFinished) return this.close(socket, answerTo(error));
    // What we write while an earlier request of this connection is being decided would be taken for its answer.
    if (owed.req.complete) return endBehind(owed, socket);
    if (owed.headersSent) return void socket.destroy();
    this.close(socket, answerTo(error));
  }

  /** CONNECT is no method of ours; node hands over the bare socket. */
  refuseConnect(isIngress: boolean, socket: Socket): void {
    this.close(socket, isIngress ? NOT_POST : MALFORMED);
  }

  private close(socket: Socket, answer: ClosingAnswer): void {
    closeSocket(socket, REASONS[answer.status] ?? 'Bad Request', answer);
  }
}

/** Lets an answer that is owed go out, and closes behind it. */
function endBehind(owed: ServerResponse, socket: Socket): void {
  owed.shouldKeepAlive = false;
  owed.once('finish', () => socket.destroySoon()).once('close', () => socket.destroy());
}

function answerTo({ code, rawPacket }: ParserError): ClosingAnswer {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_LARGE;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return TOO_SLOW;
    case 'HPE_INVALID_METHOD':
      return isForIngress(rawPacket) ? NOT_POST : MALFORMED;
    default:
      return MALFORMED;
  }
}

function isForIngress(packet: Uint8Array | undefined): boolean {
  return packet !== undefined && UNKNOWN_METHOD_FOR_INGRESS.test(Buffer.from(packet.subarray(0, REQUEST_LINE_LOOKED_AT_BYTES)).toString('latin1'));
}
