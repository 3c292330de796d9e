/** Tells work that takes long that nobody waits for its answer any more. */
import type { FastifyReply } from 'fastify';
import { RefusalError } from './error-codes.ts';

/** An answer for nobody, and no fault of the service. */
export class ClientGone extends RefusalError {
  constructor() {
    super('resource_unavailable', 'the client left before it was answered');
  }
}

/** Aborted once the answer is out or its connection is closed. Its reason is `ClientGone`. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ClientGone());
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
