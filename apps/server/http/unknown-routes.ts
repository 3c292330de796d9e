/** What no route answers: 405 with the methods of a path that there is, else 404. contract 3 (Errors). */
import type { FastifyInstance } from 'fastify';
import { RefusalError } from './error-codes.ts';
import { unknownResource } from './problem-filter.ts';

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
