/** Which published source a run created over the API has. contract 3 (RunItem). */
import type { FastifyRequest } from 'fastify';
import type { RunSource } from '#runs';

/** Our command line says so itself; anything else is the API. */
export function sourceOf(request: FastifyRequest): RunSource {
  return String(request.headers['x-millwright-client'] ?? '').startsWith('cli/') ? 'CLI' : 'API';
}
