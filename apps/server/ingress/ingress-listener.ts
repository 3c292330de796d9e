/**
 * Ingress requests straight from the HTTP server: no framework's parser, router or error page comes before or after our
 * checks. contract §5.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { BODY_BYTES_MAX, BODY_MS_MAX, INGRESS_ANSWERS } from '#deliveries';
import { ClientAddresses, type RawRoutes } from '../http/requests.ts';
import { RawAnswer, sendAnswer } from '../http/connections.ts';
import { trustConnection } from '../http/sockets/anonymous-connections.ts';
import { collectRawBody, declaredLength, waitsForContinue, type RawBody } from '../http/raw-bodies.ts';
import { UnfinishedBodies } from '../http/unfinished-bodies.ts';
import { IngressAnswers, SENDER_GONE } from './ingress-answers.ts';
import { CLIENT_GONE, type IngressReply, type IngressRequest, DeliveryReceiver } from './delivery-receiver.ts';

/** Whether a request target belongs to the ingress; everything below `/webhooks/` does. */
export function isIngressTarget(target: string): boolean {
  return target.startsWith('/webhooks/') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/webhooks\//i.test(target);
}

/** Answers ingress requests. `Expect: 100-continue` is answered here, only when the body is wanted. */
@Injectable()
export class IngressListener implements RawRoutes {
  constructor(
    private readonly receiver: DeliveryReceiver,
    private readonly addresses: ClientAddresses,
    readonly unfinished: UnfinishedBodies,
    readonly answers: IngressAnswers,
  ) {}

  owns(target: string): boolean {
    return isIngressTarget(target);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    this.receiver.receive(new Exchange(request, response, this.addresses.of(request), this));
  }
}

/** What counts requests while they last, and when they are answered. */
interface ExchangeCounters {
  readonly unfinished: UnfinishedBodies;
  readonly answers: IngressAnswers;
}

/** One request and the place of its answer. */
class Exchange implements IngressRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly clientAddress: string;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly counters: ExchangeCounters;
  private readonly startedAtMs = performance.now();

  constructor(request: IncomingMessage, response: ServerResponse, clientAddress: string, counters: ExchangeCounters) {
    this.method = request.method ?? '';
    this.target = request.url ?? '';
    this.rawHeaders = request.rawHeaders;
    this.clientAddress = clientAddress;
    this.request = request;
    this.response = response;
    this.counters = counters;
  }

  readBody(done: (body: RawBody) => void): void {
    const declared = declaredLength(this.request);
    if (declared !== undefined && declared > BODY_BYTES_MAX)
      return done({ kind: 'too-large', sizeBytes: Math.min(declared, Number.MAX_SAFE_INTEGER) });
    if (waitsForContinue(this.request)) this.response.writeContinue();
    const { clientAddress } = this;
    const { unfinished } = this.counters;
    const bounds = { bytesMax: BODY_BYTES_MAX, timeoutMs: BODY_MS_MAX, unfinished, clientAddress };
    collectRawBody(this.request, bounds, done);
  }

  answer(reply: IngressReply): void {
    try {
      this.counters.answers.count(reply === CLIENT_GONE ? SENDER_GONE : reply, this.startedAtMs);
      if (reply !== CLIENT_GONE && reply.status === 202) trustConnection(this.request.socket);
      if (reply === CLIENT_GONE) this.response.destroy();
      else sendAnswer(this.request, this.response, reply);
    } catch {
      this.response.destroy(); // what breaks here has no answer left to give
    }
  }
}

const NOT_FOUND = new RawAnswer(404, INGRESS_ANSWERS[404].body);

/**
 * What answers at ingress addresses in a process that takes no deliveries: there is no such webhook here, whatever was
 * sent.
 */
@Injectable()
export class DisabledIngress implements RawRoutes {
  owns(target: string): boolean {
    return isIngressTarget(target);
  }

  /** Answers without reading: a sender that was routed to the wrong process keeps its delivery. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    sendAnswer(request, response, NOT_FOUND);
  }
}
