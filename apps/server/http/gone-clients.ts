/** Tells work that takes long that nobody waits for its answer any more. */
import type { FastifyReply } from 'fastify';
import { Refusal } from './answers.ts';

/** Aborted once the answer is out or its connection is closed. Its reason is an answer for nobody, and no fault of the service. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Refusal('resource_unavailable', 'the client left before it was answered'));
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
