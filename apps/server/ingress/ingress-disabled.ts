/** What is answered at ingress addresses by a process that takes no deliveries: that there is no such webhook here, whatever was sent. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { INGRESS_ANSWERS } from '#deliveries';
import { answerAndClose } from '../http/closing-answers.ts';

const { body, headers } = INGRESS_ANSWERS[404];
const HEADERS = { ...headers, 'x-content-type-options': 'nosniff' };

/** Answers without reading: a sender that was routed to the wrong process keeps its delivery. */
export function refuseDeliveries(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete) return answerAndClose(request, response, { status: 404, headers: HEADERS, body });
  response.writeHead(404, {
    ...HEADERS,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
