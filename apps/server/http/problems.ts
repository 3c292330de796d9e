/** The one exception filter: every refusal and fault of the API as problem+json, a fault with a trace id and one log line. contract 3 (Errors). */
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreFault } from '../store/faults.ts';
import type { Log } from '../log.ts';
import { Refusal, toProblem } from './answers.ts';

/** Seconds after which a client may ask again while the database is away. */
const RETRY_AFTER_SECONDS = 5;

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly publicUrl: string;
  private readonly log: Log;
  constructor(publicUrl: string, log: Log) {
    this.publicUrl = publicUrl;
    this.log = log;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const refusal = toRefusal(error);
    if (refusal.status >= 500) this.log.fault('request failed', error, { trace_id: request.id, method: request.method, route: request.routeOptions?.url });
    const problem = toProblem(refusal, { publicUrl: this.publicUrl, instance: instanceOf(request.url), traceId: request.id });
    for (const [name, value] of Object.entries(refusal.headers)) void reply.header(name, value);
    if (refusal.retryAfterSeconds !== undefined) void reply.header('Retry-After', String(refusal.retryAfterSeconds));
    void reply.status(refusal.status).header('Content-Type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
  }
}

/** Only paths of the API are repeated: a mistyped ingress URL ends here too, and its token with it. contract 5. */
function instanceOf(target: string): string {
  return target.startsWith('/api/v1/') ? (target.split('?')[0] ?? '') : '';
}

/** What an error means to a caller. Faults tell nothing of themselves. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFault && (error.kind === 'unavailable' || error.kind === 'full' || error.kind === 'retry')) {
    return new Refusal('resource_unavailable', 'the database is not available now', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  const status = error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown })?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) return ofStatus(status);
  return new Refusal('internal_error', 'something failed inside the service; its log has the details under this trace id');
}

function ofStatus(status: number): Refusal {
  switch (status) {
    case 404:
      return new Refusal('resource_not_found', 'there is no such resource');
    case 413:
      return new Refusal('invalid_request', 'the body is too large', { status });
    case 415:
      return new Refusal('invalid_request', 'send the body as application/json', { status });
    default:
      return new Refusal('invalid_request', 'the request is invalid', { status });
  }
}
