/**
 * What cannot be read as HTTP, or is no request for a resource: answers that repeat nothing of it, a problem where it
 * was meant for the API. contract §3.10 (Errors), §5.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INGRESS_ANSWERS } from '#deliveries';
import { problemAnswer, RefusalError } from './error-codes.ts';
import { closeSocket, RawAnswer, type ClosingAnswer } from './connections.ts';
import { findRecord, type RequestRecord } from './requests.ts';

interface ParserError extends Error {
  code?: string;
  /** The bytes that the parser stumbled over. */
  rawPacket?: Uint8Array;
}

/** What is wrong, and how a sender of deliveries is told. */
interface Fault {
  status: number;
  detail: string;
}

const MALFORMED: Fault = { status: 400, detail: 'the request is not valid HTTP' };
const TOO_LARGE: Fault = { status: 431, detail: 'the request headers are too large' };
const TOO_SLOW: Fault = { status: 408, detail: 'the request took too long' };
const FOREIGN_HOST: Fault = { status: 421, detail: 'this server does not answer for that host' };

/** A delivery that names another host: its connection may bring others. */
export const MISDIRECTED_DELIVERY = new RawAnswer(FOREIGN_HOST.status, `{"error": "${FOREIGN_HOST.detail}"}`);

/** A year, as lists of hosts ask for; other names below the host may have other servers. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

/** The header that answers say where the public URL is https. contract §1.2. */
export function transportSecurity(publicUrl: string): (readonly [string, string])[] {
  return publicUrl.startsWith('https:') ? [['strict-transport-security', STRICT_TRANSPORT_SECURITY]] : [];
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * A request line: method, authority of the absolute form, path. Methods that the parser does not know, lower-case ones
 * included.
 */
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?# ]*)?(\/[^ \r\n]*)/;
const REQUEST_LINE_LOOKED_AT_BYTES = 1_024;

/** Answers what the parser refuses. */
export class ClientErrors {
  private readonly ended = new WeakSet<Socket>();
  private readonly publicUrl: string;
  constructor(publicUrl: string) {
    this.publicUrl = publicUrl;
  }

  /** `owed`: what is or was answered last on the socket. */
  answer(error: ParserError, socket: Socket, owed: ServerResponse | undefined): void {
    if (this.ended.has(socket)) return; // the parser repeats itself with every further packet
    this.ended.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (owed === undefined || owed.closed) return this.close(socket, this.answerTo(error));
    // What we write while an earlier request of this connection is being decided would be taken for its answer.
    if (owed.req.complete) return endBehind(owed, socket);
    if (owed.headersSent) return void socket.destroy();
    const fault = faultOf(error.code);
    const record = findRecord(owed.req);
    if (record !== undefined) record.statusOnSocket = fault.status;
    this.close(socket, this.answerInside(record, fault));
  }

  /** CONNECT is no method of ours; node hands over the bare socket. */
  refuseConnect(isIngress: boolean, socket: Socket): void {
    this.close(socket, isIngress ? { status: 405, ...INGRESS_ANSWERS[405] } : this.answerOf(MALFORMED, false));
  }

  /** The answer to a request that names another host, or none; `record`: of a request of the API. */
  answerToHost(verdict: 'unclear' | 'foreign', record: RequestRecord | undefined): ClosingAnswer {
    return this.answerInside(record, verdict === 'unclear' ? MALFORMED : FOREIGN_HOST);
  }

  /** The answer to a request of which nobody can say where it ends; `record`: of a request of the API. */
  answerToFraming(record: RequestRecord | undefined): ClosingAnswer {
    return this.answerInside(record, MALFORMED);
  }

  /**
   * Where nothing says whom the bytes were meant for, a sender of deliveries is answered: senders are promised constant
   * answers.
   */
  private answerTo({ code, rawPacket }: ParserError): ClosingAnswer {
    const [, method, path] =
      REQUEST_LINE.exec(Buffer.from(rawPacket?.subarray(0, REQUEST_LINE_LOOKED_AT_BYTES) ?? []).toString('latin1')) ??
      [];
    const isIngress = path === undefined || path.startsWith('/webhooks/');
    if (code === 'HPE_INVALID_METHOD' && path !== undefined && isIngress && method !== 'POST')
      return { status: 405, ...INGRESS_ANSWERS[405] };
    return this.answerOf(faultOf(code), isIngress);
  }

  /** The same for a request whose head could be read. */
  private answerInside(record: RequestRecord | undefined, fault: Fault): ClosingAnswer {
    if (record === undefined) return this.answerOf(fault, true);
    record.error = 'invalid_request';
    return this.answerOf(fault, false, record.id);
  }

  private answerOf({ status, detail }: Fault, isIngress: boolean, traceId: string = randomUUID()): ClosingAnswer {
    if (isIngress) return { status, body: `{"error": "${detail}"}` };
    const problem = problemAnswer(new RefusalError('invalid_request', detail, { status, retryable: status === 408 }), {
      publicUrl: this.publicUrl,
      instance: '',
      traceId,
    });
    return { ...problem, headers: { ...problem.headers, 'x-request-id': traceId } };
  }

  /** Whom an unreadable request was meant for nobody can tell: all such answers say what those of the API do. */
  private close(socket: Socket, answer: ClosingAnswer): void {
    const headers = { ...answer.headers, ...Object.fromEntries(transportSecurity(this.publicUrl)) };
    closeSocket(socket, REASONS[answer.status] ?? 'Bad Request', { ...answer, headers });
  }
}

/** Lets an answer that is owed go out, and closes behind it. */
function endBehind(owed: ServerResponse, socket: Socket): void {
  owed.shouldKeepAlive = false;
  owed.once('finish', () => socket.destroySoon()).once('close', () => socket.destroy());
}

function faultOf(code: string | undefined): Fault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_LARGE;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return TOO_SLOW;
    default:
      return MALFORMED;
  }
}
