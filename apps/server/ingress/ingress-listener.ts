/** Ingress requests straight from the HTTP server: no framework's parser, router or error page comes before or after our checks. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_BYTES_MAX, BODY_MS_MAX } from '#deliveries';
import type { ClientAddresses } from '../http/client-addresses.ts';
import { answerAndClose } from '../http/closing-answers.ts';
import { readRawBody } from '../http/raw-body.ts';
import { NO_HEADERS, CLIENT_GONE, type IngressReply, type DeliveryReceiver } from './delivery-receiver.ts';

/** Whether a request target belongs to the ingress; everything below `/webhooks/` does. */
export function isIngressTarget(target: string): boolean {
  return target.startsWith('/webhooks/') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/webhooks\//i.test(target);
}

/** Answers ingress requests. `Expect: 100-continue` is answered here, only when the body is wanted. */
export function ingressHandler(
  receiver: DeliveryReceiver,
  addresses: ClientAddresses,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    // The receiver reports its own faults; what breaks here has no answer left to give.
    answer(receiver, addresses, request, response).catch(() => response.destroy());
  };
}

async function answer(
  receiver: DeliveryReceiver,
  addresses: ClientAddresses,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reply = await receiver.receive({
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    clientAddress: addresses.of(request),
    readBody: () =>
      readRawBody(request, BODY_BYTES_MAX, BODY_MS_MAX, () => {
        if (waitsForContinue(request)) response.writeContinue();
      }),
  });
  if (reply === CLIENT_GONE) return void response.destroy();
  // Node tells of the end of a body that came together with its head only behind what its bytes set going: a refusal that read nothing would take it for unfinished.
  if (!request.complete) await new Promise(setImmediate);
  send(request, response, reply);
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
