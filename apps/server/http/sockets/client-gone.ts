/** Clients that go away before they are answered, and what then ends. contract §5.11. */
import type { FastifyReply } from 'fastify';
import { RefusalError } from '../error-codes.ts';

/** An answer for nobody, and no fault of the service. */
export class ClientGoneError extends RefusalError {
  constructor() {
    super('resource_unavailable', 'the client left before it was answered');
  }
}

/** Aborted once the answer is out or its connection is closed. Its reason is `ClientGone`. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ClientGoneError());
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
