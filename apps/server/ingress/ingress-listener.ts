/**
 * Ingress requests straight from the HTTP server: no framework's parser, router or error page comes before or after our
 * checks. contract §5.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { BODY_BYTES_MAX, BODY_MS_MAX, INGRESS_ANSWERS } from '#deliveries';
import { ClientAddresses, type RawRoutes } from '../http/requests.ts';
import { answerAndClose } from '../http/connections.ts';
import { readRawBody } from '../http/body.ts';
import { NO_HEADERS, CLIENT_GONE, type IngressReply, DeliveryReceiver } from './delivery-receiver.ts';

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
  ) {}

  owns(target: string): boolean {
    return isIngressTarget(target);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    // The receiver reports its own faults; what breaks here has no answer left to give.
    this.receive(request, response).catch(() => response.destroy());
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await this.receiver.receive({
      method: request.method ?? '',
      target: request.url ?? '',
      rawHeaders: request.rawHeaders,
      clientAddress: this.addresses.of(request),
      readBody: () =>
        readRawBody(request, BODY_BYTES_MAX, BODY_MS_MAX, () => {
          if (waitsForContinue(request)) response.writeContinue();
        }),
    });
    if (reply === CLIENT_GONE) return void response.destroy();
    // Node sets `request.complete` only a tick later when head and body arrive in one packet: a refusal that read
    // nothing would close a connection whose request is finished.
    if (!request.complete) await new Promise(setImmediate);
    send(request, response, reply);
  }
}

const { body: NOT_FOUND, headers: NOT_FOUND_HEADERS } = INGRESS_ANSWERS[404];

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
    const headers = { ...NOT_FOUND_HEADERS, 'x-content-type-options': 'nosniff' };
    if (!request.complete) return answerAndClose(request, response, { status: 404, headers, body: NOT_FOUND });
    response.writeHead(404, {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(NOT_FOUND),
    });
    response.end(NOT_FOUND);
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, headers }: IngressReply): void {
  // A body that was not read to its end leaves the connection useless for another request.
  if (!request.complete)
    return answerAndClose(request, response, {
      status,
      headers: { ...headers, 'x-content-type-options': 'nosniff' },
      body,
    });
  const always = [
    'x-content-type-options',
    'nosniff',
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
  ];
  response.writeHead(status, headers === NO_HEADERS ? always : Object.entries(headers).flat().concat(always));
  response.end(body);
}

/** Whether the sender holds its body back until it is asked for. HTTP/1.0 knows no interim answers. */
function waitsForContinue(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '');
}
