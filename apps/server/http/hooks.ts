/** What happens to every request of the API before and behind its handler, in order. contract §2, §3. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { AccessGuard } from './access-guard.ts';
import { isUnread } from './connections.ts';
import { refuseBadKey, type Idempotency } from './idempotency.ts';
import { refuseUnacceptable } from './negotiation.ts';
import { noteRoute } from './request-log.ts';
import { RefusalError } from './error-codes.ts';
import { unknownResource } from './problem-filter.ts';

/**
 * Adds the steps to the framework; the body is read between the first and the second. They are hooks of Fastify and not
 * guards of Nest: a guard runs behind the reading of the body, so that who has no key could make the process read one;
 * and never for a route that there is not, whose absence is told only to who has a key.
 */
export function addHooks(fastify: FastifyInstance, guard: AccessGuard, idempotency: Idempotency): void {
  fastify.addHook('onRequest', async (request, reply) => {
    noteRoute(request);
    await guard.admit(request, reply);
    if (request.is404) throw unknownRoute(fastify, request.url);
    refuseUnacceptable(request);
    refuseBadKey(request);
  });
  fastify.addHook('preHandler', async (request, reply) => {
    const isAnswered = await idempotency.begin(request, reply);
    return isAnswered ? reply : undefined;
  });
  fastify.addHook('onSend', async (request, reply, payload) => {
    await idempotency.end(request, reply, payload);
    // A body that nobody asked for and that is still coming must not hold the socket.
    if (isUnread(request.raw)) {
      void reply.header('Connection', 'close');
      reply.raw.shouldKeepAlive = false;
    }
    if (request.method !== 'HEAD' || !(payload instanceof Readable)) return payload;
    payload.destroy(); // the framework would read it to its end, which may never come
    return Readable.from([]);
  });
}

/** Every method that a route of ours has. HEAD comes with GET. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The refusal for a target that the router did not find under its method. */
export function unknownRoute(fastify: FastifyInstance, target: string): RefusalError {
  const [url = ''] = target.split(/[?#]/, 1);
  const allowed = METHODS.filter((method) => fastify.findRoute({ method, url }) !== null);
  if (allowed.length === 0) return unknownResource();
  return new RefusalError('invalid_request', `the methods of this path are ${allowed.join(', ')}`, {
    status: 405,
    headers: { Allow: allowed.join(', ') },
  });
}
