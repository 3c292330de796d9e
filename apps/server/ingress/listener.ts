/** Ingress requests straight from the HTTP server: no framework's parser, router or error page comes before or after our checks. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_BYTES_MAX, BODY_MS_MAX, clientAddress, type Cidr } from '#deliveries';
import { drain, readRawBody } from '../http/raw-body.ts';
import { NOBODY, type IngressReply, type Receiver } from './receive.ts';

/** Whether a request target belongs to the ingress; everything below `/webhooks/` does. */
export function isIngressTarget(target: string): boolean {
  return target.startsWith('/webhooks/') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/webhooks\//i.test(target);
}

/** Answers ingress requests. `Expect: 100-continue` is answered here, only when the body is wanted. */
export function ingressHandler(receiver: Receiver, trustedProxies: readonly Cidr[]): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void answer(receiver, trustedProxies, request, response);
  };
}

async function answer(receiver: Receiver, trustedProxies: readonly Cidr[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await receiver.receive({
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    clientAddress: clientAddress(request.socket.remoteAddress, forwardedFor(request), trustedProxies),
    readBody: () => {
      if (request.headers.expect !== undefined) response.writeContinue();
      return readRawBody(request, BODY_BYTES_MAX, BODY_MS_MAX);
    },
  });
  if (reply === NOBODY) return void response.destroy();
  send(request, response, reply);
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, headers, close }: IngressReply): void {
  const mustClose = close && !request.complete;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...(mustClose ? { connection: 'close' } : {}),
  });
  response.end(body);
  if (mustClose) drain(request);
}

function forwardedFor(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  return Array.isArray(header) ? header.join(',') : header;
}
