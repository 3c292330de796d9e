/** Which published source a run created over the API has. contract 3 (RunItem). */
import type { FastifyRequest } from 'fastify';
import type { RunSource } from '#runs';
import { recordOf } from '../http/requests.ts';

/** Who is signed in uses the web page; our command line says so itself; anything else is the API. */
export function runSourceOf(request: FastifyRequest): RunSource {
  if (recordOf(request.raw).session !== undefined) return 'WEB_APP';
  return String(request.headers['x-millwright-client'] ?? '').startsWith('cli/') ? 'CLI' : 'API';
}
