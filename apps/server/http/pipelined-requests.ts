/** Requests that were sent one behind the other on a connection: each is begun when the one before is answered, and none behind an answer that ends the connection (RFC 9112, 9.6). */
import type { IncomingMessage, ServerResponse } from 'node:http';

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
